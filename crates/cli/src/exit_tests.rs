use anyhow::anyhow;

use super::describe;

#[test]
fn a_cause_is_said_once() {
    let plain = anyhow!("no such thing").context("cannot read a.txt");
    assert_eq!(describe(&plain), "cannot read a.txt: no such thing");
    let source = std::io::Error::from_raw_os_error(22);
    let text = source.to_string();
    let error = whimbrel::BindError::Io { address: "127.0.0.1:1".parse().unwrap(), source };
    assert_eq!(describe(&error.into()), format!("cannot use 127.0.0.1:1: {text}"));
}
