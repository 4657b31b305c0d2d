//! Records that are genuine, changed, made up, or sealed by a peer that puts anything in them.
//! `cargo test -p whimbrel-proto` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| whimbrel_proto::fuzzing::record(bytes));
