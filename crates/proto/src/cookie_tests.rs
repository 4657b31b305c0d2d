use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use proptest::prelude::*;
use smallvec::smallvec;

use super::*;
use crate::auth::offer::Offer;
use crate::negotiate::Extensions;
use crate::protection::negotiate::{MAX_PARAMETER, PeerProtection};

const HOUR: Duration = Duration::from_secs(3600);

fn keys() -> CookieKeys {
    CookieKeys::new(Seed::from_u64(1), HOUR)
}

fn seconds(n: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(n)
}

fn contents() -> CookieContents {
    CookieContents {
        created: seconds(5),
        lifetime: Duration::from_secs(60),
        local_tag: 0x0102_0304,
        tie_tags: (0x1112_1314_1516_1718, 0x2122_2324_2526_2728),
        local_port: 5001,
        peer_port: 40_000,
        local_initial_tsn: Tsn(u32::MAX),
        route: Route {
            local: SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 9899)),
            remote: SocketAddr::from((Ipv4Addr::new(198, 51, 100, 7), 31_000)),
        },
        families: Families::from_lacking(2).unwrap(),
        named_below: Some(0x0102_0304),
        peer_addresses: (1..=4).map(|n| IpAddr::from([203, 0, 113, n])).collect(),
        agreement: Agreement {
            peer_tag: 0x0506_0708,
            peer_initial_tsn: Tsn(77),
            peer_a_rwnd: 1 << 20,
            outbound_streams: 16,
            inbound_streams: 65_535,
            zero_checksum: Some(1),
            adaptation: Some(7),
            primary: Some(IpAddr::from([203, 0, 113, 2])),
            extensions: Extensions::default(),
            auth: None,
            protection: None,
        },
    }
}

fn sealed(keys: &mut CookieKeys, now: Instant, contents: &CookieContents) -> Vec<u8> {
    let mut out = Vec::new();
    keys.seal(now, contents, &mut out);
    out
}

#[test]
fn four_addresses_fit_in_200_bytes() {
    let mut keys = keys();
    let mut out = vec![9; 3];
    keys.seal(seconds(5), &contents(), &mut out);
    assert_eq!(out[..3], [9; 3], "appends");
    assert!(out.len() - 3 <= 200, "{}", out.len() - 3);
    assert_eq!(keys.open(seconds(6), &out[3..]), Ok(contents()));
}

/// RFC 9260 §5.1.5, RFC 5062 §7: nothing in a cookie can be changed on the way.
#[test]
fn any_flipped_bit_is_noticed() {
    let mut keys = keys();
    let cookie = sealed(&mut keys, seconds(5), &contents());
    for bit in 0..cookie.len() * 8 {
        let mut forged = cookie.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        assert!(keys.open(seconds(5), &forged).is_err(), "bit {bit}");
    }
}

#[test]
fn any_other_length_is_refused() {
    let mut keys = keys();
    let mut cookie = sealed(&mut keys, seconds(5), &contents());
    for len in 0..cookie.len() {
        assert!(keys.open(seconds(5), &cookie[..len]).is_err(), "{len} bytes");
    }
    cookie.push(0);
    assert_eq!(keys.open(seconds(5), &cookie), Err(CookieError::Forged));
}

#[test]
fn another_endpoints_key_is_refused() {
    let cookie = sealed(&mut CookieKeys::new(Seed::from_u64(2), HOUR), seconds(5), &contents());
    assert_eq!(keys().open(seconds(5), &cookie), Err(CookieError::Forged));
}

#[test]
fn the_previous_key_is_good_and_the_one_before_is_not() {
    let mut keys = keys();
    for made in [0, 3599, 3600, 36_000] {
        let cookie = sealed(&mut keys, seconds(made), &contents());
        let period = made / 3600;
        for later in 0..2 {
            assert_eq!(keys.open(seconds((period + later) * 3600 + 3599), &cookie), Ok(contents()));
        }
        for later in [2, 3, 256, 257] {
            let result = keys.open(seconds((period + later) * 3600), &cookie);
            assert_eq!(result, Err(CookieError::Forged), "made at {made} s, {later} periods later");
        }
        keys = self::keys();
    }
    let newer = sealed(&mut keys, seconds(7200), &contents());
    assert_ne!(newer, sealed(&mut keys, seconds(0), &contents()));
}

/// A body we signed but never wrote, as an older program with the same seed might: read without panic, refused.
#[test]
fn signed_nonsense_is_malformed() {
    let mut keys = keys();
    let good = sealed(&mut keys, seconds(5), &contents());
    let body = &good[HEADER_LEN..good.len() - MAC_LEN];
    // The addresses, and a byte that says that the peer offered no authentication.
    // Behind the addresses: a code point (1 + 4 bytes), the number of an address (4), a primary address (1 + 5), no authentication (1).
    let count_at = body.len() - 4 * 5 - 17;
    assert_eq!(body[count_at], 4);
    let sign = |body: &[u8]| {
        let mut cookie = vec![VERSION, 0];
        cookie.extend_from_slice(body);
        let mac = key(&Seed::from_u64(1), 0).chain_update(&cookie).finalize().into_bytes();
        cookie.extend_from_slice(&mac);
        cookie
    };
    assert_eq!(keys.open(seconds(5), &sign(body)), Ok(contents()));
    for (count, filling) in [(3, 0), (5, 0), (255, 0), (MAX_COOKIE_ADDRESSES as u8 + 1, 300)] {
        let mut changed = body.to_vec();
        changed[count_at] = count;
        changed.extend((0..filling).flat_map(|_| [4, 10, 0, 0, 1]));
        assert_eq!(keys.open(seconds(5), &sign(&changed)), Err(CookieError::Malformed), "{count} addresses");
    }
    let mut exact = body[..count_at].to_vec();
    exact.push(MAX_COOKIE_ADDRESSES as u8 + 1);
    exact.extend((0..=MAX_COOKIE_ADDRESSES).flat_map(|_| [4, 10, 0, 0, 1]));
    assert_eq!(keys.open(seconds(5), &sign(&exact)), Err(CookieError::Malformed), "too many addresses");
    for len in 0..body.len() {
        assert_eq!(keys.open(seconds(5), &sign(&body[..len])), Err(CookieError::Malformed), "{len} bytes");
    }
    let mut family = body.to_vec();
    family[count_at + 1] = 5;
    assert_eq!(keys.open(seconds(5), &sign(&family)), Err(CookieError::Malformed));
}

