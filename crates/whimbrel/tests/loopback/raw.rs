use whimbrel::{BindError, Encapsulation, Endpoint};

use crate::support::*;

async fn raw(address: &str) -> Option<Endpoint> {
    let builder = Endpoint::builder().addresses([local(address)]).encapsulation(Encapsulation::RawIp);
    match builder.bind().await {
        Ok(endpoint) => Some(endpoint),
        Err(BindError::RawNotPermitted) => {
            println!("skipped: no right to open raw sockets");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Another SCTP stack on this machine with raw sockets on every address would abort what it does not know.
fn another_stack_is_here() -> bool {
    let sockets = |table| std::fs::read_to_string(table).unwrap_or_default();
    // Address all zeros, port 0084: protocol 132.
    ["/proc/net/raw", "/proc/net/raw6"].map(sockets).iter().any(|table| table.contains("00000000:0084"))
}

/// Two raw endpoints on one address see each other's packets; each keeps to its own ports.
#[tokio::test]
async fn raw_endpoints_share_an_address() {
    if another_stack_is_here() {
        println!("skipped: another SCTP stack is running on this machine");
        return;
    }
    // Raw sockets also see the packets of other runs of this test.
    let port = 1024 + (std::process::id() % 40_000) as u16;
    for (here, there) in [("127.0.0.71:0", "127.0.0.72:0"), ("[::1]:0", "[::1]:0")] {
        let (Some(client), Some(server), Some(bystander)) =
            (raw(here).await, raw(there).await, raw(there).await)
        else {
            return;
        };
        let listener = server.listen(port).unwrap();
        let _other = bystander.listen(port + 1).unwrap();
        let remote = server.local_addresses();
        let (near, far) =
            soon(async { tokio::join!(client.connect(&remote, port), listener.accept()) }).await;
        let (near, far) = (near.unwrap(), far.unwrap());
        for number in 0..50 {
            near.send(message(0, content(number, 5000))).await.unwrap();
            assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(number, 5000));
        }
        soon(near.shutdown()).await.unwrap();
    }
}
