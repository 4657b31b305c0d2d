//! One incoming transfer: an association, the inbox on its thread, and back-pressure between them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::inbox::{Inbox, Stop};
use super::link::{Frame, Link, LinkError};
use super::protocol::{Control, PPID_CONTROL};
use super::report::{OnFile, Tally};
use super::store::Store;

/// Frames that may wait for the disk: 2 MiB of file content.
const QUEUE: usize = 32;

/// How long a sender may take to greet.
const GREETING: Duration = Duration::from_secs(10);

/// Why an incoming transfer ended before the sender said that it was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    /// The association failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The peer misbehaved or gave up.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// A peer that connects and then says nothing must not keep others out.
    #[error("the sender said nothing for {} s", GREETING.as_secs())]
    Silent,
    /// A graceful close in the middle.
    #[error("the sender closed the connection before it was done")]
    Early,
}

/// Receives what the peer of `link` sends, until it is done and has closed.
///
/// On an error the unfinished files stay in the store and can be resumed.
pub(crate) async fn receive<L: Link>(
    link: &L,
    store: Arc<Store>,
    tally: Arc<Tally>,
    on_file: OnFile,
) -> Result<(), ReceiveError> {
    let (replies, mut outgoing) = mpsc::channel(QUEUE);
    let (frames, mut incoming) = mpsc::channel(QUEUE);
    let runtime = Handle::current();
    let worker = tokio::task::spawn_blocking(move || {
        let mut inbox = Inbox::new(store, replies, tally, on_file, runtime);
        let mut outcome = Ok(());
        while outcome.is_ok()
            && let Some(frame) = incoming.blocking_recv()
        {
            outcome = inbox.frame(frame);
        }
        inbox.settle();
        outcome.map(|()| inbox.is_complete())
    });
    let mut greeted = false;
    let feed = async {
        loop {
            let frame = match greeted {
                true => link.recv().await?,
                false => {
                    tokio::time::timeout(GREETING, link.recv()).await.map_err(|_| ReceiveError::Silent)??
                }
            };
            greeted = true;
            let Some(frame) = frame else { break };
            if frames.send(frame).await.is_err() {
                break;
            }
        }
        drop(frames);
        Ok::<_, ReceiveError>(())
    };
    let pump = async {
        while let Some(reply) = outgoing.recv().await {
            link.send(control(&reply)).await?;
        }
        // The inbox is gone: whatever the peer still sends is of no use.
        Ok::<_, ReceiveError>(())
    };
    let carried = {
        let mut pump = std::pin::pin!(pump);
        tokio::select! {
            ended = feed => match ended {
                // The peer has closed; the last results have nobody to go to, but the inbox waits for room for them.
                Ok(()) => pump.await.or(Ok(())),
                Err(lost) => Err(lost),
            },
            ended = &mut pump => ended,
        }
    };
    drop(outgoing);
    let stopped = worker.await.unwrap_or(Err(Stop::Gone));
    if let Err(stop @ (Stop::Malformed(_) | Stop::Version(_))) = &stopped {
        // The association may be gone as well; then there is nobody to tell.
        let _ = link.send(control(&Control::Fatal { text: stop.to_string() })).await;
    }
    match (stopped, carried) {
        (Err(Stop::Gone), Err(lost)) | (Ok(_), Err(lost)) => Err(lost),
        (Err(stop), _) => Err(stop.into()),
        (Ok(true), Ok(())) => Ok(()),
        (Ok(false), Ok(())) => Err(ReceiveError::Early),
    }
}

/// A control message as a frame.
pub(crate) fn control(message: &Control) -> Frame {
    let bytes: Bytes = message.encode();
    Frame { stream: 0, ppid: PPID_CONTROL, bytes }
}
