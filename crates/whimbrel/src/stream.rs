use bytes::Bytes;
use whimbrel_proto::{Acknowledge, Delivery, Message, SendError, Urgency};
use whimbrel_wire::{PayloadProtocolId, StreamId};

use crate::association::Association;
use crate::error::TrySendError;

/// Sends on one stream of an association. Messages of one stream arrive in order, and a lost one does not hold up
/// other streams.
///
/// A cheap handle that keeps the association alive, like a clone of it.
#[derive(Clone, Debug)]
pub struct Stream {
    association: Association,
    id: StreamId,
    ppid: PayloadProtocolId,
    delivery: Delivery,
    acknowledge: Acknowledge,
    urgency: Urgency,
}

impl Stream {
    pub(crate) fn new(association: Association, id: StreamId) -> Self {
        Self {
            association,
            id,
            ppid: PayloadProtocolId(0),
            delivery: Delivery::Ordered,
            acknowledge: Acknowledge::Delayed,
            urgency: Urgency::Usual,
        }
    }

    /// The same stream, sending with this payload protocol identifier (0 unless said otherwise).
    pub fn with_ppid(mut self, ppid: u32) -> Self {
        self.ppid = PayloadProtocolId(ppid);
        self
    }

    /// The same stream, sending ordered or unordered (ordered unless said otherwise).
    pub fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The same stream, asking the peer to acknowledge each message at once or not (RFC 7053; not unless said
    /// otherwise).
    pub fn with_acknowledge(mut self, acknowledge: Acknowledge) -> Self {
        self.acknowledge = acknowledge;
        self
    }

    /// The same stream, sending copies of each message by all paths or not (not unless said otherwise; see [`Urgency`]).
    ///
    /// ```
    /// use whimbrel::{Association, Config, Endpoint, Urgency};
    ///
    /// # async fn steer(peer: std::net::SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    /// let everything = "0.0.0.0:0".parse()?;
    /// let config = Config::mobile().combining_paths();
    /// let endpoint = Endpoint::builder().addresses([everything]).config(config).bind().await?;
    /// let association: Association = endpoint.connect(&[peer], 7000).await?;
    /// let commands = association.stream(1).expect("two streams").with_urgency(Urgency::Urgent);
    /// commands.send("stop").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_urgency(mut self, urgency: Urgency) -> Self {
        self.urgency = urgency;
        self
    }

    /// The stream's number.
    pub fn id(&self) -> u16 {
        self.id.0
    }

    /// The association that the stream belongs to.
    pub fn association(&self) -> &Association {
        &self.association
    }

    /// Sends `payload` as one message; as [`Association::send`] in everything else.
    ///
    /// # Errors
    /// As [`Association::send`].
    pub async fn send(&self, payload: impl Into<Bytes>) -> Result<(), SendError> {
        self.association.send(self.message(payload)).await
    }

    /// Sends `payload` as one message if there is room for it now.
    ///
    /// # Errors
    /// As [`Association::try_send`].
    pub fn try_send(&self, payload: impl Into<Bytes>) -> Result<(), TrySendError> {
        self.association.try_send(self.message(payload))
    }

    /// The message that [`Stream::send`] would send.
    pub fn message(&self, payload: impl Into<Bytes>) -> Message {
        Message {
            stream: self.id,
            ppid: self.ppid,
            delivery: self.delivery,
            acknowledge: self.acknowledge,
            urgency: self.urgency,
            payload: payload.into(),
        }
    }
}
