//! One test per case of the paper's rules; the names are those of the scenario `c04-amm`.

use super::*;

const OLD: InterfaceId = InterfaceId(1);
const NEW: InterfaceId = InterfaceId(2);
const THIRD: InterfaceId = InterfaceId(3);

fn address(interface: InterfaceId) -> SocketAddr {
    SocketAddr::from(([10, 0, interface.0 as u8, 1], 9899))
}

fn add(interface: InterfaceId) -> Trigger {
    Trigger::AddIp(interface, address(interface))
}

fn set_primary(interface: InterfaceId) -> Trigger {
    Trigger::SetPrimary(interface, address(interface))
}

fn delete(interface: InterfaceId) -> Trigger {
    Trigger::DeleteIp(interface, address(interface))
}

const fn ipac(interface: InterfaceId) -> Signal {
    Signal::Ipac(
        interface,
        SocketAddr::V4(core::net::SocketAddrV4::new(
            core::net::Ipv4Addr::new(10, 0, interface.0 as u8, 1),
            9899,
        )),
    )
}

fn ss(interface: InterfaceId, change: Change) -> Signal {
    Signal::L2ss(interface, change)
}

fn feed(amm: &mut AddressManagement, signals: &[Signal]) -> Vec<Trigger> {
    signals.iter().flat_map(|&signal| amm.on_signal(signal)).collect()
}

fn module(handover: LayerTwoHandover) -> AddressManagement {
    let mut amm = AddressManagement::new(handover);
    let begin = [Signal::MaxIn(OLD), ss(OLD, Change::AppearsStrong), Signal::L2hc(OLD), ipac(OLD)];
    assert_eq!(feed(&mut amm, &begin), [add(OLD)]);
    amm.set_primary(Some(OLD));
    amm
}

/// In the middle of cell 1, with nothing else in sight.
fn started() -> AddressManagement {
    module(LayerTwoHandover::Soft)
}

/// As [`started`], and in cell 2 as well, which is strong and ready.
fn overlapping() -> AddressManagement {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), ipac(NEW)]);
    amm
}

fn row(amm: &AddressManagement, interface: InterfaceId) -> Row {
    *amm.table().iter().find(|row| row.interface == interface).unwrap()
}

#[test]
fn addip_l2hc_last() {
    let mut amm = started();
    assert_eq!(feed(&mut amm, &[ss(NEW, Change::AppearsWeak), ipac(NEW)]), []);
    assert_eq!(amm.on_signal(Signal::L2hc(NEW)), [add(NEW)]);
}

#[test]
fn addip_ipac_last() {
    let mut amm = started();
    assert_eq!(feed(&mut amm, &[ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW)]), []);
    assert_eq!(amm.on_signal(ipac(NEW)), [add(NEW)]);
}

#[test]
fn addip_only_once() {
    let mut amm = started();
    feed(&mut amm, &[Signal::L2hc(NEW), ipac(NEW)]);
    assert_eq!(feed(&mut amm, &[Signal::L2hc(NEW), ipac(NEW), ss(NEW, Change::AppearsWeak)]), []);
}

/// c04 Tables 1 and 2.
#[test]
fn ss_table() {
    use Change::*;
    let expected = [
        (AppearsWeak, 1, Level::Weak),
        (Rises, 2, Level::Strong),
        (AppearsStrong, 3, Level::Strong),
        (Falls, 4, Level::Weak),
        (FadesAway, 5, Level::None),
        (Vanishes, 6, Level::None),
    ];
    for (change, number, level) in expected {
        let mut amm = started();
        amm.on_signal(ss(NEW, change));
        assert_eq!((change.number(), amm.level(NEW)), (number, level));
        assert_eq!(change.level(), level);
    }
    assert_eq!(Change::between(Level::Strong, Level::Weak), Some(Falls));
    assert_eq!(Change::between(Level::None, Level::Strong), Some(AppearsStrong));
    assert_eq!(Change::between(Level::Weak, Level::Weak), None);
}

#[test]
fn set_primary_at_4() {
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(Signal::MaxIn(NEW)), [], "the old one is still strong");
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), [set_primary(NEW)]);
    assert_eq!(amm.primary(), Some(NEW));
}

#[test]
fn set_primary_at_6() {
    let mut amm = overlapping();
    amm.on_signal(Signal::MaxIn(NEW));
    assert_eq!(amm.on_signal(ss(OLD, Change::Vanishes)), [set_primary(NEW), delete(OLD)]);
}

