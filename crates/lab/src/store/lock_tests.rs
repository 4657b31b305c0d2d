use super::*;

#[test]
fn results_do_not_go_into_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    fs::write(&file, "").unwrap();
    let error = Lock::of(&file, None).unwrap_err();
    assert!(error.to_string().contains("--out"), "{error}");
    assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
}
