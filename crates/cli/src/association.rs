//! The file transfer's link over a real association.

use whimbrel::{Association, Message, Part, PayloadProtocolId, RecvError, SendError, StreamId};

use crate::transfer::link::{Frame, Link, LinkError};
use crate::transfer::protocol::PPID_DATA;

impl Link for Association {
    fn streams(&self) -> u16 {
        self.outbound_streams()
    }

    async fn send(&self, frame: Frame) -> Result<(), LinkError> {
        let mut message = Message::new(StreamId(frame.stream), frame.bytes);
        message.ppid = PayloadProtocolId(frame.ppid);
        Self::send(self, message).await.map_err(|error| self.lost(error))
    }

    async fn recv(&self) -> Result<Option<Frame>, LinkError> {
        match Self::recv(self).await {
            // Content may come in parts, since nothing depends on where a block of it ends.
            Ok(Some(received)) if received.part != Part::Whole && received.ppid.0 != PPID_DATA => {
                Err(LinkError::Lost("a control message is larger than the receive buffer".into()))
            }
            Ok(Some(received)) => {
                Ok(Some(Frame { stream: received.stream.0, ppid: received.ppid.0, bytes: received.payload }))
            }
            Ok(None) => Ok(None),
            Err(RecvError::Restarted) => Err(LinkError::Restarted),
            Err(error) => Err(LinkError::Lost(error.to_string())),
        }
    }
}

trait Lost {
    fn lost(&self, error: SendError) -> LinkError;
}

impl Lost for Association {
    /// Why the association ended says more than that it did.
    fn lost(&self, error: SendError) -> LinkError {
        LinkError::Lost(self.close_reason().map_or_else(|| error.to_string(), |reason| reason.to_string()))
    }
}
