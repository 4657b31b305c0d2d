//! The tests of a node in one program, which is linked once: policies, and what a host sees. Those of the protocol are in
//! `crates/proto/tests/conformance`.

mod conversations;
mod handover_back;
mod handover_moving;
mod handover_random;
mod handover_static;
mod protection;
mod records;
mod same_step;
mod torture;
