use whimbrel_wire::Tsn;

use super::*;
use crate::interface::PathState;
use crate::path::testing::{mesh, set};
use crate::path::{Paths, control_path};
use crate::send::outstanding::Outstanding;
use crate::send::scheduler::Share;
use crate::send::stream_scheduler::FirstComeFirstServed;
use crate::send::streams::OutboundStreams;

/// What `rule` says when nothing is in flight.
fn path(rule: &dyn RetransmissionRule, paths: &Paths, lost_on: u32, loss: Loss) -> Option<u32> {
    let (outstanding, streams) =
        (Outstanding::new(Tsn(1)), OutboundStreams::new(1, FirstComeFirstServed::boxed()));
    let share = Share::WHOLE;
    let offer =
        Offer { paths, flows: &[], outstanding: &outstanding, streams: &streams, room: 0, buffers: 0, share };
    rule.path(&offer, PathId(lost_on), loss).map(PathId::number)
}

fn again(paths: &Paths, lost_on: u32) -> Option<u32> {
    path(&AlternatePath, paths, lost_on, Loss::Timeout)
}

/// What a path lost goes out on it again, unless new data has left it (RFC 9260 §7.2.4 leaves the choice to the sender).
#[test]
fn fast_retransmissions_follow_new_data() {
    let again = |paths: &Paths, lost_on| path(&AlternatePath, paths, lost_on, Loss::Missing);
    let mut paths = mesh();
    assert_eq!(again(&paths, 0), Some(0));
    paths.set_primary(PathId(3));
    assert_eq!(again(&paths, 0), Some(3));
    set(&mut paths, PathId(0), PathState::Inactive, 6);
    assert_eq!(again(&paths, 0), Some(3));
}

/// RFC 9260 §6.4: retransmit to an active address different from the last.
#[test]
fn timed_out_data_goes_another_way() {
    let mut paths = mesh();
    assert_eq!(again(&paths, 0), Some(3));
    assert_eq!(again(&paths, 3), Some(0));
    set(&mut paths, PathId(3), PathState::PotentiallyFailed, 1);
    assert_eq!(again(&paths, 0), Some(1));
}

/// With no other active path the same one, if that is active.
#[test]
fn timed_out_data_stays_when_there_is_no_other_way() {
    let mut paths = mesh();
    (1..4).for_each(|id| set(&mut paths, PathId(id), PathState::Inactive, 6));
    set(&mut paths, PathId(0), PathState::Active, 3);
    assert_eq!(again(&paths, 0), Some(0));
    set(&mut paths, PathId(0), PathState::PotentiallyFailed, 3);
    set(&mut paths, PathId(2), PathState::PotentiallyFailed, 1);
    assert_eq!(again(&paths, 0), Some(2));
}

/// The path may be gone by the time its data is retransmitted.
#[test]
fn timed_out_data_of_a_path_that_is_gone() {
    let paths = mesh();
    assert_eq!(again(&paths, 77), Some(0));
}

/// RFC 9260 §5.4: no data to an unconfirmed address, whatever else has failed.
#[test]
fn unconfirmed_paths_carry_no_retransmission() {
    let mut paths = mesh();
    set(&mut paths, PathId(0), PathState::Inactive, 6);
    (1..4).for_each(|id| set(&mut paths, PathId(id), PathState::Unconfirmed, 0));
    assert_eq!(again(&paths, 0), Some(0));
    set(&mut paths, PathId(0), PathState::Unconfirmed, 0);
    assert_eq!(again(&paths, 0), None);
}

/// Paper c04 section 2.2: whatever was lost and wherever, it goes where new data goes.
#[test]
fn with_the_primary_path_alone_nothing_goes_elsewhere() {
    let mut paths = mesh();
    for loss in [Loss::Missing, Loss::Timeout] {
        assert_eq!(path(&PrimaryPath, &paths, 2, loss), Some(0));
    }
    set(&mut paths, PathId(0), PathState::Inactive, 6);
    let control = control_path(&paths).map(PathId::number);
    assert_eq!(path(&PrimaryPath, &paths, 0, Loss::Timeout), control);
}
