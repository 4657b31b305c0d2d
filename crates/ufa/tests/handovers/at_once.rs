//! Two handovers at once, however much later the second one is ordered: each has an end, no more is given away than there is, and no message of the associations is lost.

use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_ufa::{Event, Order, UfaPlusPlus};

use crate::bed::{Bed, Plan};

const BEGIN: Instant = Instant::from_nanos(3_000_000_000);
const SETTLED: Duration = Duration::from_secs(120);

fn bed(terminals: &[usize], rooms: &[u64]) -> Bed {
    let mut bed = Bed::new(Plan {
        seed: 1,
        terminals: terminals.to_vec(),
        rooms: rooms.to_vec(),
        order: Order::OneAfterTheOther,
        transition: Box::new(UfaPlusPlus),
    });
    bed.run_until(BEGIN);
    bed
}

/// Lets all settle, and looks at what must be so in any case.
fn settle(bed: &mut Bed) {
    bed.run_until(BEGIN + SETTLED);
    bed.judge_data();
    bed.judge_gateways();
}

/// How much later the second one is ordered.
fn laters() -> impl Iterator<Item = Duration> {
    (0..30).map(|step| Duration::from_millis(step * 20))
}

#[test]
fn two_terminals_go_to_one_gateway_that_has_room_for_one() {
    for later in laters() {
        let mut bed = bed(&[0, 1], &[1, 1, 1]);
        let [one, other] = [0, 1].map(|number| bed.mobiles[number].address);
        bed.hand_over(0, one, &[2]);
        bed.run_until(BEGIN + later);
        bed.hand_over(1, other, &[2]);
        settle(&mut bed);
        let mut ends = [bed.ends(0), bed.ends(1)].concat();
        ends.sort_unstable();
        assert_eq!(ends, ["handed over", "stays"], "{later:?}");
        assert_eq!(bed.gateway(2).unwrap().session_count(), 1, "{later:?}");
    }
}

#[test]
fn one_terminal_goes_to_one_of_two_gateways() {
    let mut bed = bed(&[0], &[1, 1, 1]);
    let address = bed.mobiles[0].address;
    bed.hand_over(0, address, &[1, 2]);
    settle(&mut bed);
    assert_eq!(bed.ends(0), ["handed over"]);
    let sessions = [1, 2].map(|gateway| bed.gateway(gateway).unwrap().session_count());
    assert_eq!(sessions.iter().sum::<usize>(), 1);
}

#[test]
fn a_terminal_on_its_way_is_sent_nowhere_else() {
    for later in laters() {
        let mut bed = bed(&[0], &[1, 1, 1]);
        let address = bed.mobiles[0].address;
        bed.hand_over(0, address, &[1]);
        bed.run_until(BEGIN + later);
        bed.hand_over(0, address, &[2]);
        settle(&mut bed);
        let mut ends = bed.ends(0);
        ends.sort_unstable();
        assert_eq!(ends, ["handed over", "stays"], "{later:?}");
        assert_eq!(bed.mobiles[0].at(), 1, "{later:?}");
    }
}

#[test]
fn two_terminals_change_places() {
    for later in laters() {
        let mut bed = bed(&[0, 1], &[2, 2]);
        let [one, other] = [0, 1].map(|number| bed.mobiles[number].address);
        bed.hand_over(0, one, &[1]);
        bed.run_until(BEGIN + later);
        bed.hand_over(1, other, &[0]);
        settle(&mut bed);
        assert_eq!([bed.ends(0), bed.ends(1)], [["handed over"], ["handed over"]], "{later:?}");
        assert_eq!([0, 1].map(|number| bed.mobiles[number].at()), [1, 0], "{later:?}");
    }
}

/// Where each has the last place of its gateway they stay until one of them has gone: no gateway promises what it has not.
#[test]
fn two_terminals_do_not_change_places_where_there_is_no_room() {
    let mut bed = bed(&[0, 1], &[1, 1]);
    let [one, other] = [0, 1].map(|number| bed.mobiles[number].address);
    bed.hand_over(0, one, &[1]);
    bed.hand_over(1, other, &[0]);
    settle(&mut bed);
    assert_eq!([bed.ends(0), bed.ends(1)], [["stays"], ["stays"]]);
}

/// Paper d10, U-3 and U-6: no ASCONF, and data for the new address does not wait for the answer to a HEARTBEAT; it is at the target before the terminal is.
#[test]
fn nothing_is_asked_of_the_new_address_first() {
    for order in [Order::OneAfterTheOther, Order::AtOnce] {
        let transition = Box::new(UfaPlusPlus);
        let mut bed = Bed::new(Plan { seed: 1, terminals: vec![0], rooms: vec![1, 1], order, transition });
        bed.run_until(BEGIN);
        bed.hand_over(0, bed.mobiles[0].address, &[1]);
        settle(&mut bed);
        let (seen, there) = (bed.seen.read(), bed.mobiles[0].address);
        let arrived = bed.world.app(bed.gateways[1]).heard.iter().find_map(|(at, event)| match event {
            Event::Arrived(_) => Some(*at),
            _ => None,
        });
        assert_eq!(seen.asconf, 0);
        assert!(seen.data[&there] < arrived.unwrap() && seen.data[&there] < seen.answers[&there]);
    }
}
