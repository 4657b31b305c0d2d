//! What tests of the protocol, the soak and the lab are made of: hosts and the networks between them, links that tell, one user of SCTP, one of TCP with or
//! without Mobile IP, and a peer that is driven by hand.
//!
//! [`Pair`] is two hosts in a world in virtual time, [`Uplink`] how a host gets into a network and learns of it, [`User`] who sends and reads
//! there: what it sends is a [`traffic::Traffic`], and what it keeps of what it is told a [`Record`]. [`Flow`] is
//! the user of TCP, [`mobile_ip`] a world for it. [`SipHost`] is a host with SIP beside its SCTP. [`Notes`] are of packets under way, [`Memory`] is what a world did. [`peer`] has a node without a network, and a
//! peer whose every packet the test writes.
#![forbid(unsafe_code)]

mod between;
pub mod bulk;
mod capture;
mod content;
mod flow;
pub mod mobile_ip;
mod notes;
mod pair;
pub mod peer;
mod protection;
mod record;
mod sip_host;
pub mod traffic;
mod uplink;
mod user;

pub use between::{Between, kind};
pub use capture::{Captured, Memory};
pub use content::{NUMBERED, blank, message, numbered};
pub use flow::{Flow, Opening, Rival, RivalUser, flow, plain, tcp};
pub use notes::Notes;
pub use pair::{CLIENT, Pair, SERVER, UDP_PORT, address, at, link, millis, remotes, uplink_address};
pub use protection::{Aes128GcmRecords, SeededExchanges};
pub use record::{Log, PathUse, Record, Silence, Tally, TransferTimes};
pub use sip_host::{SipCommand, SipEvent, SipFact, SipHost, SipParts, SipRole, SipUser};
pub use uplink::Uplink;
pub use user::{SCTP_PORT, User};
