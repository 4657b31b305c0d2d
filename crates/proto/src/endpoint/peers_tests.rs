use super::*;

const PORTS: Lookup = Lookup { local: 5000, remote: 6000 };

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 9899))
}

fn place(index: u32) -> Place {
    Place { shard: 0, index }
}

/// However many list an address, the first that is looked at is the one.
#[test]
fn the_strongest_claim_comes_first_and_then_the_eldest() {
    let mut peers = Peers::default();
    for born in 0..2000_u32 {
        peers.insert(PORTS, address(1), Claim::Listed, u64::from(born), place(born));
    }
    let first =
        |peers: &Peers| peers.find(address(1), PORTS).next().map(|found| (found.place.index, found.claim));
    assert_eq!(first(&peers), Some((0, Claim::Listed)));
    peers.insert(PORTS, address(1), Claim::Attempted, 2001, place(2001));
    assert_eq!(first(&peers), Some((2001, Claim::Attempted)));
    peers.insert(PORTS, address(1), Claim::Proved, 2002, place(2002));
    peers.insert(PORTS, address(1), Claim::Proved, 2003, place(2003));
    assert_eq!(first(&peers), Some((2002, Claim::Proved)));
    peers.remove(PORTS, address(1), Claim::Proved, 2002);
    assert_eq!(first(&peers), Some((2003, Claim::Proved)));
    assert_eq!(peers.find(address(2), PORTS).next(), None);
    assert_eq!(peers.find(address(1), Lookup { local: 5001, ..PORTS }).next(), None);
}
