use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;
use tokio::net::UnixListener;

use super::*;

#[tokio::test]
async fn sockets_of_the_dead_are_removed() {
    let directory = TempDir::new().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let dead = directory.path().join("1.sock");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let other = directory.path().join("notes.txt");
    std::fs::write(&other, "mine").unwrap();
    assert_eq!(ask_all_in(directory.path()).await.unwrap(), Answers::default());
    assert!(!dead.exists() && other.exists());
    assert_eq!(ask_all_in(&directory.path().join("none")).await.unwrap(), Answers::default());
}

/// A process that says nonsense, too much or nothing hides no other, and is not passed over in silence either.
#[tokio::test]
async fn a_process_that_misbehaves_is_named() {
    let directory = TempDir::new().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    for (name, answer) in
        [("1.sock", Some("nonsense\n")), ("2.sock", Some("{\"version\": 99}\n")), ("3.sock", None)]
    {
        let listener = UnixListener::bind(directory.path().join(name)).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut question = [0; 64];
            assert!(stream.read(&mut question).await.unwrap() > 0);
            match answer {
                Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap(),
                None => std::future::pending().await,
            }
        });
    }
    let answers = ask_all_in(directory.path()).await.unwrap();
    assert_eq!(answers.reports, []);
    let failed: Vec<(&str, &str)> = answers.failed.iter().map(|one| (one.pid.as_str(), one.reason)).collect();
    let words = "answers in another version's words";
    assert_eq!(failed, [("1", words), ("2", words), ("3", "does not answer")]);
    assert!(directory.path().join("3.sock").exists(), "it may only be busy");
}

#[tokio::test]
async fn a_directory_of_others_is_an_error() {
    let directory = TempDir::new().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(ask_all_in(directory.path()).await.unwrap_err().to_string().contains("can be written by others"));
}
