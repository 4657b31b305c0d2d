use super::*;

#[test]
fn the_way_with_fewest_links_is_taken_and_the_earlier_of_two_equals() {
    let mut topology = Topology::default();
    let a = topology.add_interface(HostId(0));
    let b = topology.add_interface(HostId(1));
    let routers: Vec<RouterId> = (0..4).map(|_| topology.add_router()).collect();
    let long = topology.add_link(a.into(), routers[0].into());
    topology.add_link(routers[0].into(), routers[1].into());
    topology.add_link(routers[1].into(), b.into());
    let short = topology.add_link(routers[2].into(), a.into());
    topology.add_link(routers[2].into(), b.into());
    let equal = topology.add_link(a.into(), routers[3].into());
    topology.add_link(routers[3].into(), b.into());
    // The short way's first link was built from the router's end, so a leaves on its second direction.
    assert_eq!(topology.next_hop(a.into(), b.0), Some(short.0 * 2 + 1));
    topology.reattach(short, b.into());
    assert_eq!(topology.far_end(short.0 * 2), b.into());
    assert_eq!(topology.next_hop(a.into(), b.0), Some(equal.0 * 2));
    assert_eq!(topology.next_hop(routers[0].into(), b.0), Some((long.0 + 1) * 2));
}

#[test]
fn hosts_do_not_forward() {
    let mut topology = Topology::default();
    let [a, b, c, d] = [0, 1, 2, 3].map(|host| topology.add_interface(HostId(host)));
    let lonely = topology.add_router();
    topology.add_link(a.into(), b.into());
    topology.add_link(b.into(), c.into());
    topology.add_link(a.into(), lonely.into());
    assert_eq!(topology.next_hop(a.into(), c.0), None);
    assert_eq!(topology.next_hop(lonely.into(), c.0), None);
    assert_eq!(topology.next_hop(d.into(), a.0), None, "no link at all");
}

#[test]
fn an_address_has_one_owner() {
    let mut topology = Topology::default();
    let [a, b] = [0, 1].map(|host| topology.add_interface(HostId(host)));
    let address = IpAddr::from([10, 0, 0, 1]);
    topology.add_address(a, address);
    topology.add_address(b, address);
    topology.remove_address(a, address);
    assert_eq!(topology.owner(address), Some(b.0));
    topology.remove_address(b, address);
    assert_eq!(topology.owner(address), None);
}
