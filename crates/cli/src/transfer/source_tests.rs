use tempfile::TempDir;

use super::*;

#[test]
fn a_tree_is_listed_in_order_without_links() {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("tree");
    std::fs::create_dir_all(root.join("b/empty")).unwrap();
    std::fs::write(root.join("a"), b"12").unwrap();
    std::fs::write(root.join("b/c"), b"345").unwrap();
    std::os::unix::fs::symlink("/", root.join("link")).unwrap();
    let sources = Sources::collect(std::slice::from_ref(&root), true).unwrap();
    let names: Vec<String> = sources.list.iter().map(|source| source.offer.path.to_string()).collect();
    assert_eq!(names, ["tree", "tree/a", "tree/b", "tree/b/c", "tree/b/empty"]);
    assert_eq!((sources.files(), sources.bytes()), (2, 5));
    assert!(sources.list.iter().zip(0..).all(|(source, index)| source.offer.id == index));
    assert_eq!(sources.skipped.len(), 1);
    assert!(matches!(Sources::collect(&[root], false), Err(SourceError::Directory(_))));
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_is() {
    let directory = TempDir::new().unwrap();
    for name in ["x", "y"] {
        std::fs::create_dir(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name).join("f"), name).unwrap();
    }
    let twice = [directory.path().join("x/f"), directory.path().join("y/f")];
    assert!(matches!(Sources::collect(&twice, false), Err(SourceError::Twice(_))));
    let missing = [directory.path().join("nothing")];
    let error = Sources::collect(&missing, false).unwrap_err().to_string();
    assert!(error.contains("nothing") && error.contains("No such file"), "{error}");
    assert!(matches!(Sources::collect(&["-".into()], false), Err(SourceError::StandardInput)));
    assert!(matches!(Sources::collect(&["/dev/null".into()], false), Err(SourceError::Special(_))));
    assert!(matches!(Sources::collect(&["/".into()], true), Err(SourceError::Nameless(_))));
}

#[test]
fn a_name_that_cannot_be_sent_stays_behind_alone() {
    let directory = TempDir::new().unwrap();
    let tree = directory.path().join("tree");
    std::fs::create_dir_all(tree.join("bad\\dir")).unwrap();
    for name in ["a", "back\\slash", "bad\\dir/below", "z"] {
        std::fs::write(tree.join(name), b"x").unwrap();
    }
    let sources = Sources::collect(&[tree.clone(), tree.join("back\\slash")], true).unwrap();
    let names: Vec<String> = sources.list.iter().map(|source| source.offer.path.to_string()).collect();
    assert_eq!(names, ["tree", "tree/a", "tree/z"]);
    assert!(sources.list.iter().zip(0..).all(|(source, index)| source.offer.id == index));
    let unsendable: Vec<_> = sources
        .unsendable
        .iter()
        .map(|one| (one.location.clone(), one.path.to_string(), one.error))
        .collect();
    let expected =
        [("back\\slash", "tree/back\\slash"), ("bad\\dir", "tree/bad\\dir"), ("back\\slash", "back\\slash")];
    let expected = expected.map(|(at, name)| (tree.join(at), name.to_owned(), BadName::Separator));
    assert_eq!(unsendable, expected);
}

#[test]
fn a_directory_named_by_dots_has_its_real_name() {
    let directory = TempDir::new().unwrap();
    std::fs::create_dir_all(directory.path().join("real/sub")).unwrap();
    let sources = Sources::collect(&[directory.path().join("real/sub/..")], true).unwrap();
    assert_eq!(sources.list[0].offer.path.to_string(), "real");
}

#[test]
fn sizes_add_up_to_the_largest_number_at_most() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("f"), b"").unwrap();
    let mut sources = Sources::collect(&[directory.path().join("f")], false).unwrap();
    sources.list[0].offer.size = u64::MAX / 2;
    sources.list = vec![sources.list[0].clone(); 3];
    assert_eq!(sources.bytes(), u64::MAX);
}

#[test]
fn an_entry_that_has_gone_is_no_error() {
    let directory = TempDir::new().unwrap();
    assert!(look_at(&directory.path().join("gone")).unwrap().is_none());
    std::fs::write(directory.path().join("f"), b"").unwrap();
    assert!(look_at(&directory.path().join("f")).unwrap().is_some());
    assert!(look_at(&directory.path().join("f/below")).is_err());
}
