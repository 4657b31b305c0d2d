use core::num::NonZeroU32;

use super::super::fake_kernel::netlink;
use super::*;

/// The option as RFC 8781 §4 draws it.
fn option(scaled_lifetime: u16, code: u8, prefix: &str) -> Vec<u8> {
    let prefix: Ipv6Addr = prefix.parse().unwrap();
    let mut bytes = vec![38, 2];
    bytes.extend((scaled_lifetime << 3 | u16::from(code)).to_be_bytes());
    bytes.extend(&prefix.octets()[..12]);
    bytes
}

/// What the kernel sends with options of a message of this type from `interface`.
fn notice(interface: u32, icmp_type: u8, options: &[u8]) -> NetlinkMessage<Notice> {
    let mut payload = vec![10, 0];
    payload.extend((options.len() as u16).to_ne_bytes());
    payload.extend(interface.to_ne_bytes());
    payload.extend([icmp_type, 0, 0, 0, 0, 0, 0, 0]);
    payload.extend(options);
    // NDUSEROPT_SRCADDR
    payload.extend([20, 0, 1, 0]);
    payload.extend([0xfe; 16]);
    NetlinkMessage::deserialize(&netlink(68, 0, &payload)).unwrap()
}

fn hosts(names: &[(&str, u32, bool)]) -> Interfaces {
    let one = |(name, index, up): &(&str, u32, bool)| {
        let index = NonZeroU32::new(*index);
        ((*name).to_owned(), Interface { index, up: Some(*up), ..Interface::default() })
    };
    Interfaces(names.iter().map(one).collect())
}

fn told(heard: &Heard) -> Vec<(String, String)> {
    let prefix = |interface: &Interface| interface.properties.nat64.unwrap().to_string();
    heard.word().0.iter().map(|(name, interface)| (name.clone(), prefix(interface))).collect()
}

fn of(name: &str, prefix: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), prefix.to_owned())]
}

#[test]
fn every_length_has_its_code() {
    for (code, prefix) in [
        (0, "2001:db8:122:344::/96"),
        (1, "2001:db8:122:344::/64"),
        (2, "2001:db8:122:300::/56"),
        (3, "2001:db8:122::/48"),
        (4, "2001:db8:100::/40"),
        (5, "2001:db8::/32"),
    ] {
        let address = prefix.split('/').next().unwrap();
        let expected = (prefix.parse().unwrap(), Duration::from_secs(1800));
        assert_eq!(pref64(&option(225, code, address)), Some(expected), "{prefix}");
    }
    for code in [6, 7] {
        assert_eq!(pref64(&option(225, code, "2001:db8::")), None);
    }
    assert_eq!(pref64(&option(8191, 0, "64:ff9b::")).unwrap().1, Duration::from_secs(65528));
}

#[test]
fn what_is_malformed_is_nothing() {
    let good = option(225, 0, "64:ff9b::");
    assert_eq!(pref64(&good[..15]), None);
    assert_eq!(pref64(&[&good[..], &[0; 8]].concat()), None);
    assert_eq!(pref64(&option(225, 0, "2001:db8:0:0:100::")), None, "RFC 6052 §2.2");
    assert_eq!(options(&[38, 0, 1, 2]).count(), 0, "it would never end");
    assert_eq!(options(&[38, 2, 0, 0]).count(), 0);
    let rdnss = [25, 1, 0, 0, 0, 0, 0, 0];
    let both = [&rdnss[..], &good].concat();
    assert_eq!(options(&both).filter_map(pref64).count(), 1);
    let mut bytes = netlink(68, 0, &[0; 15]);
    assert!(NetlinkMessage::<Notice>::deserialize(&bytes).is_err());
    bytes = netlink(68, 0, &[10, 0, 255, 255, 1, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 0]);
    let NetlinkPayload::InnerMessage(notice) = NetlinkMessage::<Notice>::deserialize(&bytes).unwrap().payload
    else {
        panic!()
    };
    assert!(notice.options.is_empty(), "shorter than it says");
}

#[test]
fn a_prefix_lives_as_long_as_its_advertisement_says() {
    let mut heard = Heard::default();
    let now = Instant::now();
    let links = hosts(&[("wlan0", 3, true), ("wwan0", 4, true)]);
    heard.take(now, notice(3, 134, &option(10, 0, "2001:db8:64::")));
    heard.take(now, notice(4, 137, &option(10, 0, "2001:db8:65::")));
    heard.follow(now, &links);
    assert_eq!(told(&heard), of("wlan0", "2001:db8:64::/96"), "a redirect tells none");
    assert_eq!(heard.next_end(), Some(now + Duration::from_secs(80)));
    let later = now + Duration::from_secs(79);
    heard.take(later, notice(3, 134, &option(10, 0, "2001:db8:64::")));
    heard.follow(now + Duration::from_secs(100), &links);
    assert_eq!(told(&heard), of("wlan0", "2001:db8:64::/96"), "it was said again");
    heard.take(later, notice(3, 134, &option(10, 0, "2001:db8:66::")));
    heard.take(later, notice(3, 134, &option(0, 0, "2001:db8:64::")));
    heard.follow(later, &links);
    assert_eq!(told(&heard), of("wlan0", "2001:db8:66::/96"), "the first one was taken back");
    heard.follow(later + Duration::from_secs(80), &links);
    assert!(told(&heard).is_empty());
    assert_eq!(heard.next_end(), None);
}

/// The kernel's two words race when an interface comes up.
#[test]
fn a_network_that_is_left_takes_its_prefix_along() {
    let mut heard = Heard::default();
    let now = Instant::now();
    let mut links = hosts(&[("wlan0", 3, false)]);
    heard.follow(now, &links);
    heard.take(now, notice(3, 134, &option(225, 0, "2001:db8:64::")));
    heard.follow(now, &links);
    assert!(told(&heard).is_empty(), "not before it is up");
    links = hosts(&[("wlan0", 3, true)]);
    heard.follow(now, &links);
    assert_eq!(told(&heard), of("wlan0", "2001:db8:64::/96"));
    for gone in [hosts(&[("wlan0", 3, false)]), hosts(&[])] {
        heard.follow(now, &gone);
        heard.follow(now, &links);
        assert!(told(&heard).is_empty(), "another network may be there");
        heard.take(now, notice(3, 134, &option(225, 0, "2001:db8:64::")));
        heard.follow(now, &links);
        assert_eq!(told(&heard).len(), 1);
    }
}

#[test]
fn what_is_kept_is_bounded() {
    let mut heard = Heard::default();
    let now = Instant::now();
    for interface in 0..1000 {
        for n in 0..10 {
            heard.take(now, notice(interface, 134, &option(225, 0, &format!("2001:db8:{n}::"))));
        }
    }
    assert_eq!(heard.prefixes.len(), INTERFACES_MAX);
    assert!(heard.prefixes.values().all(|known| known.len() == PREFIXES_MAX));
}

/// Endpoints wait for every source's first word.
#[tokio::test]
async fn this_host_is_not_waited_for_and_says_nothing_strange() {
    let board = super::super::Board::new(|| {});
    let _running = board.start(vec![Box::new(AdvertisedPrefixes)]);
    tokio::time::timeout(Duration::from_secs(30), board.all_have_spoken()).await.expect("its first word");
    assert!(board.take().complaints.is_empty());
}
