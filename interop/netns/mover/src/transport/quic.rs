//! QUIC by quinn. The mover's socket is bound to the wildcard address, so its packets leave by the route that the host has; the
//! server validates the new address and follows (RFC 9000 §9). Certificates are not checked: only speed of recovery is compared.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

use super::{Terms, Transport, say_ready, say_sent_again, stream};
use crate::Direction;
use crate::pace::Pace;

const PROTOCOL: &[u8] = b"mover";

/// A connection outlives breaks that are shorter than the patience; a keep-alive finds out that the address has changed.
fn transport(terms: &Terms) -> anyhow::Result<Arc<TransportConfig>> {
    let mut config = TransportConfig::default();
    config.max_idle_timeout(Some(terms.patience.try_into()?));
    config.keep_alive_interval(Some(Duration::from_millis(200)));
    Ok(Arc::new(config))
}

pub(crate) async fn serve(listen: SocketAddr, terms: Terms) -> anyhow::Result<()> {
    let certified = rcgen::generate_simple_self_signed(["mover".to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut tls =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.into())?;
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport(&terms)?);
    let endpoint = Endpoint::server(config, listen)?;
    say_ready();
    let connection = endpoint.accept().await.context("the endpoint has closed")?.await?;
    let (mut writer, mut reader) = connection.accept_bi().await?;
    let work = stream::serve(Transport::Quic, &mut reader, &mut writer, terms);
    let result = count_sent_again(&connection, work).await;
    connection.closed().await;
    result
}

pub(crate) async fn connect(
    to: SocketAddr,
    direction: Direction,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = std::net::UdpSocket::bind((any, 0))?;
    let mut endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))?;
    let mut tls =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate))
            .with_no_client_auth();
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(&terms)?);
    endpoint.set_default_client_config(config);
    let connection = endpoint.connect(to, "mover")?.await?;
    let (mut writer, mut reader) = connection.open_bi().await?;
    let work = stream::connect(Transport::Quic, &mut reader, &mut writer, direction, pace, terms);
    let result = count_sent_again(&connection, work).await;
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    result
}

/// What is lost is sent again.
async fn count_sent_again(
    connection: &Connection,
    work: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let say = || say_sent_again(connection.stats().path.lost_bytes);
    let count = async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            say();
        }
    };
    let result = tokio::select! { result = work => result, () = count => unreachable!("counts for ever") };
    say();
    result
}

/// Takes any certificate.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
