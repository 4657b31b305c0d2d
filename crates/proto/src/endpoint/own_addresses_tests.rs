use super::*;

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 9899))
}

fn addresses(numbers: impl IntoIterator<Item = u8>) -> Vec<SocketAddr> {
    numbers.into_iter().map(address).collect()
}

fn second(number: u64) -> Instant {
    Instant::from_nanos(number * 1_000_000_000)
}

#[test]
fn what_is_beyond_the_limit_is_omitted() {
    let own = OwnAddresses::new(addresses(1..=6));
    let (named, end) = own.first(4, |_| true);
    assert_eq!(named, addresses(1..=4));
    let told = own.told(second(1), end, address(2).ip());
    assert_eq!(
        told,
        Told { named: addresses(1..=4), omitted: addresses(5..=6), later: vec![], gone: vec![] }
    );
}

#[test]
fn the_address_that_answers_needs_no_naming() {
    let own = OwnAddresses::new(addresses(1..=6));
    let (_, end) = own.first(4, |_| true);
    let told = own.told(second(1), end, address(6).ip());
    assert_eq!(told.named, addresses([1, 2, 3, 4, 6]));
    assert_eq!(told.omitted, addresses([5]));
}

/// One that is named goes down before the cookie comes back: that does not make another one named.
#[test]
fn what_has_gone_since_changes_nothing_for_others() {
    let mut own = OwnAddresses::new(addresses(1..=6));
    let (_, end) = own.first(4, |_| true);
    own.handle_down(second(2), address(2).ip());
    own.handle_up(second(2), address(7));
    own.handle_up(second(2), address(2));
    let told = own.told(second(1), end, address(1).ip());
    assert_eq!(
        told,
        Told {
            named: addresses([1, 3, 4]),
            omitted: addresses(5..=6),
            later: addresses([7, 2]),
            gone: vec![]
        }
    );
}

#[test]
fn only_fit_addresses_count() {
    let own = OwnAddresses::new(addresses(1..=8));
    let (named, end) = own.first(2, |address| address.ip().to_string().ends_with(['2', '4', '6']));
    assert_eq!(named, addresses([2, 4]));
    assert_eq!(own.told(second(1), end, address(2).ip()).omitted, addresses(6..=8));
    let (named, end) = own.first(9, |_| true);
    assert_eq!(named, addresses(1..=8));
    assert_eq!(own.told(second(1), end, address(1).ip()).omitted, vec![]);
}

/// Another encapsulation port is not another address.
#[test]
fn a_new_port_is_the_same_address() {
    let mut own = OwnAddresses::new(addresses(1..=2));
    let (_, end) = own.first(4, |_| true);
    let moved = SocketAddr::new(address(1).ip(), 5000);
    own.handle_up(second(2), moved);
    assert_eq!(own.told(second(1), end, address(2).ip()).named, vec![moved, address(2)]);
}

/// The peer has been told of it all the same, and must be told that it is gone.
#[test]
fn what_was_named_and_has_gone_is_told() {
    let mut own = OwnAddresses::new(addresses(1..=6));
    own.handle_down(second(0), address(1).ip());
    let (_, end) = own.first(3, |_| true);
    own.handle_down(second(2), address(3).ip());
    own.handle_down(second(2), address(6).ip());
    let told = own.told(second(1), end, address(2).ip());
    assert_eq!(told.gone, addresses([3]));
    assert_eq!(told.named, addresses([2, 4, 3]));
    for number in 0..40 {
        own.handle_up(second(3), address(100 + number));
        own.handle_down(second(3), address(100 + number).ip());
    }
    assert!(own.gone.len() <= GONE, "it is bounded");
}
