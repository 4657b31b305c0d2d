//! How many networks carry data at the same time.

use whimbrel::Config;
use whimbrel::proto::PathScheduler;

/// What networks do that work.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Multipath {
    /// One carries data, the others stand by.
    #[default]
    Backup,
    /// All carry data, each as much as arrives in time: the sum of their rates. Metered ones (--metered, --link-facts) do not, as long as another works.
    Aggregate,
    /// All carry data, and copies of what others carry where they have room: what one loses or delays another brings. Metered ones as above.
    Redundant,
}

impl Multipath {
    /// Has an endpoint send like this.
    pub(crate) fn apply(self, config: Config) -> Config {
        if self == Self::Backup {
            return config;
        }
        let mut config = config.combining_paths();
        if self == Self::Redundant {
            config.multipath.scheduler = PathScheduler::Redundant;
        }
        config
    }
}

#[cfg(test)]
#[path = "multipath_tests.rs"]
mod tests;
