use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use tempfile::TempDir;

use super::super::names::RelativePath;
use super::super::protocol::Kind;
use super::*;

fn offer(name: &str, size: u64) -> Offer {
    let path = RelativePath::unchecked(vec![name.as_bytes().to_vec()]);
    Offer { id: 0, kind: Kind::File, size, mtime: 0, mode: 0o644, path }
}

fn partials(limit: u64) -> (TempDir, Arc<Partials>) {
    let directory = TempDir::new().unwrap();
    let partials = open_in(&directory, limit);
    (directory, partials)
}

fn open_in(directory: &TempDir, limit: u64) -> Arc<Partials> {
    let root = std::fs::File::open(directory.path()).unwrap();
    Partials::open(root.into(), Some(limit)).unwrap()
}

/// A copy of its own with this content, being written.
fn write(partials: &Arc<Partials>, offer: &Offer, content: &[u8]) -> Partial {
    let partial = partials.begin(offer, Start::default()).unwrap().unwrap();
    partial.write(content).unwrap();
    partial
}

/// As somebody who has proved that he has the beginning of what was found.
fn go_on(partials: &Arc<Partials>, offer: &Offer, found: Found) -> io::Result<Option<Partial>> {
    partials.begin(offer, Start { copy: Some(found.copy), hasher: found.state.unwrap() })
}

fn found(partials: &Partials, offer: &Offer) -> Option<(u8, u64)> {
    partials.find(offer, 0).unwrap().map(|found| (found.copy, found.length))
}

/// Makes a file look as if its writer had not got on for as long as this.
fn rest(partials: &Partials, offer: &Offer, copy: u8, time: Duration) {
    let mut index = lock(&partials.index);
    let known = index.get_mut(&name(offer, copy)).unwrap();
    known.progressed = Instant::now().checked_sub(time).unwrap();
}

fn on_disk(directory: &TempDir) -> Vec<u64> {
    let entries = std::fs::read_dir(directory.path().join(PARTIAL_DIRECTORY)).unwrap();
    let mut lengths: Vec<u64> = entries.map(|entry| entry.unwrap().metadata().unwrap().len()).collect();
    lengths.sort_unstable();
    lengths
}

#[test]
fn other_content_of_the_same_name_and_size_takes_nothing_away() {
    let (directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1000);
    drop(write(&partials, &offer, &[1; 700]));
    // Somebody who cannot prove to have the beginning gets a file of his own, and so do more of them.
    for other in 2..20 {
        drop(write(&partials, &offer, &[other; 5]));
    }
    assert_eq!(on_disk(&directory), [5, 5, 5, 700]);
    let first = partials.find(&offer, 0).unwrap().unwrap();
    assert_eq!((first.length, first.state.unwrap().finalize()), (700, blake3::hash(&[1; 700])));
    // What was tried is not asked for again.
    assert_eq!(partials.find(&offer, 1 << first.copy).unwrap().unwrap().length, 5);
    assert!(partials.find(&offer, 0b1111).unwrap().is_none());
}

#[test]
fn a_name_is_held_only_while_its_writer_gets_on() {
    let (_directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1 << 20);
    let dripping = write(&partials, &offer, &[1; 10]);
    // Others are not kept waiting with content of their own.
    let other = partials.begin(&offer, Start::default()).unwrap();
    assert!(other.is_some(), "a copy of its own");
    // Who has the same beginning waits while it grows.
    let same = partials.find(&offer, 0).unwrap().unwrap();
    assert_eq!(same.length, 10);
    assert!(go_on(&partials, &offer, same).unwrap().is_none());
    // A byte now and then is no growth.
    rest(&partials, &offer, 0, HELD);
    dripping.write(b"x").unwrap();
    let same = partials.find(&offer, 0).unwrap().unwrap();
    assert_eq!(same.length, 11);
    let second = go_on(&partials, &offer, same).unwrap().unwrap();
    assert!(dripping.write(b"x").is_err() && dripping.hash().is_none(), "its owner is told");
    drop(dripping);
    second.write(&[2; 4]).unwrap();
    // 64 KiB are.
    rest(&partials, &offer, 0, HELD);
    second.write(&[2; 65_536]).unwrap();
    let same = partials.find(&offer, 0).unwrap().unwrap();
    assert!(go_on(&partials, &offer, same).unwrap().is_none());
}

