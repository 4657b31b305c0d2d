//! A terminal, two gateways and a correspondent of network-controlled handover, and what becomes of their SIP. `cargo test -p whimbrel-ufa` runs the same
//! body over pseudo-random inputs.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/ufa/tests/support/mod.rs"]
mod support;

fuzz_target!(|bytes: &[u8]| support::hostile_sip::hostile_sip(bytes));
