use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;

#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/ticket");
    let files: Vec<_> = fs::read_dir(corpus).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.iter().any(|file| Ticket::from_bytes(&sealed(file)).is_ok()), "some are tickets");
    files.iter().for_each(|file| run(&fs::read(file).unwrap()));
}

fn sealed(file: &Path) -> Vec<u8> {
    let body = fs::read(file).unwrap();
    [&body[..], &check(&body)].concat()
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        run(&bytes);
    }

    /// A port, a key, a secret, and what may be addresses.
    #[test]
    fn what_begins_as_a_ticket(bytes in proptest::collection::vec(any::<u8>(), 50..200)) {
        run(&[&[1], &bytes[..]].concat());
    }

    #[test]
    fn arbitrary_letters(text in "(?i)whm1[a-z2-7]{0,120}") {
        run(text.as_bytes());
    }
}
