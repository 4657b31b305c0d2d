use crate::testing::{captured, check, chunk_of, raw_chunks};
use crate::{Chunk, CookieEcho, Parameter};

/// RFC 9260 §3.3.11: the value of the State Cookie becomes the value of the COOKIE ECHO.
#[test]
fn each_returned_the_cookie_of_the_other() {
    for (ack, echo) in
        [("linux_init_ack", "usrsctp_cookie_echo"), ("usrsctp_init_ack", "linux_cookie_echo_data")]
    {
        let packet = captured(ack);
        let Chunk::InitAck(mut ack) = chunk_of(&packet, 0) else { panic!("an INIT ACK") };
        let cookie = ack.parameters.find_map(|parameter| match parameter {
            Ok(Parameter::StateCookie(cookie)) => Some(cookie),
            _ => None,
        });
        check(echo, 0, Chunk::CookieEcho(CookieEcho { cookie: cookie.expect("a cookie") }));
    }
}

#[test]
fn data_may_follow_in_the_packet() {
    let packet = captured("linux_cookie_echo_data");
    let types: Vec<_> = raw_chunks(&packet).iter().map(|raw| raw.chunk_type()).collect();
    assert_eq!(types, [super::chunk_type::COOKIE_ECHO, super::chunk_type::DATA]);
}
