use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

fn refusal(directory: &Path) -> String {
    prepare(directory).expect_err("not safe").to_string()
}

#[test]
fn the_directory_is_made_for_its_owner_alone() {
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("whimbrel");
    prepare(&directory).unwrap();
    assert_eq!(std::fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
    // One that others could only read is closed to them.
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    prepare(&directory).unwrap();
    assert_eq!(std::fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_directory_that_others_could_have_prepared_is_refused() {
    let outer = TempDir::new().unwrap();
    let directory = outer.path().join("open");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(refusal(&directory).contains("can be written by others"));

    let elsewhere = outer.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let link = outer.path().join("link");
    symlink(&elsewhere, &link).unwrap();
    assert!(refusal(&link).contains("is no directory"));

    if geteuid().is_root() {
        let theirs = outer.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(12345), None).unwrap();
        assert!(refusal(&theirs).contains("belongs to another user"));
    } else {
        println!("skipped: only root can make a directory of another user");
    }
}
