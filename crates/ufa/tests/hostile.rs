//! What the fuzz target `sip` does, over its corpus and pseudo-random inputs.

#[path = "../../proto/tests/support/corpus.rs"]
mod corpus;
mod support;

#[test]
fn nothing_that_comes_does_harm() {
    corpus::run_all("sip", 300, 400, support::hostile_sip::hostile_sip);
}
