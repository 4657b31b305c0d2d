use serde_json::json;

use super::*;

fn files(path: &Path) -> Vec<String> {
    let mut texts: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    texts.sort();
    texts
}

#[test]
fn a_directory_has_a_file_for_each_association_until_its_last_word() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("new/");
    let mut place = at(&new).unwrap();
    for subject in [1, 2, 1] {
        assert!(place.put(subject, &json!({ "of": subject })).unwrap());
    }
    place.ended(1);
    assert!(place.put(1, &json!({ "of": 1, "last": true })).unwrap());
    place.flush().unwrap();
    let texts = files(&new);
    assert_eq!(texts.len(), 2, "{texts:?}");
    let of = |subject: u64| texts.iter().find(|text| text.contains(&format!("\"of\":{subject}"))).unwrap();
    assert_eq!((of(1).split('\x1e').count(), of(2).split('\x1e').count()), (5, 3));
    assert!(of(1).contains("JSON-SEQ") && of(1).contains("\"last\":true"));
}

#[test]
fn no_more_files_are_open_than_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = at(dir.path()).unwrap();
    for subject in 0..FILES_MAX as u64 {
        assert!(place.put(subject, &json!({})).unwrap());
    }
    assert!(!place.put(1000, &json!({})).unwrap());
    place.ended(0);
    assert!(place.put(1000, &json!({})).unwrap());
    for subject in 1..FILES_MAX as u64 {
        place.ended(subject);
        assert!(place.put(1000 + subject, &json!({})).unwrap());
    }
}

#[test]
fn a_name_that_is_no_directory_is_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.sqlog");
    let mut place = at(&file).unwrap();
    place.put(1, &json!({})).unwrap();
    place.put(2, &json!({})).unwrap();
    place.flush().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap().split('\x1e').count(), 4);
    assert!(at(&dir.path().join("nowhere/one.sqlog")).is_err());
}
