use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::super::protocol::Kind;
use super::*;

fn offer(names: &[&str], size: u64) -> Offer {
    let path = RelativePath::unchecked(names.iter().map(|name| name.as_bytes().to_vec()).collect());
    Offer { id: 0, kind: Kind::File, size, mtime: 1_000_000, mode: 0o644, path }
}

fn store(existing: Existing) -> (TempDir, Arc<Store>) {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path(), Rules { existing, ..Rules::default() }).unwrap();
    (directory, store)
}

fn write(store: &Arc<Store>, offer: &Offer, content: &[u8]) -> Partial {
    let partial = store.begin(offer, Start::default()).unwrap().unwrap();
    partial.write(content).unwrap();
    partial
}

fn finish(store: &Store, partial: Partial, offer: &Offer) -> io::Result<Placed> {
    let hash = partial.hash().unwrap();
    store.finish(partial, offer, hash)
}

/// How far what is unfinished goes; `None` if something else is there, or nothing.
fn unfinished(store: &Store, offer: &Offer) -> Option<u64> {
    match store.look(offer, Tried::default()).unwrap() {
        Look::Partial(found) => Some(found.length),
        _ => None,
    }
}

#[test]
fn a_finished_file_appears_whole_and_nothing_else_stays() {
    let (directory, store) = store(Existing::Refuse);
    let offer = offer(&["sub", "deep", "f"], 3);
    let partial = write(&store, &offer, b"abc");
    assert!(!directory.path().join("sub").exists());
    assert_eq!(finish(&store, partial, &offer).unwrap(), Placed::AsOffered);
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
    assert_eq!(unfinished(&store, &offer(&["f"], 10)), Some(4));
    for other in [offer(&["f"], 11), offer(&["g"], 10)] {
        assert!(matches!(store.look(&other, Tried::default()).unwrap(), Look::Fresh));
    }
    let Look::Partial(found) = store.look(&offer(&["f"], 10), Tried::default()).unwrap() else { panic!() };
    let start = Start { copy: Some(found.copy), hasher: found.state.unwrap() };
    let again = store.begin(&offer(&["f"], 10), start).unwrap().unwrap();
    again.write(b"efghij").unwrap();
    finish(&store, again, &offer(&["f"], 10)).unwrap();
    assert_eq!(std::fs::read(_directory.path().join("f")).unwrap(), b"abcdefghij");
    assert!(matches!(store.look(&offer(&["f"], 10), Tried::default()).unwrap(), Look::SameSize));
    assert!(matches!(store.look(&offer(&["f"], 11), Tried::default()).unwrap(), Look::Exists));
}

/// No option replaces a directory by a file, or the other way round, so none is advised.
#[test]
fn what_is_no_file_is_named() {
    for existing in [Existing::Refuse, Existing::Overwrite] {
        let (directory, store) = store(existing);
        std::fs::create_dir(directory.path().join("d")).unwrap();
        std::fs::write(directory.path().join("f"), b"").unwrap();
        let Look::InTheWay(text) = store.look(&offer(&["d"], 1), Tried::default()).unwrap() else { panic!() };
        assert!(text.contains("directory") && !text.contains("--overwrite"), "{text}");
        let error = store.make_directory(&offer(&["f"], 0)).unwrap_err().to_string();
        assert!(error.contains("no directory"), "{error}");
    }
}

#[test]
fn existing_files_are_kept_replaced_or_stepped_aside_for() {
    for (existing, refused, placed) in [
        (Existing::Refuse, true, Placed::Taken),
        (Existing::Overwrite, false, Placed::AsOffered),
        (Existing::Rename, false, Placed::Renamed(offer(&["f.2"], 0).path)),
    ] {
        let (directory, store) = store(existing);
        std::fs::write(directory.path().join("f"), b"old").unwrap();
        std::fs::write(directory.path().join("f.1"), b"old 1").unwrap();
        let offer = offer(&["f"], 5);
        let look = store.look(&offer, Tried::default()).unwrap();
        assert_eq!(matches!(look, Look::Exists), refused, "{existing:?}");
        assert_eq!(finish(&store, write(&store, &offer, b"fresh"), &offer).unwrap(), placed);
        let now = std::fs::read(directory.path().join("f")).unwrap();
        assert_eq!(now == b"old", existing != Existing::Overwrite);
        assert_eq!(std::fs::read(directory.path().join("f.1")).unwrap(), b"old 1");
    }
}

