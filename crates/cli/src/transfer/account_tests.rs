use super::super::report::Totals;
use super::*;

#[test]
fn what_does_not_come_is_taken_back_at_the_end() {
    let tally = Arc::new(Tally::default());
    let account = Account::new(Arc::clone(&tally));
    account.announce(3, 1000);
    account.advance(600);
    account.file(true);
    assert_eq!((tally.totals().files, tally.totals().bytes), (3, 1000));
    drop(account);
    assert_eq!(
        tally.totals(),
        Totals { files: 1, bytes: 600, done_bytes: 600, done_files: 1, failed_files: 0 }
    );
}

#[test]
fn a_sender_that_lies_does_not_spoil_the_totals() {
    let tally = Arc::new(Tally::default());
    for (files, bytes) in [(u64::MAX, u64::MAX), (0, 0)] {
        let account = Account::new(Arc::clone(&tally));
        account.announce(files, bytes);
        account.advance(10);
        account.retreat(3);
        account.file(false);
    }
    assert_eq!(
        tally.totals(),
        Totals { files: 2, bytes: 14, done_bytes: 14, done_files: 0, failed_files: 2 }
    );
}
