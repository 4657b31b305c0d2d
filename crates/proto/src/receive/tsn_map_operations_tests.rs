use super::run;
use crate::corpus::run_all;

#[test]
fn the_corpus_and_pseudo_random_operations_hold() {
    run_all("tsn_map", 1000, 400, run);
}
