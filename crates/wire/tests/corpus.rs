//! Runs the body of the fuzz target over its corpus, so that every finding stays found.

#[path = "support/packet_body.rs"]
mod packet_body;

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

fn corpus() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/packet");
    let mut files: Vec<_> =
        fs::read_dir(directory).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).expect("a seed")).collect()
}

#[test]
fn the_corpus_holds() {
    let corpus = corpus();
    assert!(corpus.len() >= 18, "the seeds are there");
    corpus.iter().for_each(|bytes| packet_body::packet(bytes));
}

#[test]
fn every_seed_cut_anywhere_holds() {
    for bytes in corpus() {
        (0..bytes.len()).for_each(|end| packet_body::packet(&bytes[..end]));
    }
}

/// Every byte of every seed takes every value: lengths, types, counts and flags among them.
#[test]
fn every_seed_with_any_byte_changed_holds() {
    for mut bytes in corpus() {
        for at in 12..bytes.len().min(100) {
            let before = bytes[at];
            for value in 0..=255 {
                bytes[at] = value;
                packet_body::packet(&bytes);
            }
            bytes[at] = before;
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_hold(bytes in vec(any::<u8>(), 0..200)) {
        packet_body::packet(&bytes);
    }

    /// Bytes that look like chunks get further than noise does.
    #[test]
    fn chunks_of_arbitrary_bodies_hold(
        chunks in vec((0usize..24, any::<u8>(), -3i32..4, vec(prop_oneof![Just(0u8), any::<u8>(), 4u8..24], 0..60)), 0..5)
    ) {
        const TYPES: [u8; 24] =
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 64, 128, 130, 132, 192, 193, 194, 254];
        let mut bytes = vec![0; 12];
        for (kind, flags, off, body) in chunks {
            let length = (body.len() as i32 + 4 + off).max(0) as u16;
            bytes.extend_from_slice(&[TYPES[kind], flags]);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(&body);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        packet_body::packet(&bytes);
    }
}
