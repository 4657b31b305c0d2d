use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::str::FromStr;

use ring::hkdf;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::base32;
use crate::{Identity, IdentityError, PublicKey, Trust};

/// What begins the text of a ticket.
const PREFIX: &str = "whm1";

/// The format below.
const VERSION: u8 = 1;

/// What a sender's key is made of besides the secret.
const LABEL: &[u8] = b"whimbrel ticket 1";

/// Bytes at the end that tell a slip of the pen from a ticket.
const CHECK_LEN: usize = 2;

/// Addresses in a ticket at most.
const MAX_ADDRESSES: usize = 16;

/// All that a sender needs for a receiver that it has not met before: where it is, whose key it has, and a secret. Who has the ticket can send, so
/// it belongs where a password does.
///
/// Both ends derive the *sender's* identity from the secret: the receiver accepts that key, the sender the receiver's, and so both are
/// authenticated by ordinary TLS. As text `whm1` and letters and digits.
///
/// ```
/// use whimbrel_secure::{Identity, Ticket};
///
/// let receiver = Identity::generate()?;
/// let ticket = Ticket::new(receiver.public_key(), 7, vec!["192.0.2.7:9899".parse()?])?;
/// let read: Ticket = ticket.to_string().parse()?;
/// assert_eq!(read.key(), receiver.public_key());
/// assert_eq!(read.sender().public_key(), ticket.sender().public_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Ticket {
    key: PublicKey,
    secret: Zeroizing<[u8; 16]>,
    port: u16,
    addresses: Vec<SocketAddr>,
}

impl Ticket {
    /// A ticket for the receiver with this key that listens on SCTP port `port`, see [`Self::at`] for `addresses`. It is good for as long as
    /// the receiver accepts it.
    ///
    /// # Errors
    /// [`IdentityError::NoRandomness`] if the operating system gives no random numbers.
    pub fn new(key: PublicKey, port: u16, addresses: Vec<SocketAddr>) -> Result<Self, IdentityError> {
        let mut secret = Zeroizing::new([0; 16]);
        getrandom::fill(&mut *secret).map_err(|_| IdentityError::NoRandomness)?;
        let ticket = Self { key, secret, port, addresses: Vec::new() };
        Ok(ticket.at(addresses))
    }

    /// The same ticket for a receiver at these addresses (with UDP ports; 0 for raw IP), best first, of which the first 16 are listed. Who may send does
    /// not depend on them.
    #[must_use]
    pub fn at(mut self, mut addresses: Vec<SocketAddr>) -> Self {
        addresses.truncate(MAX_ADDRESSES);
        self.addresses = addresses;
        self
    }

    /// Whose ticket it is.
    #[must_use]
    pub const fn key(&self) -> PublicKey {
        self.key
    }

    /// The SCTP port that the receiver listens on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Where the receiver is, best first.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Who the holder of the ticket is to the receiver.
    #[must_use]
    pub fn sender(&self) -> Identity {
        struct Seed;
        impl hkdf::KeyType for Seed {
            fn len(&self) -> usize {
                32
            }
        }
        let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, LABEL).extract(&*self.secret);
        let mut seed = Zeroizing::new([0; 32]);
        let info = [&self.key.as_bytes()[..]];
        let expanded = secret.expand(&info, Seed).and_then(|output| output.fill(&mut *seed));
        expanded.expect("32 bytes are one block");
        Identity::from_seed(&seed)
    }

    /// Whom the holder of the ticket accepts: the receiver alone.
    #[must_use]
    pub fn trust(&self) -> Trust {
        Trust::keys([self.key])
    }

    pub(crate) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![VERSION]);
        bytes.extend_from_slice(&self.port.to_be_bytes());
        bytes.extend_from_slice(self.key.as_bytes());
        bytes.extend_from_slice(&*self.secret);
        for address in &self.addresses {
            match address.ip() {
                IpAddr::V4(ip) => {
                    bytes.push(4);
                    bytes.extend_from_slice(&ip.octets());
                }
                IpAddr::V6(ip) => {
                    bytes.push(6);
                    bytes.extend_from_slice(&ip.octets());
                }
            }
            bytes.extend_from_slice(&address.port().to_be_bytes());
        }
        let check = check(&bytes);
        bytes.extend_from_slice(&check);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, TicketError> {
        let (body, told) = bytes.split_last_chunk().ok_or(TicketError::Form)?;
        if check(body) != *told {
            return Err(TicketError::Mistyped);
        }
        let mut reader = Reader(body);
        if reader.take()? != [VERSION] {
            return Err(TicketError::Version);
        }
        let port = u16::from_be_bytes(reader.take()?);
        let key = PublicKey::from_bytes(reader.take()?);
        let secret = Zeroizing::new(reader.take()?);
        let mut addresses = Vec::new();
        while !reader.0.is_empty() && addresses.len() < MAX_ADDRESSES {
            addresses.push(reader.address()?);
        }
        if !reader.0.is_empty() || port == 0 {
            return Err(TicketError::Form);
        }
        Ok(Self { key, secret, port, addresses })
    }
}

/// What follows these bytes of a ticket.
pub(crate) fn check(body: &[u8]) -> [u8; CHECK_LEN] {
    let digest = Sha256::digest(body);
    *digest.first_chunk().expect("32 bytes")
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], TicketError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(TicketError::Form)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn address(&mut self) -> Result<SocketAddr, TicketError> {
        let [family] = self.take()?;
        let ip = match family {
            4 => IpAddr::V4(Ipv4Addr::from(self.take::<4>()?)),
            6 => IpAddr::V6(Ipv6Addr::from(self.take::<16>()?)),
            _ => return Err(TicketError::Form),
        };
        Ok(SocketAddr::new(ip, u16::from_be_bytes(self.take()?)))
    }
}

impl fmt::Display for Ticket {
    /// The ticket itself, its secret included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&Zeroizing::new(base32::encode(&self.to_bytes())))
    }
}

impl fmt::Debug for Ticket {
    /// Does not show the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("key", &self.key)
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl Ticket {
    /// Whether a text begins as a ticket does, in small or large letters: QR codes hold more of the latter, and some programs change them.
    ///
    /// ```
    /// use whimbrel_secure::Ticket;
    ///
    /// assert!(Ticket::is_meant_by(" WHM1ABC") && !Ticket::is_meant_by("whimbrel.example"));
    /// ```
    pub fn is_meant_by(text: &str) -> bool {
        Self::digits(text).is_some()
    }

    fn digits(text: &str) -> Option<&str> {
        let (prefix, digits) = text.trim().split_at_checked(PREFIX.len())?;
        prefix.eq_ignore_ascii_case(PREFIX).then_some(digits)
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        let digits = Self::digits(text).ok_or(TicketError::Form)?;
        let bytes = base32::decode(digits).map(Zeroizing::new).ok_or(TicketError::Mistyped)?;
        Self::from_bytes(&bytes)
    }
}

/// Why a text is no ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TicketError {
    /// It is something else.
    #[error("not a ticket: one begins with whm1 and is printed by the receiver")]
    Form,
    /// A letter is missing, or another one.
    #[error("the ticket is not complete, or has been mistyped; copy all of it")]
    Mistyped,
    /// It is of another version.
    #[error("the ticket is of another version of whimbrel")]
    Version,
}

#[cfg(test)]
#[path = "ticket_tests.rs"]
mod tests;
