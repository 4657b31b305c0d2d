use proptest::prelude::*;

use super::*;

const MSS: u64 = 1000;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for number in 0..segments {
        board.on_sent(Instant::from_nanos(number), MSS);
    }
    board
}

fn sack(board: &mut Scoreboard, from: u64, to: u64) -> Acknowledged {
    let mut result = Acknowledged::default();
    board.sack(from * MSS, to * MSS, &mut result);
    board.invariants();
    result
}

/// RFC 6675 §4: lost when more than (3-1)·SMSS bytes above are reported.
#[test]
fn three_segments_above_make_a_loss() {
    let mut board = board(8);
    assert_eq!(sack(&mut board, 2, 4).sacked, 2 * MSS);
    board.lose_overtaken(2 * MSS);
    assert!(!board.first_is_lost());
    assert_eq!(sack(&mut board, 2, 5).sacked, MSS, "what was known is not counted again");
    board.lose_overtaken(2 * MSS);
    board.invariants();
    assert!(board.first_is_lost());
    // Two lost, three reported, three on their way.
    assert_eq!((board.pipe(), board.flight()), (3 * MSS, 8 * MSS));
    assert_eq!(board.next_lost().map(|sent| sent.offset), Some(0));
    board.on_repaired(Instant::ZERO, 0);
    assert_eq!(board.next_lost().map(|sent| sent.offset), Some(MSS));
    assert_eq!(board.pipe(), 4 * MSS);
}

#[test]
fn only_what_was_sent_once_measures() {
    let mut board = board(3);
    board.lose_first();
    board.on_repaired(Instant::from_nanos(9), 0);
    let mut result = Acknowledged::default();
    board.acknowledge(MSS, &mut result);
    assert_eq!((result.bytes, result.sent_at), (MSS, None));
    board.acknowledge(3 * MSS, &mut result);
    assert_eq!((result.bytes, result.sent_at), (2 * MSS, Some(Instant::from_nanos(2))));
}

proptest! {
    /// Whatever is reported, in whatever order, the sums stay right, and what is lost is found.
    #[test]
    fn sums(steps in proptest::collection::vec((0..7_u8, 0..40_u64, 0..40_u64), 1..60)) {
        let mut board = board(10);
        for (what, a, b) in steps {
            let mut result = Acknowledged::default();
            match what {
                0 => board.on_sent(Instant::ZERO, 1 + a * 50),
                1 => board.acknowledge(board.acknowledged() + a * b, &mut result),
                2 => board.sack(a * 700, (a + b) * 700, &mut result),
                3 => board.lose_first(),
                4 => board.lose_overtaken(2 * MSS),
                5 => board.lose_all(),
                _ => {
                    if let Some(lost) = board.next_lost() {
                        board.on_repaired(Instant::ZERO, lost.offset);
                    }
                }
            }
            board.invariants();
        }
        while let Some(lost) = board.next_lost() {
            board.on_repaired(Instant::ZERO, lost.offset);
        }
        board.invariants();
    }
}
