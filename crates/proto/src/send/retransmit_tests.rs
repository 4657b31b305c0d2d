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

mod together {
    use core::time::Duration;

    use whimbrel_wire::Tsn;

    use super::*;
    use crate::config::{Config, RetransmissionPath};
    use crate::send::testing::Rig;

    const A: PathId = PathId(0);
    const D: PathId = PathId(3);

    /// Paths A and D carry data: A is quicker, D has the larger window; A loses more, and has the larger threshold.
    fn rig(path: RetransmissionPath) -> Rig {
        let mut config = Config::rfc().combining_paths();
        config.retransmission.path = path;
        let mut rig = Rig::new(config, Tsn(1), 1 << 20);
        rig.measure(A, Duration::from_millis(20));
        rig.measure(D, Duration::from_millis(30));
        rig.sender.install(A, Some(10_000), Some(90_000));
        rig.sender.install(D, Some(50_000), Some(20_000));
        rig.sender.flow_mut(A).unwrap().beside_mut().loss_rate.on_lost(1);
        rig.sender.open_bursts(rig.now, &rig.paths);
        rig
    }

    /// Where a chunk goes that was lost on `lost_on`.
    fn to(rig: &Rig, lost_on: PathId, loss: Loss) -> Option<PathId> {
        rig.sender.retransmission_path(&rig.paths, lost_on, loss)
    }

    #[test]
    fn each_policy_has_its_own_idea() {
        for (policy, expected) in [
            (RetransmissionPath::Soonest, [A, A]),
            (RetransmissionPath::WithRoom, [A, A]),
            (RetransmissionPath::LargestWindow, [D, D]),
            (RetransmissionPath::LargestThreshold, [A, A]),
            (RetransmissionPath::LeastLoss, [D, D]),
            (RetransmissionPath::Same, [A, D]),
        ] {
            let rig = rig(policy);
            let chosen = [A, D].map(|lost_on| to(&rig, lost_on, Loss::Missing));
            assert_eq!(chosen, expected.map(Some), "{policy:?}");
        }
    }

    /// RFC 9260 §6.4: what a timer calls lost takes another path, unless the policy is to stay; there is none other if it has failed.
    #[test]
    fn after_a_timeout_another_path() {
        for policy in [
            RetransmissionPath::Soonest,
            RetransmissionPath::WithRoom,
            RetransmissionPath::LargestWindow,
            RetransmissionPath::LargestThreshold,
            RetransmissionPath::LeastLoss,
        ] {
            let mut rig = rig(policy);
            assert_eq!(
                [A, D].map(|lost_on| to(&rig, lost_on, Loss::Timeout)),
                [Some(D), Some(A)],
                "{policy:?}"
            );
            (1..4).for_each(|id| rig.set_state(PathId(id), PathState::PotentiallyFailed));
            assert_eq!([A, D].map(|lost_on| to(&rig, lost_on, Loss::Timeout)), [Some(A); 2], "{policy:?}");
        }
        let mut rig = rig(RetransmissionPath::Same);
        assert_eq!(to(&rig, D, Loss::Timeout), Some(D));
        rig.set_state(D, PathState::PotentiallyFailed);
        assert_eq!(to(&rig, D, Loss::Timeout), Some(A));
    }

    #[test]
    fn what_has_room_now() {
        let mut rig = rig(RetransmissionPath::WithRoom);
        while rig.send_one(1000) == Some(A) {}
        assert_eq!(to(&rig, A, Loss::Missing), Some(D));
    }
}
