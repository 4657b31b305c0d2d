use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use whimbrel::secure::PublicKey;

/// A gateway, and by which key it is known: as text `sip:KEY@ADDRESS`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GatewayAddress {
    /// Where it hears SIP over TLS, on port 5061.
    pub address: IpAddr,
    /// Its key.
    pub key: PublicKey,
}

impl fmt::Display for GatewayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(f, "sip:{}@{address}", self.key),
            IpAddr::V6(address) => write!(f, "sip:{}@[{address}]", self.key),
        }
    }
}

impl FromStr for GatewayAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "expected sip:KEY@ADDRESS, where `whimbrel key` on the gateway prints KEY".to_owned();
        let rest = text.strip_prefix("sip:").unwrap_or(text);
        let (key, address) = rest.split_once('@').ok_or_else(form)?;
        let address =
            address.strip_prefix('[').and_then(|address| address.strip_suffix(']')).unwrap_or(address);
        Ok(Self {
            address: address.parse().map_err(|_| format!("{address:?} is no IP address; {}", form()))?,
            key: key.parse().map_err(|error| format!("{key:?} is {error}"))?,
        })
    }
}

#[cfg(test)]
#[path = "gateway_address_tests.rs"]
mod tests;