#[test]
fn no_set_primary_for_nonprimary() {
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(ss(NEW, Change::Falls)), []);
    assert_eq!(amm.on_signal(ss(NEW, Change::Rises)), []);
    assert_eq!(amm.primary(), Some(OLD));
}

#[test]
fn strongest_required() {
    let mut amm = overlapping();
    // Above Primary-TH, attached and addressed, but not the strongest.
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
    // The strongest, but not above Primary-TH.
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW), ipac(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
}

#[test]
fn postponed_until_l2ss() {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW), ipac(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
    assert_eq!(amm.on_signal(ss(NEW, Change::Rises)), [set_primary(NEW)]);
}

#[test]
fn postponed_until_l2hc() {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsStrong), ipac(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
    assert_eq!(amm.on_signal(Signal::L2hc(NEW)), [add(NEW), set_primary(NEW)]);
}

#[test]
fn postponed_until_ipac() {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
    assert_eq!(amm.on_signal(ipac(NEW)), [add(NEW), set_primary(NEW)]);
}

/// Not in the paper's list of signals, but Max-IN can be what was missing.
#[test]
fn postponed_until_max_in() {
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), []);
    assert_eq!(amm.on_signal(Signal::MaxIn(NEW)), [set_primary(NEW)]);
}

#[test]
fn postponed_dropped_when_recovered() {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW), ipac(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(feed(&mut amm, &[ss(OLD, Change::Falls), ss(OLD, Change::Rises)]), []);
    assert_eq!(amm.on_signal(ss(NEW, Change::Rises)), [], "there is no need any more");
    assert_eq!(amm.primary(), Some(OLD));
}

#[test]
fn delete_at_5() {
    let mut amm = overlapping();
    amm.on_signal(ss(NEW, Change::Falls));
    assert_eq!(amm.on_signal(ss(NEW, Change::FadesAway)), [delete(NEW)]);
}

#[test]
fn delete_at_6() {
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(ss(NEW, Change::Vanishes)), [delete(NEW)]);
    let lost = row(&amm, NEW);
    assert_eq!((lost.attached, lost.address, lost.added), (false, None, None));
    assert_eq!(amm.on_signal(ss(NEW, Change::AppearsWeak)), [], "it has to attach and acquire anew");
    assert_eq!(feed(&mut amm, &[Signal::L2hc(NEW), ipac(NEW)]), [add(NEW)]);
}

#[test]
fn no_delete_above_l2th() {
    let mut amm = overlapping();
    amm.on_signal(Signal::MaxIn(NEW));
    let all = feed(&mut amm, &[ss(OLD, Change::Falls), ss(OLD, Change::Rises), ss(OLD, Change::Falls)]);
    assert_eq!(all, [set_primary(NEW)]);
}

#[test]
fn delete_postponed() {
    let mut amm = started();
    assert_eq!(feed(&mut amm, &[ss(OLD, Change::Falls), ss(OLD, Change::FadesAway)]), []);
    assert!(row(&amm, OLD).delete_postponed);
}

#[test]
fn delete_with_set_primary() {
    let mut amm = started();
    amm.on_signal(ss(OLD, Change::Vanishes));
    feed(&mut amm, &[Signal::MaxIn(NEW), ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW)]);
    assert_eq!(amm.on_signal(ipac(NEW)), [add(NEW), set_primary(NEW), delete(OLD)]);
}

/// The signal of an interface whose deletion is postponed comes back.
#[test]
fn postponed_delete_dropped_when_heard_again() {
    let mut amm = started();
    feed(&mut amm, &[ss(OLD, Change::Vanishes), ss(OLD, Change::AppearsWeak)]);
    assert!(!row(&amm, OLD).delete_postponed);
    // Its address never left the association: no ADDIP either.
    assert_eq!(feed(&mut amm, &[Signal::L2hc(OLD), ipac(OLD)]), []);
    feed(&mut amm, &[ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), ipac(NEW)]);
    assert_eq!(amm.on_signal(Signal::MaxIn(NEW)), [set_primary(NEW)], "no deletion");
}

