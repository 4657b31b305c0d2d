use super::super::protocol::Outcome;
use super::super::report::Totals;
use super::super::testing::recorder;
use super::*;

fn report(outcome: Outcome) -> FileReport {
    let name = "f".into();
    FileReport {
        name,
        name_bytes: None,
        location: None,
        size: 600,
        resumed: 200,
        outcome,
        text: String::new(),
        hash: None,
    }
}

#[test]
fn what_does_not_come_is_taken_back_at_the_end() {
    let tally = Arc::new(Tally::default());
    let account = Account::new(Arc::clone(&tally), recorder().1);
    account.announce(3, 1000);
    account.skip(200);
    account.advance(400);
    account.file(report(Outcome::Verified));
    assert_eq!((tally.totals().files, tally.totals().bytes), (3, 1000));
    drop(account);
    assert_eq!(
        tally.totals(),
        Totals {
            files: 1,
            bytes: 600,
            done_bytes: 600,
            moved_bytes: 400,
            confirmed_bytes: 600,
            before_bytes: 200,
            done_files: 1,
            failed_files: 0
        }
    );
}

#[test]
fn a_sender_that_lies_does_not_spoil_the_totals() {
    let tally = Arc::new(Tally::default());
    for (files, bytes) in [(u64::MAX, u64::MAX), (0, 0)] {
        let account = Account::new(Arc::clone(&tally), recorder().1);
        account.announce(files, bytes);
        account.advance(10);
        account.retreat(3);
        account.file(report(Outcome::Failed));
    }
    assert_eq!(
        tally.totals(),
        Totals { files: 2, bytes: 14, done_bytes: 14, moved_bytes: 20, failed_files: 2, ..Totals::default() }
    );
}
