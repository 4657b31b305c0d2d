//! An endpoint whose packets are protected, and a peer that has the keys and then does anything.
//! `cargo test -p whimbrel-proto` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/proto/tests/support/mod.rs"]
mod support;

fuzz_target!(|bytes: &[u8]| support::protected_peer::run(bytes));
