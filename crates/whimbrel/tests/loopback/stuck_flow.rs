use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::net::UdpSocket;
use whimbrel::{Association, Endpoint, Listener, PathState};

use crate::support::*;

/// What a [`Translator`] lets pass.
const ALL: u8 = 0;
const NOTHING: u8 = 1;
const THE_FIRST: u8 = 2;
const OTHERS: u8 = 3;

fn passes(now: &AtomicU8, is_first: bool) -> bool {
    match now.load(Ordering::Relaxed) {
        ALL => true,
        THE_FIRST => is_first,
        OTHERS => !is_first,
        _ => false,
    }
}

/// A translator between a client and the server that lets the client's first port pass, or all others, or both, or none.
struct Translator {
    now: Arc<AtomicU8>,
    task: tokio::task::JoinHandle<()>,
}

impl Translator {
    async fn start(server: &Endpoint, now: u8) -> (Self, SocketAddr) {
        let entry = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (remote, now) = (entry.local_addr().unwrap(), Arc::new(AtomicU8::new(now)));
        let task = tokio::spawn(translate(Arc::new(entry), server.local_addresses()[0], Arc::clone(&now)));
        (Self { now, task }, remote)
    }

    fn set(&self, now: u8) {
        self.now.store(now, Ordering::Relaxed);
    }
}

impl Drop for Translator {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn translate(entry: Arc<UdpSocket>, server: SocketAddr, now: Arc<AtomicU8>) {
    let mut exits: BTreeMap<SocketAddr, Arc<UdpSocket>> = BTreeMap::new();
    let mut first = None;
    let mut answers = tokio::task::JoinSet::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((length, client)) = entry.recv_from(&mut buffer).await else { continue };
        let is_first = *first.get_or_insert(client) == client;
        if let Entry::Vacant(vacant) = exits.entry(client) {
            let exit = Arc::clone(vacant.insert(Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap())));
            let (entry, now) = (Arc::clone(&entry), Arc::clone(&now));
            answers.spawn(async move {
                let mut buffer = vec![0; 65_536];
                loop {
                    let Ok((length, _)) = exit.recv_from(&mut buffer).await else { continue };
                    if passes(&now, is_first) {
                        let _ = entry.send_to(&buffer[..length], client).await;
                    }
                }
            });
        }
        if passes(&now, is_first) {
            let _ = exits[&client].send_to(&buffer[..length], server).await;
        }
    }
}

/// A client and the server, by a translator that lets this pass to begin with.
async fn connected(now: u8) -> (Translator, [Endpoint; 2], [Association; 2]) {
    let [client, server] = [endpoint().await, endpoint().await];
    let (translator, remote) = Translator::start(&server, now).await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = called(&client, remote, &listener).await;
    (translator, [client, server], [near, far])
}

async fn called(client: &Endpoint, remote: SocketAddr, listener: &Listener) -> (Association, Association) {
    let remotes = [remote];
    let (near, far) = soon(async { tokio::join!(client.connect(&remotes, PORT), listener.accept()) }).await;
    (near.unwrap(), far.unwrap())
}

async fn say(from: &Association, to: &Association, number: usize) {
    from.send(message(1, content(number, 3_000))).await.unwrap();
    let received = soon(to.recv()).await.unwrap().unwrap();
    assert_eq!(received.payload, content(number, 3_000));
}

/// The same association goes on, both ways, from another port of the client.
#[tokio::test]
async fn an_association_leaves_a_flow_that_no_longer_passes() {
    let (translator, [client, _server], [near, far]) = connected(ALL).await;
    say(&near, &far, 0).await;
    say(&far, &near, 1).await;
    translator.set(OTHERS);
    say(&near, &far, 2).await;
    say(&far, &near, 3).await;
    let name = client.local_addresses()[0];
    assert!(near.paths().await.iter().all(|path| path.route.local == name), "nobody hears of the port");
}

/// A firewall that has no other port pass than the one that it knows: after an outage in which the client has tried another one, it is heard on the first and returns there.
#[tokio::test]
async fn a_client_returns_to_its_first_port_where_it_is_heard_there() {
    let (translator, _endpoints, [near, far]) = connected(ALL).await;
    say(&near, &far, 0).await;
    translator.set(NOTHING);
    near.send(message(1, content(1, 3_000))).await.unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    translator.set(THE_FIRST);
    assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(1, 3_000));
    say(&far, &near, 2).await;
}

/// The flow of the very first packet is stuck.
#[tokio::test]
async fn what_is_being_set_up_tries_another_port() {
    let (_translator, _endpoints, [near, far]) = connected(OTHERS).await;
    say(&near, &far, 0).await;
    say(&far, &near, 1).await;
}

/// A second association by the same address is stuck and cannot have another port as long as the first one works; it gets one once the first has ended, however long it has been silent by then.
#[tokio::test]
async fn who_is_stuck_beside_another_leaves_the_flow_once_alone() {
    let client = endpoint().await;
    let servers = [endpoint().await, endpoint().await];
    let [(_passes, first), (translator, second)] =
        [Translator::start(&servers[0], ALL).await, Translator::start(&servers[1], ALL).await];
    let listeners = servers.each_ref().map(|server| server.listen(PORT).unwrap());
    let (near, far) = called(&client, first, &listeners[0]).await;
    let (stuck, far_stuck) = called(&client, second, &listeners[1]).await;
    say(&stuck, &far_stuck, 0).await;
    translator.set(OTHERS);
    stuck.send(message(1, content(1, 3_000))).await.unwrap();
    let silent = async {
        while stuck.paths().await.iter().any(|path| path.state != PathState::Inactive) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    soon(silent).await;
    // Longer than the silence after which the port would have been changed.
    tokio::time::sleep(Duration::from_secs(5)).await;
    say(&near, &far, 0).await;
    near.abort(&b"enough"[..]);
    assert_eq!(soon(far_stuck.recv()).await.unwrap().unwrap().payload, content(1, 3_000));
}

/// A translator before the caller lets only that pass which comes from where the caller has sent to.
#[tokio::test]
async fn who_listens_is_called_at_the_first_port() {
    let (translator, [client, _server], [near, far]) = connected(ALL).await;
    say(&near, &far, 0).await;
    translator.set(OTHERS);
    say(&near, &far, 1).await;
    let listener = client.listen(PORT).unwrap();
    let (front, exit) =
        (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    exit.connect(client.local_addresses()[0]).await.unwrap();
    let remote = front.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut from, mut there, mut back) = (None, vec![0; 65_536], vec![0; 65_536]);
        loop {
            tokio::select! {
                Ok((length, caller)) = front.recv_from(&mut there) => {
                    from = Some(caller);
                    let _ = exit.send(&there[..length]).await;
                }
                Ok(length) = exit.recv(&mut back) => {
                    let Some(caller) = from else { continue };
                    let _ = front.send_to(&back[..length], caller).await;
                }
            }
        }
    });
    let caller = endpoint().await;
    let (near, far) = called(&caller, remote, &listener).await;
    say(&near, &far, 0).await;
}

/// Whoever sends from the peer's address to the first port, without a word of the association, does not have the client stay there.
#[tokio::test]
async fn noise_on_the_first_port_keeps_nobody_there() {
    let (translator, [client, _server], [near, far]) = connected(ALL).await;
    say(&near, &far, 0).await;
    translator.set(OTHERS);
    let first = client.local_addresses()[0];
    let noise = tokio::spawn(async move {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        loop {
            let _ = socket.send_to(b"x", first).await;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    say(&near, &far, 1).await;
    noise.abort();
}
