//! `--metrics`: the numbers of an endpoint or a gateway by HTTP/1.1 (RFC 9112), for Prometheus and `curl`. It knows one page, and closes each connection
//! after its answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use whimbrel::Endpoint;

/// Askers served at a time; others are sent away at once.
const ASKERS: usize = 8;
/// How long a question and its answer may take together.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a request's head at most.
const HEAD_MAX: usize = 8192;
/// Bytes that are read of what follows the head, so that the answer is not lost by the connection's reset.
const BODY_MAX: u64 = 65_536;
/// After an error of the system's, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What has numbers.
pub(crate) trait Numbers: Clone + Send + Sync + 'static {
    /// All of them as the text that Prometheus reads.
    fn prometheus(&self) -> impl Future<Output = String> + Send;
}

impl Numbers for Endpoint {
    async fn prometheus(&self) -> String {
        self.metrics().await.prometheus()
    }
}

/// An address to serve on: with a port alone, this host's own.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse()).map_err(|_| {
        format!("{text:?} is no address; give a port such as 9464, or IP:PORT such as 192.0.2.7:9464")
    })
}

/// Serves the numbers from now on; returns where.
pub(crate) async fn serve(address: SocketAddr, numbers: &impl Numbers) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let numbers = numbers.clone();
    tokio::spawn(async move {
        let room = Arc::new(Semaphore::new(ASKERS));
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
            let numbers = numbers.clone();
            tokio::spawn(async move {
                // Who asks too slowly, or goes before the answer is there, gets none.
                let _ = timeout(PATIENCE, attend(stream, &numbers)).await;
                drop(place);
            });
        }
    });
    Ok(address)
}

async fn attend(mut stream: TcpStream, numbers: &impl Numbers) -> io::Result<()> {
    let head = head(&mut stream).await?;
    let (answer, with_body) = match understand(&head) {
        Ok(method) => (answer("200 OK", "", &numbers.prometheus().await), method == Method::Get),
        Err(refusal) => (refusal, true),
    };
    let end =
        if with_body { answer.len() } else { answer.find("\r\n\r\n").map_or(answer.len(), |at| at + 4) };
    stream.write_all(&answer.as_bytes()[..end]).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(BODY_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

/// The head of a request, or as much of it as is read.
async fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    while head.len() < HEAD_MAX && !is_whole(&head) {
        if stream.take((HEAD_MAX - head.len()) as u64).read_buf(&mut head).await? == 0 {
            break;
        }
    }
    Ok(head)
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|four| four == b"\r\n\r\n")
}

/// What may be done with the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    Get,
    Head,
}

/// How the page is asked for; what to answer if it is not.
fn understand(head: &[u8]) -> Result<Method, String> {
    if !is_whole(head) {
        let (status, text) = match head.len() {
            HEAD_MAX.. => ("431 Request Header Fields Too Large", "too large\n"),
            _ => ("400 Bad Request", "no request\n"),
        };
        return Err(answer(status, "", text));
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = core::str::from_utf8(line).unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(answer("400 Bad Request", "", "no request\n"));
    };
    if target.split('?').next() != Some("/metrics") {
        return Err(answer("404 Not Found", "", "there is /metrics\n"));
    }
    match method {
        "GET" => Ok(Method::Get),
        "HEAD" => Ok(Method::Head),
        _ => Err(answer("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "GET it\n")),
    }
}

fn answer(status: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         X-Content-Type-Options: nosniff\r\n{more}Connection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
