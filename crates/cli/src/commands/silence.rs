//! Whether a peer that is silent is still there.
//!
//! A host that has restarted cannot end an association that has keys: its ABORT is not authenticated, and is dropped
//! (RFC 4895 §6.3). What it can do is set up another one, which shows that it has the key.

use std::time::Duration;

use whimbrel::{Association, PathState};

/// What a sender says that has made another connection for nothing.
pub(super) const OLD_WORKS: &str = "the old connection works again";

/// How often to look.
const LOOK: Duration = Duration::from_millis(500);
/// After so long without a path that works it is worth asking whether the peer was started anew.
const SILENT: Duration = Duration::from_secs(5);
/// And after so long where something comes that is not the peer's: that is how a host answers that has restarted. Anybody could send such a thing, who
/// would have us ask once more in each silence.
const REFUSED: Duration = Duration::from_secs(1);
/// The longest rest between two attempts.
const RARELY: Duration = Duration::from_secs(60);
/// How long an attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);
/// How long the answer to a HEARTBEAT may take where the network works.
const ANSWER: Duration = Duration::from_secs(2);

/// Whether no path works now.
pub(super) async fn is_silent(association: &Association) -> bool {
    association.paths().await.iter().all(|path| path.state != PathState::Active)
}

/// Packets that are no peer's with the keys.
async fn refused(association: &Association) -> u64 {
    association.stats().await.map_or(0, |stats| stats.packets_dropped)
}

/// Those of `associations` whose peers do not answer now. A network that has just come back is not known to work
/// before something has crossed it, so all are asked.
pub(super) async fn unanswering(mut associations: Vec<Association>) -> Vec<Association> {
    for association in &associations {
        for path in association.paths().await {
            association.request_heartbeat(path.id);
        }
    }
    let deadline = tokio::time::Instant::now() + ANSWER;
    loop {
        let mut silent = Vec::new();
        for association in associations {
            if is_silent(&association).await {
                silent.push(association);
            }
        }
        associations = silent;
        if associations.is_empty() || tokio::time::Instant::now() >= deadline {
            return associations;
        }
        tokio::time::sleep(ANSWER / 20).await;
    }
}

/// Waits until the peer of `association`, which has keys, is silent but sets up a new one: it does not know the old one
/// any more. While neither comes about, the network is down, and the old one goes on when it is heard again.
pub(super) async fn successor(
    association: &Association,
    connect: impl AsyncFn() -> Option<Association>,
) -> Association {
    let (mut silent, mut rest) = (Duration::ZERO, SILENT);
    let mut known = Some(0);
    loop {
        tokio::time::sleep(LOOK).await;
        if !is_silent(association).await {
            (silent, rest, known) = (Duration::ZERO, SILENT, Some(refused(association).await));
            continue;
        }
        silent += LOOK;
        let is_refused = match known {
            Some(known) if silent >= REFUSED => refused(association).await > known,
            _ => false,
        };
        if silent < rest && !is_refused {
            continue;
        }
        known = known.filter(|_| !is_refused);
        match tokio::time::timeout(ATTEMPT, connect()).await {
            // After an outage both may get through, and the new one first.
            Ok(Some(next)) if unanswering(vec![association.clone()]).await.is_empty() => {
                next.abort(OLD_WORKS);
            }
            Ok(Some(next)) => return next,
            Ok(None) | Err(_) => {}
        }
        silent = Duration::ZERO;
        if !is_refused {
            rest = (2 * rest).min(RARELY);
        }
    }
}
