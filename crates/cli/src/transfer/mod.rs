//! Moving files over an association (docs/file-transfer.md).

mod account;
mod cursor;
mod entry;
mod hashing;
pub(crate) mod inbox;
pub(crate) mod link;
pub(crate) mod names;
mod numbering;
mod partial;
mod partial_files;
mod partial_index;
mod partials;
pub(crate) mod protocol;
pub(crate) mod reader;
pub(crate) mod receive;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod send;
pub(crate) mod source;
pub(crate) mod stop;
pub(crate) mod store;
#[cfg(test)]
pub(crate) mod testing;
