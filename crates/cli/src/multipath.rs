//! How many networks carry data at the same time.

use whimbrel::Config;
use whimbrel::proto::PathScheduler;

use crate::exit::Failure;

/// What networks do that work.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Multipath {
    /// One carries data, the others stand by.
    #[default]
    Backup,
    /// All carry data, each as much as arrives in time: the sum of their rates.
    Aggregate,
    /// All carry data, and copies of what others carry where they have room: what one loses or delays another brings.
    Redundant,
}

impl Multipath {
    /// Has an endpoint send like this. `metered`: the interfaces that are to be spared.
    ///
    /// # Errors
    /// What sends on all networks would spend on metered ones, too.
    pub(crate) fn apply(self, config: Config, metered: &[String]) -> Result<Config, Failure> {
        if self == Self::Backup {
            return Ok(config);
        }
        if let Some(name) = metered.first() {
            return Err(Failure::Usage(format!(
                "--multipath sends on every network, on {name}, too, which --metered spares; leave out one of the two options"
            )));
        }
        let mut config = config.combining_paths();
        if self == Self::Redundant {
            config.multipath.scheduler = PathScheduler::Redundant;
        }
        Ok(config)
    }
}

#[cfg(test)]
#[path = "multipath_tests.rs"]
mod tests;
