//! `whimbrel key`

use serde_json::json;

use crate::args::KeyArgs;
use crate::exit::Failure;
use crate::identity;
use crate::output;

/// Prints this host's public key.
pub(crate) fn run(args: &KeyArgs) -> Result<(), Failure> {
    let key = identity::own()?.public_key().to_string();
    let path = identity::path()?;
    if args.json {
        output::line(&json!({ "event": "key", "key": key, "file": path.to_string_lossy() }).to_string());
    } else {
        output::line(&key);
    }
    Ok(())
}