/// In a hard handover nothing is heard on the old path once the new one is attached, whatever its signal.
#[test]
fn a_hard_handover_ends_the_old_signal() {
    let mut amm = module(LayerTwoHandover::Hard);
    feed(&mut amm, &[Signal::MaxIn(NEW), ss(NEW, Change::AppearsStrong)]);
    assert_eq!(amm.on_signal(Signal::L2hc(NEW)), []);
    assert_eq!(amm.level(OLD), Level::None);
    assert_eq!(amm.on_signal(ipac(NEW)), [add(NEW), set_primary(NEW), delete(OLD)]);
}

#[test]
fn a_soft_handover_leaves_the_old_signal() {
    let mut amm = started();
    let soft =
        feed(&mut amm, &[Signal::MaxIn(NEW), ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), ipac(NEW)]);
    assert_eq!(soft, [add(NEW)]);
    assert_eq!(amm.level(OLD), Level::Strong);
}

/// c04 section 3.2: to and fro in the overlap, short of both thresholds, changes nothing after the first change.
#[test]
fn ping_pong_in_the_overlap_changes_nothing() {
    let mut amm = started();
    feed(&mut amm, &[ss(NEW, Change::AppearsWeak), Signal::L2hc(NEW), ipac(NEW)]);
    let mut triggers = feed(&mut amm, &[ss(OLD, Change::Falls)]);
    for _ in 0..50 {
        triggers.extend(feed(&mut amm, &[Signal::MaxIn(NEW), Signal::MaxIn(OLD)]));
    }
    assert_eq!(triggers, []);
}

#[test]
fn a_new_address_on_the_primary_interface_replaces_the_old_one() {
    let mut amm = started();
    let other = SocketAddr::from(([10, 9, 9, 9], 9899));
    assert_eq!(
        amm.on_signal(Signal::Ipac(OLD, other)),
        [Trigger::AddIp(OLD, other), Trigger::SetPrimary(OLD, other), delete(OLD)]
    );
}

/// IPAC before L2HC: the row had lost its attachment together with the old address, whose deletion waited.
#[test]
fn a_new_address_that_is_attached_only_later_replaces_the_old_one() {
    let mut amm = started();
    let other = SocketAddr::from(([10, 9, 9, 9], 9899));
    let signals = [ss(OLD, Change::Vanishes), ss(OLD, Change::AppearsStrong), Signal::Ipac(OLD, other)];
    assert_eq!(feed(&mut amm, &signals), []);
    assert_eq!(
        amm.on_signal(Signal::L2hc(OLD)),
        [Trigger::AddIp(OLD, other), Trigger::SetPrimary(OLD, other), delete(OLD)]
    );
}

#[test]
fn an_address_of_the_other_ip_version_replaces_only_one_that_is_lost() {
    let mut amm = started();
    let six = SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9899));
    assert_eq!(amm.on_signal(Signal::Ipac(OLD, six)), []);
    assert_eq!(amm.on_signal(Signal::AddressLost(address(OLD).ip())), [], "postponed");
    assert_eq!(
        amm.on_signal(Signal::Ipac(OLD, six)),
        [Trigger::AddIp(OLD, six), Trigger::SetPrimary(OLD, six), delete(OLD)]
    );
    // What was postponed has been done: the new address is not deleted for it.
    feed(&mut amm, &[ss(NEW, Change::AppearsStrong), Signal::L2hc(NEW), ipac(NEW), Signal::MaxIn(NEW)]);
    assert_eq!(amm.on_signal(ss(OLD, Change::Falls)), [set_primary(NEW)]);
}

#[test]
fn an_address_lost_under_a_strong_signal_is_deleted_like_one_out_of_coverage() {
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(Signal::AddressLost(address(NEW).ip())), [delete(NEW)]);
    let mut amm = overlapping();
    assert_eq!(amm.on_signal(Signal::AddressLost(address(OLD).ip())), [], "postponed");
    assert_eq!(amm.on_signal(Signal::MaxIn(NEW)), [set_primary(NEW), delete(OLD)]);
}

#[test]
fn the_table_is_bounded() {
    let mut amm = started();
    for n in 0..10_000 {
        amm.on_signal(Signal::L2hc(InterfaceId(n)));
    }
    assert_eq!(amm.table().len(), MAX_ROWS);
    assert_eq!(amm.on_signal(ipac(InterfaceId(9_999))), []);
    assert_eq!(amm.on_signal(ipac(THIRD)), [add(THIRD)]);
}