/// Who begins a copy again and again, each time after the one byte that he has proved, holds neither its name nor its space.
#[test]
fn to_begin_again_is_no_progress() {
    let (directory, partials) = partials(1000);
    let (camped, other) = (offer("f", 1000), offer("g", 1000));
    let again = || {
        let hasher = Box::new(blake3::Hasher::new().update(&[1]).clone());
        partials.begin(&camped, Start { copy: Some(0), hasher }).unwrap().unwrap()
    };
    drop(write(&partials, &camped, &[1; 700]));
    drop(again());
    rest(&partials, &camped, 0, HELD);
    let camper = again();
    let same = partials.find(&camped, 0).unwrap().unwrap();
    assert!(go_on(&partials, &camped, same).unwrap().is_some(), "whoever has it may go on");
    drop(camper);
    rest(&partials, &camped, 0, STALLED);
    let _camper = again();
    drop(write(&partials, &other, &[1; 1000]));
    assert_eq!(on_disk(&directory), [1000]);
}

/// An old copy that somebody goes on with is his for a while, as a new one is.
#[test]
fn who_goes_on_with_what_has_rested_has_time_to_show_progress() {
    let (_directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1 << 20);
    drop(write(&partials, &offer, &[1; 65_536]));
    rest(&partials, &offer, 0, STALLED);
    let same = || partials.find(&offer, 0).unwrap().unwrap();
    let _second = go_on(&partials, &offer, same()).unwrap().unwrap();
    assert!(go_on(&partials, &offer, same()).unwrap().is_none());
}

#[test]
fn who_drips_into_all_copies_gives_one_up_and_the_longest_stays() {
    let (directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1000);
    let all: Vec<_> = (1..=4).map(|n| write(&partials, &offer, &vec![n; 100 * usize::from(n)])).collect();
    assert!(partials.begin(&offer, Start::default()).unwrap().is_none(), "all get on");
    for copy in 0..4 {
        rest(&partials, &offer, copy, HELD);
    }
    let honest = partials.begin(&offer, Start::default()).unwrap().unwrap();
    honest.write(&[9; 50]).unwrap();
    assert!(all[0].write(b"x").is_err(), "the shortest has gone");
    assert_eq!(on_disk(&directory), [50, 200, 300, 400]);
}

/// A sender whose connection was lost may ask again while the end of that connection is still under way here.
#[test]
fn what_a_writer_leaves_is_found_at_every_moment() {
    let (_directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1000);
    for round in 1..=300 {
        let start = match partials.find(&offer, 0).unwrap() {
            Some(found) => Start { copy: Some(found.copy), hasher: found.state.unwrap() },
            None => Start::default(),
        };
        let partial = partials.begin(&offer, start).unwrap().unwrap();
        partial.write(b"x").unwrap();
        std::thread::scope(|scope| {
            let leaving = scope.spawn(|| drop(partial));
            while !leaving.is_finished() {
                assert_eq!(found(&partials, &offer), Some((0, round)));
            }
        });
    }
}

#[test]
fn another_process_is_kept_out() {
    let (directory, partials) = partials(u64::MAX);
    let offer = offer("f", 10);
    let first = write(&partials, &offer, b"abcd");
    let other = open_in(&directory, u64::MAX);
    let hasher = || Box::new(blake3::Hasher::new().update(b"abcd").clone());
    assert!(other.begin(&offer, Start { copy: Some(0), hasher: hasher() }).unwrap().is_none());
    drop(first);
    assert!(other.begin(&offer, Start { copy: Some(0), hasher: hasher() }).unwrap().is_some());
}

#[test]
fn what_another_process_has_put_in_its_place_is_not_shortened() {
    let (directory, partials) = partials(u64::MAX);
    let offer = offer("f", 4);
    let first = write(&partials, &offer, b"abcd");
    rest(&partials, &offer, 0, HELD);
    let same = partials.find(&offer, 0).unwrap().unwrap();
    let place = directory.path().join("f");
    std::fs::rename(directory.path().join(PARTIAL_DIRECTORY).join(name(&offer, 0)), &place).unwrap();
    assert!(go_on(&partials, &offer, same).unwrap().is_none());
    assert_eq!(std::fs::read(place).unwrap(), b"abcd");
    drop(first);
}

