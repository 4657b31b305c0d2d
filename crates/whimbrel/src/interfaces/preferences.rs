use super::source::Run;
use super::{Cost, Interface, Interfaces, LinkSource, Publisher};

/// What the user wants of interfaces, by name: the order in which they are liked, and which of them to spare.
///
/// Names of interfaces that do not exist, or not yet, do no harm.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use whimbrel::Endpoint;
/// use whimbrel::interfaces::Preferences;
///
/// let wishes = Preferences::default().prefer(["wlan0", "wwan0"]).metered(["wwan0"]);
/// let endpoint =
///     Endpoint::builder().addresses(["0.0.0.0:9899".parse()?]).link_source(wishes).bind().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Preferences {
    interfaces: Interfaces,
}

impl Preferences {
    /// Likes these interfaces in this order, and all before others.
    pub fn prefer<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        for (rank, name) in names.into_iter().enumerate() {
            self.interface(name).properties.rank = Some(u8::try_from(rank).unwrap_or(u8::MAX));
        }
        self
    }

    /// Every byte over these interfaces costs money.
    pub fn metered<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        for name in names {
            self.interface(name).properties.cost = Some(Cost::Metered);
        }
        self
    }

    fn interface(&mut self, name: impl Into<String>) -> &mut Interface {
        self.interfaces.0.entry(name.into()).or_default()
    }
}

impl LinkSource for Preferences {
    fn name(&self) -> String {
        "the user's preferences".into()
    }

    fn run(self: Box<Self>, publisher: Publisher) -> Run {
        publisher.publish(self.interfaces);
        Box::pin(core::future::ready(Ok(())))
    }
}
