//! What we say about ourselves in INIT and INIT ACK (RFC 9260 §3.3.2, §3.3.3).

use core::net::SocketAddr;

use whimbrel_wire::Parameter;

use super::translation::{Naming, nameable};
use crate::auth::offer::Offer;
use crate::config::{ChecksumPolicy, Config};
use crate::negotiate::supported_extensions;

/// Parameters of our INIT or INIT ACK at most, but for addresses and what is reported as unrecognized.
const PARAMETERS: usize = 8;

/// Which of our addresses INIT or INIT ACK lists: all if there are several (RFC 9260 §3.3.2.1), but none that is translated on the way
/// to the peer at `remotes` (RFC 6951 §5.7).
pub(crate) fn addresses_to_list(
    naming: Naming<'_>,
    locals: &[SocketAddr],
    remotes: &[SocketAddr],
) -> Vec<SocketAddr> {
    let mut known = nameable(naming, locals, remotes);
    known.retain(|local| !local.ip().is_unspecified());
    let several = locals.iter().filter(|local| !local.ip().is_unspecified()).nth(1).is_some();
    if several { known } else { Vec::new() }
}

/// Parameters common to our INIT and INIT ACK: the addresses `listed`, and extensions.
pub(crate) fn own_parameters<'a>(
    config: &Config,
    listed: &[SocketAddr],
    auth: Option<&'a Offer>,
    extensions: &'a [u8],
) -> Vec<Parameter<'a>> {
    let mut parameters = Vec::with_capacity(PARAMETERS + listed.len());
    parameters.extend(listed.iter().map(|local| Parameter::from(local.ip())));
    if let ChecksumPolicy::ZeroAcceptable { edmid } = config.checksum {
        parameters.push(Parameter::ZeroChecksumAcceptable(edmid));
    }
    if let Some(code) = config.dar.adaptation_indication {
        parameters.push(Parameter::AdaptationLayerIndication(code));
    }
    if let Some(auth) = auth {
        parameters.extend(auth.parameters());
    }
    parameters.extend(supported_extensions(extensions));
    parameters
}
