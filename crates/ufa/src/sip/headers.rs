//! The headers of paper d10, Tables 1 and 2, and what else goes with them.

use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

use super::Message;
use super::parameters::{Parameters, write};

/// Table 1 of the paper: the new and the old address of the terminal.
pub const APPLI_CONFIG: &str = "UFA_Appli_Config";

/// Table 2 of the paper: what the terminal needs to get into the target's network.
pub const TERMINAL_CONFIG: &str = "UFA_Terminal_Config";

/// The bandwidth-delay product from the correspondent to the terminal behind the target, in bytes (formula 1 of the paper).
pub const BDP: &str = "UFA_BDP";

/// What a gateway can give a terminal, bit/s.
pub const ALLOCATED_THROUGHPUT: &str = "UFA_Allocated_Throughput";

/// The application that a session is for.
pub const APPLICATION: &str = "UFA_Application";

/// A header of the paper's that is not as it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is missing, or is not as it should be")]
pub struct BadHeader(pub &'static str);

/// `UFA_Appli_Config`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AppliConfig {
    /// The terminal's new address.
    pub add: IpAddr,
    /// Its old address.
    pub delete: IpAddr,
}

impl AppliConfig {
    /// That of a message.
    ///
    /// # Errors
    /// When there is none, or it names one address twice, or addresses of two families: what leads to one of them does not lead to the other.
    pub fn of(message: &Message) -> Result<Self, BadHeader> {
        let bad = BadHeader(APPLI_CONFIG);
        let parameters = Parameters(message.header(APPLI_CONFIG).ok_or(bad)?);
        let add = parameters.parse("Add_IP_Addr").ok_or(bad)?;
        let delete = parameters.parse("Del_IP_Addr").ok_or(bad)?;
        let config = Self { add, delete };
        if add == delete || add.is_ipv4() != delete.is_ipv4() { Err(bad) } else { Ok(config) }
    }

    /// The way back.
    pub const fn reversed(self) -> Self {
        Self { add: self.delete, delete: self.add }
    }
}

impl fmt::Display for AppliConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &[("Add_IP_Addr", &self.add), ("Del_IP_Addr", &self.delete)])
    }
}

/// An address of layer 2 (EUI-48).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HardwareAddress(pub [u8; 6]);

impl fmt::Display for HardwareAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for HardwareAddress {
    type Err = BadHeader;

    fn from_str(text: &str) -> Result<Self, BadHeader> {
        let bad = BadHeader(TERMINAL_CONFIG);
        let octet = |part: &str| match part.len() {
            2 => u8::from_str_radix(part, 16).map_err(|_| bad),
            _ => Err(bad),
        };
        let octets = text.split(':').map(octet).collect::<Result<Vec<u8>, _>>()?;
        octets.try_into().map(Self).map_err(|_| bad)
    }
}

/// `UFA_Terminal_Config`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TerminalSettings {
    /// `UFA_GW_T_MAC_Addr`: the target's address on layer 2.
    pub mac: HardwareAddress,
    /// `UFA_GW_T_ESSID`: the name of its network.
    pub essid: String,
    /// `UFA_GW_T_Channel`: the radio channel.
    pub channel: u16,
    /// `UFA_GW_T_IP_Addr`: the target's address, which takes message 8.
    pub gateway: IpAddr,
    /// `UFA_GW_T_Netmask`.
    pub netmask: IpAddr,
    /// `Add_IP_Addr`: the terminal's new address.
    pub address: IpAddr,
    /// `UFA_GW_T_Key`, which the paper has not: the target's public key, by which the terminal knows it where SIP is protected.
    pub key: Option<String>,
}

impl TerminalSettings {
    /// That of a message.
    ///
    /// # Errors
    /// When there is none, or something is missing in it.
    pub fn of(message: &Message) -> Result<Self, BadHeader> {
        let bad = BadHeader(TERMINAL_CONFIG);
        let parameters = Parameters(message.header(TERMINAL_CONFIG).ok_or(bad)?);
        Ok(Self {
            mac: parameters.parse("UFA_GW_T_MAC_Addr").ok_or(bad)?,
            essid: parameters.get("UFA_GW_T_ESSID").ok_or(bad)?,
            channel: parameters.parse("UFA_GW_T_Channel").ok_or(bad)?,
            gateway: parameters.parse("UFA_GW_T_IP_Addr").ok_or(bad)?,
            netmask: parameters.parse("UFA_GW_T_Netmask").ok_or(bad)?,
            address: parameters.parse("Add_IP_Addr").ok_or(bad)?,
            key: parameters.get("UFA_GW_T_Key"),
        })
    }
}

impl fmt::Display for TerminalSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs: Vec<(&str, &dyn fmt::Display)> = vec![
            ("UFA_GW_T_MAC_Addr", &self.mac),
            ("UFA_GW_T_ESSID", &self.essid),
            ("UFA_GW_T_Channel", &self.channel),
            ("UFA_GW_T_IP_Addr", &self.gateway),
            ("UFA_GW_T_Netmask", &self.netmask),
            ("Add_IP_Addr", &self.address),
        ];
        if let Some(key) = &self.key {
            pairs.push(("UFA_GW_T_Key", key));
        }
        write(f, &pairs)
    }
}

/// A header that is a number.
///
/// # Errors
/// When it is missing or none.
pub fn number(message: &Message, name: &'static str) -> Result<u64, BadHeader> {
    message.header(name).and_then(|value| value.trim().parse().ok()).ok_or(BadHeader(name))
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
