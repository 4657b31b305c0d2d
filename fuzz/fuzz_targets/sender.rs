//! The sending half alone: messages, turns, SACKs true and false, timeouts, paths that come, change and go.
//! `cargo test -p whimbrel-proto` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| whimbrel_proto::fuzzing::sender(bytes));
