use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::UdpSocket;
use whimbrel::Association;

use crate::support::*;

/// A translator between a client and the server that lets the client's first port pass no more once `stuck`, and any other.
struct Translator {
    stuck: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Translator {
    fn start(entry: UdpSocket, server: SocketAddr) -> Self {
        let stuck = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(translate(Arc::new(entry), server, Arc::clone(&stuck)));
        Self { stuck, task }
    }
}

impl Drop for Translator {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn translate(entry: Arc<UdpSocket>, server: SocketAddr, stuck: Arc<AtomicBool>) {
    let mut exits: BTreeMap<SocketAddr, Arc<UdpSocket>> = BTreeMap::new();
    let mut first = None;
    let mut answers = tokio::task::JoinSet::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let Ok((length, client)) = entry.recv_from(&mut buffer).await else { continue };
        let passes = *first.get_or_insert(client) != client || !stuck.load(Ordering::Relaxed);
        if let Entry::Vacant(vacant) = exits.entry(client) {
            let exit = Arc::clone(vacant.insert(Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap())));
            let (entry, stuck, is_first) = (Arc::clone(&entry), Arc::clone(&stuck), first == Some(client));
            answers.spawn(async move {
                let mut buffer = vec![0; 65_536];
                loop {
                    let Ok((length, _)) = exit.recv_from(&mut buffer).await else { continue };
                    if !(is_first && stuck.load(Ordering::Relaxed)) {
                        let _ = entry.send_to(&buffer[..length], client).await;
                    }
                }
            });
        }
        if passes {
            let _ = exits[&client].send_to(&buffer[..length], server).await;
        }
    }
}

async fn say(from: &Association, to: &Association, number: usize) {
    from.send(message(1, content(number, 3_000))).await.unwrap();
    let received = soon(to.recv()).await.unwrap().unwrap();
    assert_eq!(received.payload, content(number, 3_000));
}

/// The same association goes on, both ways, from another port of the client.
#[tokio::test]
async fn an_association_leaves_a_flow_that_no_longer_passes() {
    let [client, server] = [endpoint().await, endpoint().await];
    let entry = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let remote = [entry.local_addr().unwrap()];
    let translator = Translator::start(entry, server.local_addresses()[0]);
    let listener = server.listen(PORT).unwrap();
    let (near, far) = soon(async { tokio::join!(client.connect(&remote, PORT), listener.accept()) }).await;
    let (near, far) = (near.unwrap(), far.unwrap());
    say(&near, &far, 0).await;
    say(&far, &near, 1).await;
    translator.stuck.store(true, Ordering::Relaxed);
    say(&near, &far, 2).await;
    say(&far, &near, 3).await;
    let name = client.local_addresses()[0];
    assert!(near.paths().await.iter().all(|path| path.route.local == name), "nobody hears of the port");
}
