//! `whimbrel gateway run --check`

use std::io;
use std::path::Path;

use anyhow::Context;
use serde_json::json;
use whimbrel::secure::{Identity, IdentityError};
use whimbrel_gateway::Settings;

use crate::display::Display;
use crate::exit::Failure;
use crate::identity;

/// Says what a file means, and whose key the gateway has. Nothing is made: who checks a file may be somebody else than who runs the gateway, whose key would
/// then be one that the gateway cannot read.
pub(super) fn check(file: &Path, settings: &Settings, display: &Display) -> Result<(), Failure> {
    let path = match &settings.key_file {
        Some(path) => path.clone(),
        None => identity::path()?,
    };
    let key = match Identity::load(&path) {
        Ok(identity) => Some(identity.public_key().to_string()),
        Err(IdentityError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(anyhow::Error::from(error)).context("key-file").map_err(Failure::from),
    };
    let (gateways, hosts) = (settings.gateways.len(), settings.hosts.len());
    let users = settings.plain_sip.as_ref().map(|plain| plain.users.len());
    display.event(
        "checked",
        json!({ "gateways": gateways, "hosts": hosts, "users": users.unwrap_or(0), "key": key }),
    );
    let in_clear = users.map_or(String::new(), |users| format!(", {users} users of SIP in clear"));
    display.note(&format!("{} is good: {gateways} other gateways, {hosts} hosts{in_clear}", file.display()));
    display.note(&match key {
        Some(key) => format!("this gateway's key: {key}"),
        None => format!("there is no key yet; the gateway makes one when it begins: {}", path.display()),
    });
    Ok(())
}
