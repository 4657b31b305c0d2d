use proptest::prelude::*;

use super::run;
use crate::corpus::run_all;

#[test]
fn the_corpus_and_pseudo_random_operations_hold() {
    run_all("sender", 3000, 600, run);
}

proptest! {
    /// As above, but a failure shrinks.
    #[test]
    fn arbitrary_operations_hold(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        run(&bytes);
    }
}
