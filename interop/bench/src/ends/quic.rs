//! QUIC, by the crate quinn on a runtime of one thread: one stream, packets and buffers of the same size as everybody's, and the cipher that
//! Whimbrel prefers. QUIC has no messages; the reader knows their size.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig, VarInt};
use rcgen::{CertificateParams, KeyPair};
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::whimbrel::{HANDFUL, SMALL};
use super::{BUFFER, End, PACKET, Role};
use crate::measure::{EndReport, Meter};
use crate::train_socket::enlarge_buffers;

const NAME: &str = "bench.invalid";

/// An Ed25519 key in PKCS #8, before the 32 bytes of its seed (RFC 8410 section 7).
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

pub(super) fn run(end: &End) -> anyhow::Result<EndReport> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let end = end.clone();
    runtime.block_on(async { tokio::spawn(work(end)).await? })
}

async fn work(end: End) -> anyhow::Result<EndReport> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, end.port));
    match end.role {
        Role::Server => serve(&end, address).await,
        Role::Client => send(&end, address).await,
    }
}

async fn serve(end: &End, address: SocketAddr) -> anyhow::Result<EndReport> {
    let (certificate, key) = certificate()?;
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    tls.send_tls13_tickets = 0;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport());
    let endpoint = endpoint(address, Some(config))?;
    let connection = endpoint.accept().await.context("nobody came")?.await?;
    let mut stream = connection.accept_uni().await?;
    let meter = Meter::start()?;
    let mut bytes = 0;
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        bytes += chunk.bytes.len() as u64;
        std::hint::black_box(&chunk.bytes);
    }
    let report = meter.read()?;
    connection.closed().await;
    Ok(EndReport { bytes, messages: bytes / end.size as u64, ..report })
}

async fn send(end: &End, address: SocketAddr) -> anyhow::Result<EndReport> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()?.0)?;
    let tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport());
    let endpoint = endpoint((Ipv4Addr::LOCALHOST, 0).into(), None)?;
    let connection = endpoint.connect_with(config, address, NAME)?.await?;
    let mut stream = connection.open_uni().await?;
    let meter = Meter::start()?;
    let together = if end.size < SMALL { HANDFUL } else { 1 };
    let chunk = Bytes::from(vec![0x5a; end.size * together]);
    let mut messages = 0;
    while meter.elapsed() < Duration::from_secs(end.seconds) {
        stream.write_chunk(chunk.clone()).await?;
        messages += together as u64;
    }
    stream.finish()?;
    stream.stopped().await?;
    let report = meter.read()?;
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    Ok(EndReport { bytes: messages * end.size as u64, messages, ..report })
}

/// On a socket whose buffers are as large as those of the other stacks.
fn endpoint(address: SocketAddr, config: Option<ServerConfig>) -> anyhow::Result<Endpoint> {
    let socket = UdpSocket::bind(address)?;
    enlarge_buffers(&socket)?;
    let runtime = Arc::new(TokioRuntime);
    Ok(Endpoint::new(EndpointConfig::default(), config, socket, runtime)?)
}

fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
    Arc::new(CryptoProvider { cipher_suites, ..ring::default_provider() })
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.initial_mtu(PACKET as u16).mtu_discovery_config(None);
    transport.stream_receive_window(VarInt::from_u32(BUFFER as u32));
    transport.receive_window(VarInt::from_u32(BUFFER as u32)).send_window(BUFFER as u64);
    Arc::new(transport)
}

/// The server's, which both ends make of the same seed.
fn certificate() -> anyhow::Result<(CertificateDer<'static>, PrivateKeyDer<'static>)> {
    let key = PrivatePkcs8KeyDer::from([&PKCS8[..], &[7; 32]].concat());
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)?;
    let certificate = CertificateParams::new(vec![NAME.to_owned()])?.self_signed(&pair)?;
    Ok((certificate.der().clone(), PrivateKeyDer::Pkcs8(key)))
}
