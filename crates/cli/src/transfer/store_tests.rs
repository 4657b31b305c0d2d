use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::super::protocol::Kind;
use super::*;

fn offer(names: &[&str], size: u64) -> Offer {
    let path = RelativePath::unchecked(names.iter().map(|name| name.as_bytes().to_vec()).collect());
    Offer { id: 0, kind: Kind::File, size, mtime: 1_000_000, executable: false, path }
}

fn store(existing: Existing) -> (TempDir, Arc<Store>) {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), Rules { existing, ..Rules::default() }).unwrap();
    (directory, store)
}

fn write(store: &Arc<Store>, offer: &Offer, content: &[u8]) -> Partial {
    let partial = store.begin(offer, 0).unwrap().unwrap();
    partial.write(0, content).unwrap();
    partial
}

#[test]
fn a_finished_file_appears_whole_and_nothing_else_stays() {
    let (directory, store) = store(Existing::Refuse);
    let offer = offer(&["sub", "deep", "f"], 3);
    let partial = write(&store, &offer, b"abc");
    assert!(!directory.path().join("sub").exists());
    assert_eq!(partial.finish(&offer).unwrap(), Placed::AsOffered);
    let path = directory.path().join("sub/deep/f");
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    let modified = path.metadata().unwrap().modified().unwrap();
    assert_eq!(modified, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
    drop(store);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "the partial directory is gone");
}

#[test]
fn an_unfinished_file_is_found_again_by_name_and_size() {
    let (_directory, store) = store(Existing::Refuse);
    drop(write(&store, &offer(&["f"], 10), b"abcd"));
    assert_eq!(store.look(&offer(&["f"], 10), false).unwrap(), Look::Partial(4));
    assert_eq!(store.look(&offer(&["f"], 11), false).unwrap(), Look::Fresh);
    assert_eq!(store.look(&offer(&["g"], 10), false).unwrap(), Look::Fresh);
    let again = store.begin(&offer(&["f"], 10), 4).unwrap().unwrap();
    again.write(4, b"efghij").unwrap();
    again.finish(&offer(&["f"], 10)).unwrap();
    assert_eq!(store.look(&offer(&["f"], 10), false).unwrap(), Look::SameSize);
    assert_eq!(store.look(&offer(&["f"], 11), false).unwrap(), Look::Exists);
}

#[test]
fn two_transfers_do_not_write_one_file() {
    let (_directory, store) = store(Existing::Refuse);
    let first = write(&store, &offer(&["f"], 10), b"abcd");
    assert!(store.begin(&offer(&["f"], 10), 0).unwrap().is_none());
    // Another process is kept out by the file lock.
    let other = Store::open(_directory.path(), Rules::default()).unwrap();
    assert!(other.begin(&offer(&["f"], 10), 0).unwrap().is_none());
    drop(first);
    assert!(other.begin(&offer(&["f"], 10), 4).unwrap().is_some());
}

#[test]
fn an_idle_transfer_is_taken_over_and_its_owner_is_told() {
    let (_directory, store) = store(Existing::Refuse);
    let first = write(&store, &offer(&["f"], 10), b"abcd");
    *lock(&first.slot.touched) = Instant::now().checked_sub(2 * IDLE).unwrap();
    let second = store.begin(&offer(&["f"], 10), 4).unwrap().unwrap();
    assert!(first.write(4, b"xx").is_err());
    first.discard();
    second.write(4, b"efghij").unwrap();
    assert_eq!(second.finish(&offer(&["f"], 10)).unwrap(), Placed::AsOffered);
    assert_eq!(std::fs::read(_directory.path().join("f")).unwrap(), b"abcdefghij");
}

#[test]
fn a_file_that_is_being_placed_is_not_taken_over() {
    let (_directory, store) = store(Existing::Refuse);
    let offer = offer(&["f"], 4);
    let first = write(&store, &offer, b"abcd");
    *lock(&first.slot.touched) = Instant::now().checked_sub(2 * IDLE).unwrap();
    // As while a slow disk is being waited for.
    let placing = lock(&first.slot.file);
    assert!(store.begin(&offer, 0).unwrap().is_none());
    drop(placing);
    first.finish(&offer).unwrap();
    assert_eq!(std::fs::read(_directory.path().join("f")).unwrap(), b"abcd");
}

