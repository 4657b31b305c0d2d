use crate::testing::hex;
use crate::{AddressRequest, Parameter, ParameterErrorKind, Parameters};

fn read(digits: &str) -> Result<AddressRequest, ParameterErrorKind> {
    let bytes = hex(digits);
    match Parameters::from_wire(&bytes).next().expect("a parameter") {
        Ok(Parameter::AddIpAddress(request)) => Ok(request),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.kind),
    }
}

/// The example of RFC 5061 §4.2.1.
#[test]
fn reads_the_example() {
    let expected = AddressRequest { correlation_id: 0x0102_3474, address: [192, 0, 2, 1].into() };
    assert_eq!(read("c0010010 01023474 00050008 c0000201"), Ok(expected));
    let mut out = Vec::new();
    Parameter::AddIpAddress(expected).emit(&mut out);
    assert_eq!(out, hex("c0010010 01023474 00050008 c0000201"));
}

#[test]
fn an_address_and_nothing_else_must_be_inside() {
    let missing = Err(ParameterErrorKind::MissingAddress);
    assert_eq!(read("c0010008 00000001"), missing, "no address");
    assert_eq!(read("c001000c 00000001 00050008"), missing, "cut short");
    assert_eq!(read("c001000f 00000001 00050007 0a000000"), missing, "three bytes");
    assert_eq!(read("c0010010 00000001 000b0008 61626300"), missing, "a host name");
    assert_eq!(read("c0010010 00000001 00060008 00000000"), missing, "an IPv6 address of four bytes");
    assert_eq!(read("c0010006 00000000"), Err(ParameterErrorKind::WrongLength), "half a correlation id");
    let two = "c0010018 00000001 00050008 0a000001 00050008 0a000002";
    assert_eq!(read(two), Err(ParameterErrorKind::WrongLength), "two addresses");
}