/// Two connections that bring the same new file both write it, and one of them is first.
#[test]
fn the_same_content_that_comes_twice_leaves_nothing_behind() {
    for existing in [Existing::Refuse, Existing::Rename, Existing::Overwrite] {
        let (directory, store) = store(existing);
        let offer = offer(&["f"], 5);
        let both = [write(&store, &offer, b"fresh"), write(&store, &offer, b"fresh")];
        let [first, second] = both.map(|partial| finish(&store, partial, &offer).unwrap());
        assert_eq!(first, Placed::AsOffered);
        let replaced = existing == Existing::Overwrite;
        assert_eq!(second, if replaced { Placed::AsOffered } else { Placed::SameContent }, "{existing:?}");
        drop(store);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "{existing:?}");
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
        assert!(store.look(&offer(&["d", "f"], 1), Tried::default()).is_err());
        assert!(store.make_directory(&offer(&["d", "e"], 1)).is_err());
        assert!(store.make_directory(&offer(&["d"], 1)).is_err());
        let below = offer(&["d", "f"], 1);
        assert!(finish(&store, write(&store, &below, b"x"), &below).is_err());
        let link = offer(&["l"], 8);
        // A link is not a file of the same size, whatever it points to.
        assert!(!matches!(store.look(&link, Tried::default()), Ok(Look::SameSize)));
        let _ = finish(&store, write(&store, &link, b"attacker"), &link);
        assert_eq!(std::fs::read(&target).unwrap(), b"precious", "{existing:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}

#[test]
fn unchecked_names_do_not_reach_the_file_system() {
    let (_directory, store) = store(Existing::Refuse);
    for names in [&[".."] as &[&str], &["..", "f"], &["a/../../f"], &[".whimbrel-partial", "f"]] {
        assert!(store.look(&offer(names, 1), Tried::default()).is_err(), "{names:?}");
    }
}

#[test]
fn zeros_become_holes() {
    use std::os::unix::fs::MetadataExt;
    let (directory, store) = store(Existing::Refuse);
    let offer = offer(&["f"], 64 << 20);
    let partial = store.begin(&offer, Start::default()).unwrap().unwrap();
    for _ in 0..1024 {
        partial.write(&[0; 1 << 16]).unwrap();
    }
    finish(&store, partial, &offer).unwrap();
    let metadata = directory.path().join("f").metadata().unwrap();
    assert_eq!(metadata.len(), 64 << 20);
    assert!(metadata.blocks() * 512 < 1 << 20, "{} blocks", metadata.blocks());
}

#[test]
fn what_cannot_fit_is_known_at_once() {
    let (_directory, store) = store(Existing::Refuse);
    assert!(
        matches!(store.look(&offer(&["f"], 1 << 60), Tried::default()).unwrap(), Look::NoSpace(needed, _) if needed == 1 << 60)
    );
}

#[test]
fn the_limit_on_unfinished_files_is_named() {
    let directory = TempDir::new().unwrap();
    let rules = Rules { partial_space: Some(100), ..Rules::default() };
    let store = Store::open(directory.path(), rules).unwrap();
    let Look::NoSpace(200, room) = store.look(&offer(&["f"], 200), Tried::default()).unwrap() else {
        panic!()
    };
    assert!(room.to_string().contains("100 left") && room.to_string().contains("--partial-space"), "{room}");
}

/// What is in place, and what an earlier process has left, is read once, whatever is claimed of it and how often.
#[test]
fn claims_do_not_make_the_receiver_read() {
    let (directory, first) = store(Existing::Refuse);
    std::fs::write(directory.path().join("f"), [1; 100_000]).unwrap();
    drop(write(&first, &offer(&["g"], 300_000), &[2; 200_000]));
    drop(first);
    let store = Store::open(directory.path(), Rules::default()).unwrap();
    for _ in 0..500 {
        assert_eq!(
            store.hash_in_place(&offer(&["f"], 100_000), || true).unwrap(),
            blake3::hash(&[1; 100_000])
        );
        let unfinished = offer(&["g"], 300_000);
        let Look::Partial(found) = store.look(&unfinished, Tried::default()).unwrap() else { panic!() };
        let state = store.hash_partial(&unfinished, found, || true).unwrap();
        assert_eq!(state.finalize(), blake3::hash(&[2; 200_000]));
    }
    assert_eq!(store.bytes_compared(), 300_000);
    // And what it received itself not at all.
    let received = offer(&["h"], 1000);
    finish(&store, write(&store, &received, &[3; 1000]), &received).unwrap();
    assert_eq!(store.hash_in_place(&received, || true).unwrap(), blake3::hash(&[3; 1000]));
    assert_eq!(store.bytes_compared(), 300_000);
}