#[test]
fn addresses_beyond_the_limit_are_left_out() {
    let mut keys = keys();
    let many = CookieContents {
        peer_addresses: smallvec![IpAddr::from(Ipv6Addr::LOCALHOST); MAX_COOKIE_ADDRESSES + 5],
        ..contents()
    };
    let cookie = sealed(&mut keys, seconds(5), &many);
    let opened = keys.open(seconds(5), &cookie).expect("our own cookie");
    assert_eq!(opened.peer_addresses.len(), MAX_COOKIE_ADDRESSES);
}

#[test]
fn keys_stay_out_of_debug_output() {
    assert_eq!(format!("{:?}", keys()), "CookieKeys { number: 0, .. }");
}

fn socket_address() -> impl Strategy<Value = SocketAddr> {
    prop_oneof![
        any::<(Ipv4Addr, u16)>().prop_map(SocketAddr::from),
        any::<(Ipv6Addr, u16, u32)>()
            .prop_map(|(ip, port, scope)| SocketAddrV6::new(ip, port, 0, scope).into()),
    ]
}

/// Offers of every shape that a cookie carries.
fn offer() -> impl Strategy<Value = Offer> {
    let lists = (
        proptest::option::of(proptest::collection::vec(any::<u8>(), 0..=256)),
        proptest::collection::vec(any::<u16>(), 0..=16),
    );
    (any::<[u8; 32]>(), lists).prop_map(|(random, (chunks, hmacs))| Offer {
        random,
        chunks: chunks.map(SmallVec::from_vec),
        hmacs: hmacs.into(),
    })
}

/// What a peer may say of keys.
fn protection() -> impl Strategy<Value = PeerProtection> {
    let parameter = proptest::collection::vec(any::<u8>(), 0..=MAX_PARAMETER);
    (parameter, any::<[u8; 32]>())
        .prop_map(|(parameter, digest)| PeerProtection { parameter: parameter.into(), digest })
}

prop_compose! {
    fn any_contents()(
        times in any::<(u64, u64)>(),
        tags in any::<(u32, u32, u64, u64)>(),
        tsns in any::<(u32, u32)>(),
        numbers in any::<(u16, u16, u16, u16)>(),
        words in any::<(u32, u32)>(),
        route in (socket_address(), socket_address()),
        peer_addresses in proptest::collection::vec(any::<IpAddr>(), 0..=MAX_COOKIE_ADDRESSES),
        wishes in any::<(Option<u32>, Option<IpAddr>)>(),
        auth in proptest::option::of(offer()),
        extensions in any::<Vec<u8>>(),
        families in 0..=3_u8,
        named_below in any::<Option<u32>>(),
        protection in proptest::option::of(protection()),
    ) -> CookieContents {
        CookieContents {
            created: Instant::from_nanos(times.0),
            lifetime: Duration::from_nanos(times.1),
            local_tag: tags.0,
            tie_tags: (tags.2, tags.3),
            local_port: numbers.0,
            peer_port: numbers.1,
            local_initial_tsn: Tsn(tsns.0),
            route: Route { local: route.0, remote: route.1 },
            peer_addresses: peer_addresses.into(),
            families: Families::from_lacking(families).unwrap(),
            named_below,
            agreement: Agreement {
                peer_tag: tags.1,
                peer_initial_tsn: Tsn(tsns.1),
                peer_a_rwnd: words.0,
                outbound_streams: numbers.2,
                inbound_streams: numbers.3,
                zero_checksum: Some(words.1).filter(|&edmid| edmid != 0),
                adaptation: wishes.0,
                primary: wishes.1,
                extensions: Extensions::known(&extensions),
                auth,
                protection,
            },
        }
    }
}

proptest! {
    #[test]
    fn what_was_sealed_is_opened(contents in any_contents(), now in any::<u64>()) {
        let mut keys = keys();
        let now = Instant::from_nanos(now);
        let cookie = sealed(&mut keys, now, &contents);
        prop_assert_eq!(keys.open(now, &cookie), Ok(contents));
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), ours in any::<bool>()) {
        let mut bytes = bytes;
        if ours && bytes.len() >= HEADER_LEN {
            bytes[..HEADER_LEN].copy_from_slice(&[VERSION, 0]);
        }
        prop_assert!(keys().open(Instant::ZERO, &bytes).is_err());
    }

    /// Behind the MAC, too, nothing panics, and what is read is written again the same.
    #[test]
    fn arbitrary_bodies_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 60..200)) {
        if let Some(contents) = codec::read(&bytes) {
            let mut again = Vec::new();
            codec::write(&contents, &mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}
