//! Arbitrary bytes as a packet. `cargo test -p whimbrel-wire` runs the same body over the corpus.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/wire/tests/support/packet_body.rs"]
mod packet_body;

fuzz_target!(|bytes: &[u8]| packet_body::packet(bytes));
