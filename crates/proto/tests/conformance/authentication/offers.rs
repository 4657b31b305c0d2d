//! What INIT and INIT ACK say, and what is made of it (RFC 4895 §3.1, §3.2, §3.3, §6.1; RFC 5061 §4.2.7).

use whimbrel_proto::{CloseReason, Config, DarMode};
use whimbrel_wire::{Chunk, CookieAck, List, Parameter, Parameters, cause_code, chunk_type, parameter_type};

use crate::auth_peer::{AuthPeer, SHA1, SHA256, requiring};
use whimbrel_testbed::peer::{Bench, Peer, Sent, cause_codes, peer_address, quiet};

const OFFER: [u16; 4] = [
    parameter_type::RANDOM,
    parameter_type::CHUNKS,
    parameter_type::HMAC_ALGORITHMS,
    parameter_type::SUPPORTED_EXTENSIONS,
];

fn parameters(sent: &Sent) -> Parameters<'_> {
    match sent.only() {
        Chunk::Init(init) => init.parameters,
        Chunk::InitAck(init_ack) => init_ack.parameters,
        other => panic!("{other:?}"),
    }
}

/// The parameters of authentication, in order of type.
fn offered(sent: &Sent) -> Vec<Parameter<'_>> {
    let all: Vec<Parameter<'_>> = parameters(sent).map(Result::unwrap).collect();
    OFFER.iter().flat_map(|&t| all.iter().copied().filter(move |p| p.parameter_type() == t)).collect()
}

#[track_caller]
fn assert_offers_all(sent: &Sent) -> [u8; 32] {
    let offered = offered(sent);
    let [Parameter::Random(random), Parameter::Chunks(chunks), Parameter::HmacAlgorithms(hmacs), extensions] =
        offered[..]
    else {
        panic!("{offered:?}")
    };
    assert!(chunks.contains(&chunk_type::DATA) && chunks.contains(&chunk_type::HEARTBEAT));
    assert!(hmacs.iter().eq([SHA256, SHA1]));
    assert!(matches!(extensions, Parameter::SupportedExtensions(list) if list.contains(&chunk_type::AUTH)));
    random.try_into().expect("RFC 4895 §3.1: 32 bytes")
}

fn init_of(bench: &mut Bench) -> Sent {
    bench.connect(&[peer_address(1)]);
    bench.take_only()
}

#[test]
fn init_and_init_ack_offer_authentication() {
    let config = requiring(&[chunk_type::DATA, chunk_type::HEARTBEAT]);
    assert_offers_all(&init_of(&mut Bench::new(config.clone())));
    let mut bench = Bench::new(config);
    let peer = AuthPeer::new(&[]);
    let of_init_ack = assert_offers_all(&bench.ask(&peer.init(&peer.parameters()))[0]);
    let mut other = AuthPeer::new(&[]);
    (other.peer.port, other.peer.tag) = (7001, 1);
    let of_other = assert_offers_all(&bench.ask(&other.init(&other.parameters()))[0]);
    assert!(of_init_ack != of_other && of_init_ack != [0; 32]);
}

/// RFC 4895 §6.1: an empty list of chunks may be left out.
#[test]
fn nothing_required_nothing_listed() {
    let sent = init_of(&mut Bench::new(requiring(&[])));
    assert!(!offered(&sent).iter().any(|parameter| matches!(parameter, Parameter::Chunks([]))));
}

#[test]
fn nothing_is_offered_when_it_is_off_or_the_peer_offers_nothing() {
    assert_eq!(offered(&init_of(&mut Bench::new(quiet()))), []);
    let auth_peer = AuthPeer::new(&[]);
    let sent = Bench::new(quiet()).ask(&auth_peer.init(&auth_peer.parameters()));
    assert_eq!(offered(&sent[0]), []);
    let sent = Bench::new(requiring(&[])).ask(&Peer::new().init(&[]));
    assert_eq!(offered(&sent[0]), []);
}

/// A peer without authentication gets an association without it.
#[test]
fn peers_without_authentication_are_served() {
    let (mut bench, mut peer) = Peer::connected(requiring(&[]));
    let data = peer.data(0, 0, b"plain");
    bench.deliver(&peer.packet(&[&data]));
    assert_eq!(bench.received(), [b"plain"]);
    bench.send(0, b"answer");
    assert!(bench.take().iter().all(|sent| sent.chunks()[0].chunk_type() != chunk_type::AUTH));

    let mut bench = Bench::new(requiring(&[]));
    Peer::new().accept(&mut bench, &[]);
}

