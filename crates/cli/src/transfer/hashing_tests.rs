use std::io::Write;

use tempfile::TempDir;

use super::*;

#[test]
fn a_file_is_read_once_until_it_changes() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    let hashes = Hashes::default();
    for _ in 0..1000 {
        let file = File::open(&path).unwrap();
        assert_eq!(hashes.of(&file, || true).unwrap(), blake3::hash(&vec![7; 100_000]));
    }
    assert_eq!(hashes.bytes_read(), 100_000);
    File::options().append(true).open(&path).unwrap().write_all(b"x").unwrap();
    let file = File::open(&path).unwrap();
    assert_ne!(hashes.of(&file, || true).unwrap(), blake3::hash(&vec![7; 100_000]));
    assert_eq!(hashes.bytes_read(), 200_001);
}

#[test]
fn what_nobody_waits_for_is_not_read_on() {
    let directory = TempDir::new().unwrap();
    let file = File::create_new(directory.path().join("f")).unwrap();
    // As large as no test could read.
    file.set_len(1 << 42).unwrap();
    let file = File::open(directory.path().join("f")).unwrap();
    assert!(Hashes::default().of(&file, || false).is_err());
}

#[test]
fn the_memory_has_an_end_and_keeps_what_is_large() {
    let stamp = |inode, length| Stamp { length, device: 1, inode, modified: (0, 0), changed: (0, 0) };
    let hash = blake3::hash(b"");
    let mut known = Known::default();
    known.insert(stamp(0, 1 << 40), hash);
    for inode in 1..70_000 {
        known.insert(stamp(inode, inode), hash);
    }
    assert_eq!((known.hashes.len(), known.by_size.len()), (REMEMBERED, REMEMBERED));
    assert!(known.get(&stamp(0, 1 << 40)).is_some() && known.get(&stamp(69_999, 69_999)).is_some());
    assert!(known.get(&stamp(1, 1)).is_none());
    // Another version of a file replaces the one before.
    known.insert(stamp(69_999, 5), hash);
    assert!(known.get(&stamp(69_999, 69_999)).is_none());
    assert_eq!(known.hashes.len(), known.by_size.len());
}