#[test]
fn what_another_process_has_put_in_its_place_is_not_shortened() {
    let (directory, store) = store(Existing::Refuse);
    let offer = offer(&["f"], 4);
    let first = write(&store, &offer, b"abcd");
    *lock(&first.slot.touched) = Instant::now().checked_sub(2 * IDLE).unwrap();
    let partial = directory.path().join(PARTIAL_DIRECTORY).join(key(&offer));
    std::fs::rename(partial, directory.path().join("f")).unwrap();
    assert!(store.begin(&offer, 0).unwrap().is_none());
    assert_eq!(std::fs::read(directory.path().join("f")).unwrap(), b"abcd");
}

#[test]
fn existing_files_are_kept_replaced_or_stepped_aside_for() {
    for (existing, look, placed) in [
        (Existing::Refuse, Look::Exists, Placed::Taken),
        (Existing::Overwrite, Look::Fresh, Placed::AsOffered),
        (Existing::Rename, Look::Fresh, Placed::Renamed(offer(&["f.2"], 0).path)),
    ] {
        let (directory, store) = store(existing);
        std::fs::write(directory.path().join("f"), b"old").unwrap();
        std::fs::write(directory.path().join("f.1"), b"old 1").unwrap();
        let offer = offer(&["f"], 5);
        assert_eq!(store.look(&offer, false).unwrap(), look, "{existing:?}");
        assert_eq!(write(&store, &offer, b"fresh").finish(&offer).unwrap(), placed);
        let now = std::fs::read(directory.path().join("f")).unwrap();
        assert_eq!(now == b"old", existing != Existing::Overwrite);
        assert_eq!(std::fs::read(directory.path().join("f.1")).unwrap(), b"old 1");
    }
}

#[test]
fn symbolic_links_lead_nowhere() {
    let outside = TempDir::new().unwrap();
    let target = outside.path().join("target");
    std::fs::write(&target, b"precious").unwrap();
    for existing in [Existing::Refuse, Existing::Overwrite, Existing::Rename] {
        let (directory, store) = store(existing);
        symlink(outside.path(), directory.path().join("d")).unwrap();
        symlink(&target, directory.path().join("l")).unwrap();
        assert!(store.look(&offer(&["d", "f"], 1), false).is_err());
        assert!(store.make_directory(&offer(&["d", "e"], 1).path).is_err());
        assert!(store.make_directory(&offer(&["d"], 1).path).is_err());
        let below = offer(&["d", "f"], 1);
        assert!(write(&store, &below, b"x").finish(&below).is_err());
        let link = offer(&["l"], 8);
        // A link is not a file of the same size, whatever it points to.
        assert_ne!(store.look(&link, false).unwrap_or(Look::Exists), Look::SameSize);
        let _ = write(&store, &link, b"attacker").finish(&link);
        assert_eq!(std::fs::read(&target).unwrap(), b"precious", "{existing:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}

#[test]
fn unchecked_names_do_not_reach_the_file_system() {
    let (_directory, store) = store(Existing::Refuse);
    for names in [&[".."] as &[&str], &["..", "f"], &["a/../../f"], &[".whimbrel-partial", "f"]] {
        assert!(store.look(&offer(names, 1), false).is_err(), "{names:?}");
    }
}

#[test]
fn zeros_become_holes() {
    use std::os::unix::fs::MetadataExt;
    let (directory, store) = store(Existing::Refuse);
    let offer = offer(&["f"], 64 << 20);
    let partial = store.begin(&offer, 0).unwrap().unwrap();
    for block in 0..1024 {
        partial.write(block << 16, &[0; 1 << 16]).unwrap();
    }
    partial.finish(&offer).unwrap();
    let metadata = directory.path().join("f").metadata().unwrap();
    assert_eq!(metadata.len(), 64 << 20);
    assert!(metadata.blocks() * 512 < 1 << 20, "{} blocks", metadata.blocks());
}

#[test]
fn what_cannot_fit_is_known_at_once() {
    let (_directory, store) = store(Existing::Refuse);
    assert!(
        matches!(store.look(&offer(&["f"], 1 << 60), false).unwrap(), Look::NoSpace(needed, _) if needed == 1 << 60)
    );
}
