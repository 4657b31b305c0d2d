use std::os::unix::fs::FileTypeExt;

use serde_json::Value;
use tempfile::TempDir;

use super::super::client::{Answers, ask_all_in};
use super::*;

async fn endpoint() -> Endpoint {
    Endpoint::bind(["127.0.0.1:0".parse().unwrap()]).await.unwrap()
}

async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(30), what).await.expect("takes too long")
}

#[tokio::test]
async fn associations_and_their_paths_are_told() {
    let directory = TempDir::new().unwrap();
    let server = endpoint().await;
    let listener = server.listen(5001).unwrap();
    let client = endpoint().await;
    let control =
        ControlSocket::start_in(directory.path(), "test", &client, &OrderedMoves::default()).unwrap();
    let metadata = std::fs::metadata(&control.path).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let remote = server.local_addresses();
    let (near, _far) = soon(async { tokio::join!(client.connect(&remote, 5001), listener.accept()) }).await;
    let near = near.unwrap();
    let reports = soon(ask_all_in(directory.path())).await.unwrap().reports;
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.pid, report.command.as_str()), (std::process::id(), "test"));
    assert_eq!(report.addresses, client.local_addresses());
    let [association] = &report.associations[..] else { panic!("{report:?}") };
    assert_eq!((association.remote_port, association.local_port), (5001, near.local_port()));
    let [path] = &association.paths[..] else { panic!("{association:?}") };
    assert_eq!((path.remote, path.state.as_str(), path.primary), (remote[0], "active", true));
    assert!(path.cwnd > 0 && path.rto_ms > 0.0);
    let socket = control.path.clone();
    drop(control);
    assert!(!socket.exists(), "it goes with its process");
    assert_eq!(soon(ask_all_in(directory.path())).await.unwrap(), Answers::default());
}

#[tokio::test]
async fn nonsense_is_answered_and_too_much_of_it_is_not_read() {
    let directory = TempDir::new().unwrap();
    let endpoint = endpoint().await;
    let control =
        ControlSocket::start_in(directory.path(), "test", &endpoint, &OrderedMoves::default()).unwrap();
    let mut stream = UnixStream::connect(&control.path).await.unwrap();
    stream.write_all(b"{\"request\": \"everything\"}\n").await.unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(stream);
    soon(reader.read_line(&mut line)).await.unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert!(answer["error"].as_str().unwrap().contains("unknown variant"), "{line}");

    let mut stream = UnixStream::connect(&control.path).await.unwrap();
    // The other end hangs up in the middle.
    let _ = stream.write_all(&vec![b' '; 100 * QUESTION_BYTES_MAX]).await;
    let mut rest = Vec::new();
    let _ = soon(stream.read_to_end(&mut rest)).await;
    assert_eq!(rest, b"");
    assert_eq!(soon(ask_all_in(directory.path())).await.unwrap().reports.len(), 1, "others are served");
}

/// Whoever opens connections and says nothing keeps a few places, and not for ever; the process itself goes on.
#[tokio::test]
async fn silent_askers_are_few() {
    let directory = TempDir::new().unwrap();
    let endpoint = endpoint().await;
    let control =
        ControlSocket::start_in(directory.path(), "test", &endpoint, &OrderedMoves::default()).unwrap();
    let mut silent = Vec::new();
    for _ in 0..ASKERS - 1 {
        silent.push(UnixStream::connect(&control.path).await.unwrap());
    }
    assert_eq!(soon(ask_all_in(directory.path())).await.unwrap().reports.len(), 1);
    drop(silent);
}
