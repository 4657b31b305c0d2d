//! Senders that do not play by the rules, against a real receiver.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::net::SocketAddr;

use common::{PATIENCE, Running, send};
use tempfile::TempDir;
use whimbrel::{Association, Endpoint, Message, PayloadProtocolId, StreamId};

const SCTP_PORT: u16 = 7878;
const PPID_CONTROL: u32 = 0x5748_4600;
const BAD_NAME: u8 = 3;

async fn connect(address: &str) -> (Endpoint, Association) {
    let endpoint = Endpoint::bind(["127.0.0.1:0".parse::<SocketAddr>().unwrap()]).await.unwrap();
    let association = endpoint.connect(&[address.parse().unwrap()], SCTP_PORT).await.unwrap();
    (endpoint, association)
}

async fn say(association: &Association, bytes: Vec<u8>) {
    let mut message = Message::new(StreamId(0), bytes);
    message.ppid = PayloadProtocolId(PPID_CONTROL);
    // The receiver may have had enough already.
    let _ = association.send(message).await;
}

fn hello() -> Vec<u8> {
    [b"\x01WHFT\x00\x01".as_slice(), &[0; 16]].concat()
}

fn offer(names: &[&[u8]]) -> Vec<u8> {
    // Type, id 9, a file, 1 byte long, modified in 1970, not executable.
    let mut out = vec![3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    out.extend([0; 8]);
    out.extend([0, names.len() as u8]);
    for name in names {
        out.push(name.len() as u8);
        out.extend_from_slice(name);
    }
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_names_stay_out_and_the_receiver_goes_on() {
    let outer = TempDir::new().unwrap();
    let inner = outer.path().join("dir");
    std::fs::create_dir(&inner).unwrap();
    std::os::unix::fs::symlink(outer.path(), inner.join("link")).unwrap();
    let mut receiver = Running::recv(&inner, &[]);
    let (_endpoint, association) = connect(&receiver.address).await;
    say(&association, hello()).await;
    assert_eq!(association.recv().await.unwrap().unwrap().payload[0], 2, "a welcome");
    let names: [&[&[u8]]; 6] = [
        &[b"..", b"escape"],
        &[b"../escape"],
        &[b"/tmp/escape"],
        &[b""],
        &[b"a\0b"],
        &[b".whimbrel-partial", b"x"],
    ];
    for names in names {
        say(&association, offer(names)).await;
        let answer = association.recv().await.unwrap().unwrap().payload;
        assert_eq!((answer[0], answer[5]), (7, BAD_NAME), "{names:?}");
        assert_eq!(receiver.event("file")["outcome"], "bad-name");
    }
    say(&association, offer(&[b"link", b"escape"])).await;
    let answer = association.recv().await.unwrap().unwrap().payload;
    assert_eq!((answer[0], answer[5]), (7, 7), "a link is not followed");
    assert_eq!(std::fs::read_dir(outer.path()).unwrap().count(), 1, "nothing got out");
    // Names reach the terminal escaped.
    say(&association, offer(&[b"\x1b[2J", b".."])).await;
    assert_eq!(receiver.event("file")["name"], "link/escape");
    assert_eq!(receiver.event("file")["name"], "\\u{1b}[2J/..");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_ends_its_own_connection_only() {
    let directory = TempDir::new().unwrap();
    let mut receiver = Running::recv(directory.path(), &[]);
    for nonsense in [b"GET / HTTP/1.1\r\n".to_vec(), vec![0xff], offer(&[b"f"]), [hello(), hello()].concat()]
    {
        let (_endpoint, association) = connect(&receiver.address).await;
        say(&association, nonsense).await;
        say(&association, hello()).await;
        say(&association, hello()).await;
        let _ = tokio::time::timeout(PATIENCE, association.closed()).await.expect("an abort");
        assert_eq!(receiver.event("disconnected")["ok"], false);
    }
    let file = directory.path().join("source");
    std::fs::write(&file, b"content").unwrap();
    let address = receiver.address.clone();
    let output =
        tokio::task::spawn_blocking(move || send(&address, &[file.to_str().unwrap()])).await.unwrap();
    // It is its own target: the same content is there already.
    assert!(output.status.success());
}