/// An INIT and an INIT ACK with these parameters are answered with ABORT; why the node gave up connecting.
#[track_caller]
fn assert_refused(required: &[u8], parameters: &[Parameter<'_>], cause: u16) -> CloseReason {
    assert_refused_by(&requiring(required), parameters, cause)
}

#[track_caller]
fn assert_refused_by(config: &Config, parameters: &[Parameter<'_>], cause: u16) -> CloseReason {
    let mut bench = Bench::new(config.clone());
    let peer = Peer::new();
    let sent = bench.ask(&peer.init(parameters));
    assert!(matches!(sent[0].only(), Chunk::Abort(_)), "{sent:?}");
    assert_eq!((sent[0].tag(), cause_codes(&sent)), (peer.tag, vec![cause]));
    assert_eq!(bench.node.association_count(), 0);

    let mut bench = Bench::new(config.clone());
    let mut peer = Peer::new();
    peer.learn_init(&init_of(&mut bench));
    let mut all = vec![Parameter::StateCookie(b"a cookie")];
    all.extend_from_slice(parameters);
    let sent = bench.ask(&peer.init_ack(&all));
    assert!(matches!(sent[0].only(), Chunk::Abort(_)), "{sent:?}");
    assert_eq!((sent[0].tag(), cause_codes(&sent)), (peer.tag, vec![cause]));
    bench.closed().expect("the attempt has ended")
}

/// RFC 4895 §6.1: the association MUST be aborted, and the cause should be Protocol Violation.
#[test]
fn a_random_number_that_is_not_32_bytes_long_aborts() {
    let ids = [SHA256, SHA1];
    for len in [0, 31, 33] {
        let random = vec![1; len];
        let parameters = [Parameter::Random(&random), Parameter::HmacAlgorithms(List::from(&ids))];
        let reason = assert_refused(&[], &parameters, cause_code::PROTOCOL_VIOLATION);
        assert!(matches!(reason, CloseReason::ProtocolViolation(_)));
    }
}

#[test]
fn a_repeated_parameter_aborts() {
    let ids = [SHA256, SHA1];
    let random = Parameter::Random(&[1; 32]);
    let other = Parameter::Random(&[2; 32]);
    let hmacs = Parameter::HmacAlgorithms(List::from(&ids));
    assert_refused(&[], &[random, hmacs, other], cause_code::PROTOCOL_VIOLATION);
}

/// Downgrade: what the user insists on cannot be taken out of an INIT or INIT ACK on the way.
#[test]
fn a_peer_without_authentication_is_refused_where_the_user_insists_on_it() {
    let ids = [SHA256, SHA1];
    let incomplete: [&[Parameter<'_>]; 3] =
        [&[], &[Parameter::Random(&[1; 32])], &[Parameter::HmacAlgorithms(List::from(&ids))]];
    for parameters in incomplete {
        let reason = assert_refused(&[chunk_type::DATA], parameters, cause_code::MISSING_MANDATORY_PARAMETER);
        assert!(matches!(reason, CloseReason::Refused(_)), "{reason:?}");
    }
}

/// Security considerations of RFC 5061: an INIT that lists ASCONF without parameters of authentication has been tampered with.
#[test]
fn asconf_without_authentication_aborts() {
    let types = [chunk_type::ASCONF, chunk_type::ASCONF_ACK];
    let parameters = [Parameter::SupportedExtensions(&types)];
    let mut config = requiring(&[]);
    config.dar.mode = DarMode::Negotiated;
    assert_refused_by(&config, &parameters, cause_code::PROTOCOL_VIOLATION);
    // Who does not use dynamic addresses need not care.
    config.dar.mode = DarMode::Off;
    Peer::new().begin(&mut Bench::new(config), &parameters);
}

/// Tampering with what is part of the key vectors makes the keys differ.
#[test]
fn tampered_parameters_make_different_keys() {
    let mut bench = Bench::new(requiring(&[chunk_type::DATA]));
    let mut peer = AuthPeer::new(&[]);
    let mut tampered = peer.clone();
    tampered.chunks = vec![chunk_type::DATA];
    tampered.begin(&mut bench);
    peer.node_vector = tampered.node_vector.clone();
    peer.peer = tampered.peer.clone();
    bench.deliver(&peer.cookie_echo());
    assert_eq!(bench.ups(), 1);
    let data = peer.data(0, 0, b"x");
    bench.deliver(&peer.signed(&[&data]));
    assert!(bench.received().is_empty());
    bench.deliver(&tampered.signed(&[&data]));
    assert_eq!(bench.received(), [b"x"]);
}

/// RFC 4895 §6.1: the algorithm is the first of the peer's list that is supported; SHA-1 alone will do.
#[test]
fn the_peers_preference_decides_about_the_algorithm() {
    for (hmacs, expected) in [
        (vec![SHA256, SHA1], SHA256),
        (vec![SHA1, SHA256], SHA1),
        (vec![0, 2, 9, SHA1], SHA1),
        (vec![SHA1], SHA1),
    ] {
        let mut bench = Bench::new(requiring(&[]));
        let mut peer = AuthPeer::new(&[chunk_type::DATA]);
        peer.hmacs = hmacs;
        peer.hmac_id = SHA1;
        peer.accept(&mut bench);
        bench.take();
        bench.send(0, b"x");
        let sent = bench.take_only();
        let Chunk::Auth(auth) = sent.chunks()[0] else { panic!("{sent:?}") };
        assert_eq!(auth.hmac_id, expected);
        assert_eq!(peer.opened(&sent), (vec![], vec![chunk_type::DATA]));
    }
}

/// No algorithm in common: an association without authentication.
#[test]
fn without_a_common_algorithm_there_is_no_authentication() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&[]);
    peer.hmacs = vec![2, 99];
    let sent = bench.ask(&peer.init(&peer.parameters()));
    assert_eq!(offered(&sent[0]), []);
    let mut bench = Bench::new(requiring(&[]));
    let connected = peer.clone();
    let mut parameters = vec![Parameter::StateCookie(b"a cookie")];
    parameters.extend(connected.parameters());
    peer.peer.learn_init(&init_of(&mut bench));
    bench.deliver(&peer.init_ack(&parameters));
    bench.deliver(&peer.packet(&[&CookieAck]));
    assert_eq!(bench.ups(), 1);
}

/// RFC 4895 §3.2: INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH in a list are ignored.
#[test]
fn chunks_that_cannot_be_authenticated_are_ignored_in_a_list() {
    let mut bench = Bench::new(requiring(&[]));
    let mut peer = AuthPeer::new(&[1, 2, 14, 15]);
    peer.connect(&mut bench);
    bench.send(0, b"x");
    assert!(matches!(bench.take_only().chunks()[..], [Chunk::Data(_)]));
    let close = whimbrel_wire::Shutdown { cumulative_tsn_ack: peer.node_tsn };
    bench.deliver(&peer.packet(&[&close]));
    assert!(matches!(bench.take_only().only(), Chunk::ShutdownAck));
}
