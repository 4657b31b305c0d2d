use super::*;
use crate::parameter::Parameters;
use crate::testing::hex;

// The bytes follow figure 2 of the chunk draft.
#[test]
fn reads_and_writes_the_figure() {
    let both = KeyRoles { client: true, server: true };
    let parameter = KeyManagement { tie_breaker: 0x0102_0304, roles: both, restart: false, methods: &[192] };
    assert_eq!(parameter.to_bytes(), hex("8006000a 01020304 03c0"));
    assert_eq!(KeyManagement::read(&hex("8006000a 01020304 03c0")), Some(parameter));
    let restarts = KeyManagement { restart: true, methods: &[192, 0], ..parameter };
    assert_eq!(restarts.to_bytes(), hex("8006000b 01020304 07c000"));
    assert_eq!(KeyManagement::read(&hex("8006000b 01020304 f7c000")), Some(restarts), "reserved bits");
}

#[test]
fn travels_as_a_parameter() {
    let bytes = hex("8006000a 01020304 03c0");
    let mut out = Vec::new();
    KeyManagement::parameter(&bytes).emit(&mut out);
    assert_eq!(out, bytes);
    let mut read = Parameters::from_wire(&out);
    let raw = read.next_raw().expect("a parameter").expect("of usable length");
    assert_eq!(raw.bytes(), bytes);
    assert_eq!(KeyManagement::read(raw.bytes()).map(|read| read.methods), Some(&[192][..]));
}

#[test]
fn refuses_what_lists_no_method() {
    assert_eq!(KeyManagement::read(&hex("80060009 01020304 03")), None);
    assert_eq!(KeyManagement::read(&hex("8007000a 01020304 03c0")), None);
    assert_eq!(KeyManagement::read(&hex("80060004")), None);
}
