use std::sync::{Arc, Mutex};

use core::time::Duration;

use whimbrel_machine::Record;
use whimbrel_proto::AssociationId;

use crate::events::AssociationEvent;
use crate::shared::lock;

/// Is told of every quantity of an endpoint's associations and paths when it has changed: states, windows, round-trip times.
///
/// | name | of | value |
/// |---|---|---|
/// | `state` | association | as in RFC 9260 section 4: `cookie-wait`, `established`, `shutdown-sent` … `closed` |
/// | `state` | path | `unconfirmed`, `active`, `potentially-failed`, `inactive`; at last `removed` |
/// | `in_use` | path | `yes` or `no`: whether new data goes out on it |
/// | `route` | path | its two addresses |
/// | `cwnd`, `ssthresh`, `flight_size` | path | bytes |
/// | `rto`, `srtt` | path | nanoseconds |
/// | `phase` | path | of congestion control: `slow-start`, `congestion-avoidance` … |
/// | `error_count` | path | consecutive errors |
/// | `pacing_rate` | path | bytes a second, where the controller paces |
/// | `bytes_sent`, `bytes_received` | path | bytes of packets so far |
/// | `data_retransmitted` | path | DATA chunks sent again so far |
/// | `fast_retransmits`, `timeouts`, `tail_probes` | path | so many so far |
///
/// [`Record::subject`] is the number of the association, [`Record::path`] that of the path.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use whimbrel::{Endpoint, Record};
///
/// let (records, seen) = std::sync::mpsc::sync_channel(1024);
/// // It is the endpoint's own task that calls: what takes long is left to others.
/// let recorder = move |at, record: Record| drop(records.try_send((at, record)));
/// let endpoint =
///     Endpoint::builder().addresses(["0.0.0.0:9899".parse()?]).recorder(recorder).bind().await?;
/// # drop(seen);
/// # Ok(())
/// # }
/// ```
pub trait Recorder: Send {
    /// A quantity has changed, this long after the endpoint began. The endpoint's task calls it and goes on when it returns: it must not block.
    fn record(&mut self, at: Duration, record: Record);

    /// Something has happened to an association that is up: its handovers are among these. A closure is not told.
    fn event(&mut self, at: Duration, association: AssociationId, event: &AssociationEvent) {
        let _ = (at, association, event);
    }
}

impl<F: FnMut(Duration, Record) + Send> Recorder for F {
    fn record(&mut self, at: Duration, record: Record) {
        self(at, record);
    }
}

/// The recorder of an endpoint, shared by its shards.
pub(crate) struct SharedRecorder(Arc<Mutex<Box<dyn Recorder>>>);

impl SharedRecorder {
    pub(crate) fn new(recorder: Box<dyn Recorder>) -> Self {
        Self(Arc::new(Mutex::new(recorder)))
    }

    /// For one of the shards.
    pub(crate) fn handle(&self) -> Box<dyn Recorder> {
        Box::new(Self(Arc::clone(&self.0)))
    }
}

impl Recorder for SharedRecorder {
    fn record(&mut self, at: Duration, record: Record) {
        lock(&self.0).record(at, record);
    }

    fn event(&mut self, at: Duration, association: AssociationId, event: &AssociationEvent) {
        lock(&self.0).event(at, association, event);
    }
}
