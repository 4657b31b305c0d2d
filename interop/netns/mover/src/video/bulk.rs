//! The kernel's TCP as the competing traffic.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::clock::Begin;

/// Sends until the other end goes away.
pub(crate) async fn flow(
    begin: Begin,
    to: SocketAddr,
    start: Duration,
    congestion: &str,
) -> anyhow::Result<()> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    socket
        .set_tcp_congestion(congestion.as_bytes())
        .with_context(|| format!("this kernel has no congestion control {congestion}"))?;
    begin.wait(start).await;
    socket.connect(&to.into()).with_context(|| format!("connecting to {to}"))?;
    socket.set_nonblocking(true)?;
    let used = socket.tcp_congestion()?;
    println!("{}", json!({"congestion": String::from_utf8_lossy(&used).trim_end_matches('\0')}));
    let mut stream = TcpStream::from_std(socket.into())?;
    let content = [0; 65_536];
    while stream.write_all(&content).await.is_ok() {}
    Ok(())
}

/// Counts what one flow brings, measurement point by measurement point.
pub(crate) async fn sink(begin: Begin, listen: SocketAddr, point: Duration) -> anyhow::Result<()> {
    let listener = TcpListener::bind(listen).await?;
    println!("{}", json!({"ready": true}));
    let (mut number, mut bytes) = (0_u32, 0_u64);
    let mut stream = None;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let end = point * (number + 1);
        tokio::select! {
            biased;
            () = begin.wait(end) => {
                println!("{}", json!({"point": number, "bytes": bytes}));
                (number, bytes) = (number + 1, 0);
            }
            accepted = listener.accept(), if stream.is_none() => stream = Some(accepted?.0),
            length = read(&mut stream, &mut buffer) => match length? {
                0 => return Ok(()),
                length => bytes += length as u64,
            },
        }
    }
}

async fn read(stream: &mut Option<TcpStream>, buffer: &mut [u8]) -> std::io::Result<usize> {
    match stream {
        Some(stream) => stream.read(buffer).await,
        None => std::future::pending().await,
    }
}
