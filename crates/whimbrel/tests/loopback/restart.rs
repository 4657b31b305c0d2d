use std::net::SocketAddr;

use tokio::runtime::{Builder, Runtime};
use whimbrel::{Association, AssociationEvent, Config, Endpoint, RecvError};

use crate::support::*;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A client on fixed ports, so that its successor is the same host to the server.
async fn client(address: SocketAddr, server: &[SocketAddr]) -> (Endpoint, Association) {
    let mut config = Config::mobile();
    config.limits.send_buffer = 1 << 20;
    let builder = Endpoint::builder().addresses([address]).sctp_port(6001).config(config);
    let endpoint = builder.bind().await.unwrap();
    let association = soon(endpoint.connect(server, PORT)).await.unwrap();
    (endpoint, association)
}

/// The peer's host reboots: the reader is told between the messages of the old life and those of the new one, and the
/// association goes on (RFC 9260 §5.2.4 A).
#[test]
fn a_restart_is_never_overlooked() {
    let here = runtime();
    let server = here.block_on(endpoint());
    let listener = server.listen(PORT).unwrap();
    let addresses = server.local_addresses();

    let there = runtime();
    let serving = here.spawn(async move { (listener.accept().await.unwrap(), listener) });
    let (is_gone, gone) = tokio::sync::oneshot::channel();
    let server_thread = std::thread::spawn(move || {
        here.block_on(async move {
            let (far, _listener) = soon(serving).await.unwrap();
            let mut events = far.events();
            assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "first life");
            gone.await.unwrap();
            // Data for someone who is gone: it may be lost, but must not clog the send buffer for ever.
            for number in 0..20 {
                far.send(message(0, content(number, 10_000))).await.unwrap();
            }
            assert_eq!(soon(far.recv()).await, Err(RecvError::Restarted));
            assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, "second life");
            far.send(message(1, "welcome back".into())).await.unwrap();
            assert_eq!(soon(far.recv()).await.unwrap(), None, "graceful end");
            assert_eq!(far.send_queued(), 0, "what was lost in the restart is not waited for");
            while let Some(event) = soon(events.recv()).await {
                if matches!(event, AssociationEvent::Restarted { .. }) {
                    return;
                }
            }
            panic!("a restart is an event");
        });
    });

    let (first, address) = there.block_on(async {
        let (endpoint, association) = client(local("127.0.0.1:0"), &addresses).await;
        association.send(message(0, "first life".into())).await.unwrap();
        while association.send_queued() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let address = endpoint.local_addresses()[0];
        ((endpoint, association), address)
    });
    // Gone without a word: the runtime ends before any handle is dropped.
    drop(there);
    drop(first);
    // A host that is down says nothing, where one without the program would send ICMP errors.
    let silence = std::net::UdpSocket::bind(address).unwrap();
    is_gone.send(()).unwrap();
    // Long enough for the server to send into the void, not long enough for it to give up.
    std::thread::sleep(std::time::Duration::from_millis(100));
    drop(silence);

    runtime().block_on(async {
        let (_endpoint, association) = client(address, &addresses).await;
        association.send(message(0, "second life".into())).await.unwrap();
        loop {
            let received = soon(association.recv()).await.unwrap().unwrap();
            if received.payload == "welcome back" {
                break;
            }
        }
        soon(association.shutdown()).await.unwrap();
    });
    server_thread.join().unwrap();
}
