//! Two ends that agree on keys and exchange protected packets, with anything in between.
//! `cargo test -p whimbrel-proto` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| whimbrel_proto::fuzzing::protection(bytes));
