use core::time::Duration;

use tempfile::TempDir;
use tokio::time::sleep;

use super::*;
use crate::interfaces::{Board, ReceivedPower};

#[tokio::test]
async fn datagrams_are_facts_and_nonsense_is_reported() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("links");
    let source = FactSocket::bind(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let board = Board::new(|| {});
    let mut running = board.start(vec![Box::new(source)]);
    let user = UnixDatagram::unbound().unwrap();
    let long = vec![b' '; 2 * LINE_BYTES_MAX];
    for line in [&b"{\"interface\": \"wlan0\", \"signal_dbm\": -71}"[..], b"nonsense", &long] {
        user.send_to(line, &path).await.unwrap();
    }
    let mut complaints = Vec::new();
    let mut signal = None;
    for _ in 0..1000 {
        let news = board.take();
        complaints.extend(news.complaints);
        signal = signal.or(news.interfaces.and_then(|all| all.0.get("wlan0")?.properties.signal));
        if complaints.len() == 2 && signal.is_some() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(signal, Some(ReceivedPower::from_dbm(-71.0)));
    assert!(complaints[0].text.contains("expected an object"), "{complaints:?}");
    assert_eq!(complaints[1].text, "longer than 4096 bytes");
    running.shutdown().await;
    assert!(!path.exists(), "the socket goes with its source");
}

#[tokio::test]
async fn what_is_in_the_way_is_kept_unless_it_is_dead() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let error = FactSocket::bind(&file).unwrap_err().to_string();
    assert!(error.contains("something else of that name"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");

    let path = directory.path().join("links");
    let alive = FactSocket::bind(&path).unwrap();
    let error = FactSocket::bind(&path).unwrap_err().to_string();
    assert!(error.contains("another process listens there"), "{error}");
    drop(alive);

    drop(std::os::unix::net::UnixDatagram::bind(&path).unwrap());
    assert!(path.exists(), "left behind");
    FactSocket::bind(&path).unwrap();
}
