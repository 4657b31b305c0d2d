use std::collections::BTreeMap;

use super::*;

fn plan(text: &str) -> Result<BufferPlan, toml::de::Error> {
    toml::from_str::<BTreeMap<String, BufferPlan>>(text).map(|table| table["buffer"])
}

#[test]
fn a_buffer_is_a_time_or_a_number_of_packets() {
    let limit = |text: &str| plan(text).unwrap().limit(8e6);
    assert_eq!(limit("buffer = 40"), QueueLimit::bytes(40_000));
    assert_eq!(limit("buffer = 0.5"), QueueLimit::bytes(3000), "two packets always fit");
    assert_eq!(limit("buffer = { packets = 50 }"), QueueLimit::packets(50));
    assert_eq!(BufferPlan::default().limit(8e6), QueueLimit::bytes(100_000));
}

#[test]
fn what_is_no_buffer_is_said() {
    let said = |text: &str| plan(text).unwrap().check("network.n").unwrap_err();
    assert!(said("buffer = -1").starts_with("network.n.buffer is -1.0, and must be from 0 to 60000 ms"));
    assert!(
        said("buffer = { packets = 0 }").starts_with("network.n.buffer.packets is 0.0, and must be from 1")
    );
    for text in ["buffer = { packets = -1 }", "buffer = { bytes = 3 }", "buffer = \"large\""] {
        let error = plan(text).unwrap_err().to_string();
        assert!(error.contains("a number of ms, or a table with packets"), "{text}: {error}");
    }
}
