//! Texts that are meant to be tickets and keys, and bytes that have the check of a ticket.
//! `cargo test -p whimbrel-secure` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| whimbrel_secure::fuzzing::ticket(bytes));
