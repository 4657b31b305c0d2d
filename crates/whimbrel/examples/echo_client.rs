//! Sends its standard input to an echo server line by line, prints what comes back, and on which path it all went.
//!
//! `cargo run --example echo_client -- 127.0.0.1:9899 [::1]:9899`, with `echo_server` on these addresses

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use whimbrel::Endpoint;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server: Vec<SocketAddr> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let endpoint = Endpoint::bind(loopback.map(|ip| SocketAddr::new(ip, 0))).await?;
    let association = endpoint.connect(&server, 7).await?;
    let stream = association.stream(0).ok_or("there is always a stream 0")?;
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if line.is_empty() {
            continue;
        }
        stream.send(line).await?;
        let Some(received) = association.recv().await? else { break };
        println!("{}", String::from_utf8_lossy(&received.payload));
    }
    for path in association.paths().await {
        println!("{} {:?}, {} packets sent", path.route, path.state, path.counters.packets_sent);
    }
    association.shutdown().await?;
    Ok(())
}
