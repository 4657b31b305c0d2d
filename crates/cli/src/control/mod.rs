//! The control socket: by it `whimbrel paths` sees the associations of all this user's processes.
//!
//! Each process that has an endpoint listens on a socket of its own in a directory that only its owner may enter. A question
//! and its answer are one line of JSON each.

mod client;
pub(crate) mod place;
mod protocol;
mod server;

pub(crate) use client::{Answers, Failed, ask_all};
pub(crate) use protocol::{PathReport, Report};
pub(crate) use server::ControlSocket;
