use whimbrel_wire::{InitAckBuilder, InitBuilder, Parameter, Tsn};

use super::*;

fn init<'a>(parameters: &'a [Parameter<'a>]) -> InitBuilder<'a> {
    InitBuilder {
        initiate_tag: 1,
        a_rwnd: 100_000,
        outbound_streams: 3,
        inbound_streams: 4,
        initial_tsn: Tsn(5),
        parameters,
    }
}

fn init_ack<'a>(parameters: &'a [Parameter<'a>]) -> InitAckBuilder<'a> {
    let InitBuilder { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters } =
        init(parameters);
    InitAckBuilder { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, parameters }
}

fn of(question: &InitBuilder<'_>, answer: &InitAckBuilder<'_>) -> [u8; 32] {
    let of = |role, own: &dyn EmitChunk, peer: &dyn EmitChunk| {
        as_read(&own, |own| as_read(&peer, |peer| digest(role, own, peer))).flatten().expect("well-formed")
    };
    let (client, server) = (of(KeyRole::Client, question, answer), of(KeyRole::Server, answer, question));
    assert_eq!(client, server, "both ends see the same");
    client
}

#[test]
fn what_may_change_does_not_count() {
    let extensions = Parameter::SupportedExtensions(&[0xc1, 0x80]);
    let plain = of(&init(&[extensions]), &init_ack(&[extensions]));
    let address = Parameter::Ipv4Address([10, 0, 0, 1].into());
    let more = [address, extensions, Parameter::CookiePreservative(1000)];
    let other = InitBuilder { a_rwnd: 5000, outbound_streams: 9, ..init(&more) };
    assert_eq!(of(&other, &init_ack(&[extensions])), plain);
    let answered = [Parameter::StateCookie(b"cookie"), address, extensions];
    assert_eq!(of(&init(&[extensions]), &init_ack(&answered)), plain);
}

#[test]
fn everything_else_counts() {
    let extensions = Parameter::SupportedExtensions(&[0xc1, 0x80]);
    let plain = of(&init(&[extensions]), &init_ack(&[extensions]));
    let fewer = [Parameter::SupportedExtensions(&[0xc1])];
    let bent = [
        of(&init(&[]), &init_ack(&[extensions])),
        of(&init(&fewer), &init_ack(&[extensions])),
        of(&init(&[extensions]), &init_ack(&fewer)),
        of(&init(&[extensions]), &init_ack(&[])),
        of(&InitBuilder { inbound_streams: 2, ..init(&[extensions]) }, &init_ack(&[extensions])),
        of(&InitBuilder { initial_tsn: Tsn(6), ..init(&[extensions]) }, &init_ack(&[extensions])),
        of(&init(&[extensions]), &InitAckBuilder { initiate_tag: 2, ..init_ack(&[extensions]) }),
        of(&init(&[extensions, Parameter::ZeroChecksumAcceptable(1)]), &init_ack(&[extensions])),
        of(&init(&[extensions]), &init_ack(&[extensions, Parameter::ForwardTsnSupported])),
    ];
    for (n, bent) in bent.iter().enumerate() {
        assert_ne!(*bent, plain, "{n}");
    }
    // What moves from one to the other changes it, too.
    assert_ne!(of(&init(&[extensions]), &init_ack(&[])), of(&init(&[]), &init_ack(&[extensions])));
}

#[test]
fn streams_count_as_both_have_understood_them() {
    let client = with_streams([1; 32], KeyRole::Client, 3, 4);
    assert_eq!(with_streams([1; 32], KeyRole::Server, 4, 3), client);
    for (outbound, inbound) in [(3, 4), (2, 4), (4, 2)] {
        assert_ne!(with_streams([1; 32], KeyRole::Server, outbound, inbound), client);
    }
}
