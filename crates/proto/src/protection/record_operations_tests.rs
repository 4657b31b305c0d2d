use proptest::prelude::*;

use super::*;
use crate::corpus::run_all;

#[test]
fn the_corpus_and_pseudo_random_operations_hold() {
    run_all("record", 1000, 600, run);
}

proptest! {
    /// As above, but a failure shrinks.
    #[test]
    fn arbitrary_operations(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        run(&bytes);
    }
}
