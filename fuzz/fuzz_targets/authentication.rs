//! Packets between two sides that authenticate, changed on the way or not.
//! `cargo test -p whimbrel-proto` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| whimbrel_proto::fuzzing::authentication(bytes));