#[test]
fn what_this_process_wrote_need_not_be_read_again() {
    let (directory, partials) = partials(u64::MAX);
    let offer = offer("f", 1000);
    drop(write(&partials, &offer, &[1; 700]));
    assert!(partials.find(&offer, 0).unwrap().unwrap().state.is_some());
    // Somebody else's writing is noticed.
    let path = directory.path().join(PARTIAL_DIRECTORY).join(name(&offer, 0));
    std::fs::write(&path, [2; 700]).unwrap();
    assert!(partials.find(&offer, 0).unwrap().unwrap().state.is_none());
    drop(partials);
    assert_eq!(found(&open_in(&directory, u64::MAX), &offer), Some((0, 700)));
}

#[test]
fn what_rests_longest_makes_way_when_space_runs_out() {
    let (directory, partials) = partials(1000);
    drop(write(&partials, &offer("oldest", 900), &[1; 400]));
    drop(write(&partials, &offer("older", 900), &[1; 400]));
    let now = write(&partials, &offer("now", 1000), &[1; 200]);
    assert_eq!(partials.room(&offer("new", 1), None).unwrap().bytes, 800);
    now.write(&[1; 300]).unwrap();
    assert_eq!(on_disk(&directory), [400, 500], "one was enough");
    assert!(found(&partials, &offer("oldest", 900)).is_none());
    // What somebody gets on with stays, however long there is no room for others.
    let other = partials.begin(&offer("other", 1000), Start::default()).unwrap().unwrap();
    other.write(&[1; 400]).unwrap();
    let error = other.write(&[1; 200]).unwrap_err();
    assert!(
        error.kind() == io::ErrorKind::StorageFull && error.to_string().contains("--partial-space"),
        "{error}"
    );
    assert_eq!(found(&partials, &offer("now", 1000)), Some((0, 500)));
    // It is whoever comes in second that gives up, so that the first can finish.
    drop(other);
    now.write(&[1; 500]).unwrap();
    assert_eq!(on_disk(&directory), [1000]);
    // Who stands still for a minute counts as gone.
    rest(&partials, &offer("now", 1000), 0, STALLED);
    drop(write(&partials, &offer("last", 10), &[1; 10]));
    assert!(now.write(b"").is_err());
    assert_eq!(on_disk(&directory), [10]);
}

#[test]
fn holes_and_files_of_earlier_processes_are_counted_as_what_they_take() {
    let (directory, first) = partials(1 << 20);
    let offer_ = offer("sparse", 1 << 30);
    let sparse = first.begin(&offer_, Start::default()).unwrap().unwrap();
    for _ in 0..1000 {
        sparse.write(&[0; 65_536]).unwrap();
    }
    assert_eq!(lock(&first.index).bytes(), 0);
    drop(sparse);
    drop(write(&first, &offer("full", 1 << 20), &[1; 500_000]));
    drop(first);
    let second = open_in(&directory, 1 << 20);
    let bytes = lock(&second.index).bytes();
    assert!((500_000..600_000).contains(&bytes), "{bytes}");
    assert_eq!(found(&second, &offer_).map(|found| found.1), Some(65_536_000));
}

#[test]
fn heaps_of_little_files_have_an_end_and_drive_out_nothing_large() {
    let (directory, partials) = partials(u64::MAX);
    drop(write(&partials, &offer("large", 1000), &[1; 900]));
    let count = AtomicU32::new(0);
    let next = || format!("little {}", count.fetch_add(1, Ordering::Relaxed));
    for _ in 0..FILES_MAX + 50 {
        drop(write(&partials, &offer(&next(), 2), b"x"));
    }
    assert_eq!(on_disk(&directory).len(), FILES_MAX);
    assert!(found(&partials, &offer("large", 1000)).is_some());
}

#[test]
fn what_never_had_content_leaves_nothing_behind() {
    let (directory, partials) = partials(u64::MAX);
    drop(partials.begin(&offer("f", 10), Start::default()).unwrap().unwrap());
    assert!(on_disk(&directory).is_empty());
    write(&partials, &offer("f", 10), b"abc").discard();
    assert!(on_disk(&directory).is_empty());
    let index = lock(&partials.index);
    assert_eq!((index.bytes(), index.count()), (0, 0));
}
