//! Hosts that know each other's keys, so that none of them needs a ticket: who they are is in a file, and `whimbrel pair` puts it there.

mod admitted;
mod book;
mod exchange;
mod known;
mod lines;
pub(crate) mod pair;
pub(crate) mod peers;

pub(crate) use admitted::Admitted;
pub(crate) use book::{Book, Paired, check_name};
pub(crate) use exchange::SCTP_PORT;
pub(crate) use known::Known;
