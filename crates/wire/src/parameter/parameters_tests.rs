use super::*;
use crate::testing::hex;
use crate::{UnknownAction, UnknownParameter};

#[test]
fn a_bad_value_is_reported_and_the_walk_goes_on() {
    let bytes = hex("00050007 0a000000 80000004 00060008 00000000");
    let read: Vec<_> = Parameters::from_wire(&bytes).collect();
    let wrong =
        |parameter_type| Err(ParameterError { kind: ParameterErrorKind::WrongLength, parameter_type });
    assert_eq!(read, [wrong(5), Ok(Parameter::EcnCapable), wrong(6)]);
    assert_eq!(wrong(5).unwrap_err().to_string(), "parameter or cause 0x0005: wrong length for its type");
}

#[test]
fn an_unusable_length_is_the_last_item() {
    for (digits, parameter_type) in
        [("80050003 80000004", 0x8005), ("80050005", 0x8005), ("8005", 0x8005), ("80", 0)]
    {
        let bytes = hex(digits);
        let read: Vec<_> = Parameters::from_wire(&bytes).collect();
        assert_eq!(
            read,
            [Err(ParameterError { kind: ParameterErrorKind::BadLength, parameter_type })],
            "{digits}"
        );
    }
}

#[test]
fn raw_parameters_can_be_quoted() {
    let bytes = hex("c0aa0007 01020300 00050008 0a000001");
    let mut parameters = Parameters::from_wire(&bytes);
    let raw = parameters.next_raw().expect("one").expect("usable");
    assert_eq!((raw.parameter_type(), raw.bytes(), raw.value()), (0xc0aa, &bytes[..7], &bytes[4..7]));
    let unknown = UnknownParameter { parameter_type: 0xc0aa, raw: &bytes[..7] };
    assert_eq!(raw.decode(), Ok(Parameter::Unknown(unknown)));
    assert_eq!(parameters.as_bytes(), &bytes[8..]);
}

/// RFC 9260 §3.2.1, table 3.
#[test]
fn the_two_high_bits_say_what_to_do() {
    for (parameter_type, action) in [
        (0x3fff, UnknownAction::Stop),
        (0x7fff, UnknownAction::StopReport),
        (0xbfff, UnknownAction::Skip),
        (0xffff, UnknownAction::SkipReport),
    ] {
        assert_eq!(UnknownParameter { parameter_type, raw: &[] }.action(), action);
    }
}
