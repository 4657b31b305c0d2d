//! Sends every message back where it came from, on the stream it came on.
//!
//! `cargo run --example echo_server -- 127.0.0.1:9899 [::1]:9899`

use std::net::SocketAddr;

use whimbrel::{Association, Endpoint};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let addresses: Vec<SocketAddr> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let endpoint = Endpoint::bind(addresses).await?;
    let listener = endpoint.listen(7)?;
    println!("listening on SCTP port 7 of {:?}", endpoint.local_addresses());
    loop {
        let association = listener.accept().await?;
        tokio::spawn(async move {
            let peer = association.initial_route().remote;
            println!("{peer} has come");
            match echo(&association).await {
                Ok(()) => println!("{peer} has left"),
                Err(error) => println!("{peer}: {error}"),
            }
        });
    }
}

async fn echo(association: &Association) -> Result<(), Box<dyn std::error::Error>> {
    while let Some(received) = association.recv().await? {
        let stream = association.stream(received.stream.0).ok_or("we have fewer streams than the peer")?;
        stream.with_ppid(received.ppid.0).send(received.payload).await?;
    }
    Ok(())
}
