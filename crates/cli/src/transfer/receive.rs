//! One incoming transfer: an association, the inbox on its thread, and back-pressure between them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::inbox::Inbox;
use super::link::{Frame, Link, LinkError};
use super::protocol::{BLOCK, Control, Malformed, PPID_CONTROL};
use super::report::{OnFile, Tally};
use super::stop::Stop;
use super::store::Store;

/// Frames that may wait for the disk: 2 MiB of file content.
const QUEUE: usize = 32;

/// How long a sender may take to greet.
const GREETING: Duration = Duration::from_secs(10);

/// How long answers may find no room in the send buffer.
const UNREAD: Duration = Duration::from_secs(60);
/// How long there is room for a last word.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why an incoming transfer ended before the sender said that it was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    /// The association failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The same before the sender had said anything.
    #[error(transparent)]
    Unused(LinkError),
    /// The peer misbehaved or gave up.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// A peer that connects and then says nothing must not keep others out.
    #[error("the sender said nothing for {} s", GREETING.as_secs())]
    Silent,
    /// A peer that acknowledges nothing we answer.
    #[error("the sender does not read our answers")]
    Deaf,
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
    let carried = {
        let mut pump = std::pin::pin!(pump(link, &mut outgoing));
        tokio::select! {
            ended = feed(link, frames) => match ended {
                // The peer has closed; the last results have nobody to go to, but the inbox waits for room for them.
                Ok(()) => pump.await.or(Ok(())),
                Err(lost) => Err(lost),
            },
            ended = &mut pump => ended,
        }
    };
    drop(outgoing);
    let stopped = worker.await.unwrap_or(Err(Stop::Gone));
    if let (Err(stop @ (Stop::Malformed(_) | Stop::Version(_))), _) | (_, Err(ReceiveError::Stop(stop))) =
        (&stopped, &carried)
    {
        // The association may be gone as well, or full: then there is nobody to tell.
        let fatal = control(&Control::Fatal { text: stop.to_string() });
        let _ = tokio::time::timeout(FAREWELL, link.send(fatal)).await;
    }
    match (stopped, carried) {
        (Err(Stop::Gone), Err(lost)) | (Ok(_), Err(lost)) => Err(lost),
        (Err(stop), _) => Err(stop.into()),
        (Ok(true), Ok(())) => Ok(()),
        (Ok(false), Ok(())) => Err(ReceiveError::Early),
    }
}

/// Hands what the sender says to the inbox, until the sender has closed or nobody listens.
async fn feed<L: Link>(link: &L, frames: mpsc::Sender<Frame>) -> Result<(), ReceiveError> {
    let greeting = tokio::time::timeout(GREETING, link.recv()).await;
    let mut frame = greeting.map_err(|_| ReceiveError::Silent)?.map_err(ReceiveError::Unused)?;
    while let Some(next) = frame {
        // Nothing longer is ever sent, and what waits for the disk must not grow with what a peer sends.
        if next.bytes.len() > BLOCK {
            return Err(Stop::from(Malformed("a message is too long")).into());
        }
        if frames.send(next).await.is_err() {
            break;
        }
        frame = link.recv().await?;
    }
    Ok(())
}

/// Sends the inbox's answers, until it is gone: whatever the peer still sends then is of no use.
async fn pump<L: Link>(link: &L, outgoing: &mut mpsc::Receiver<Control>) -> Result<(), ReceiveError> {
    while let Some(reply) = outgoing.recv().await {
        // A sender that does not read fills our buffer with answers, and would keep its place for ever.
        let sent = tokio::time::timeout(UNREAD, link.send(control(&reply))).await;
        sent.map_err(|_| ReceiveError::Deaf)??;
    }
    Ok(())
}

/// A control message as a frame.
pub(crate) fn control(message: &Control) -> Frame {
    let bytes: Bytes = message.encode();
    Frame { stream: 0, ppid: PPID_CONTROL, bytes }
}
