use core::time::Duration;

use whimbrel_proto::{Config, PathShape};

use super::{OldAddress, Transition, UfaPlus};

/// The RTO of a path on which nothing has been measured (RFC 9260 §16: RTO.Initial was 3 s when the paper was written).
const RTO: Duration = Duration::from_secs(3);

/// UFA++: as UFA+, and the new path begins with the bandwidth-delay product that message 5 has named as its window and threshold. Without one it
/// begins as any path does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UfaPlusPlus;

impl Transition for UfaPlusPlus {
    fn configure(&self, config: &mut Config) {
        UfaPlus.configure(config);
    }

    fn shape(&self, bdp: Option<u64>) -> Option<PathShape> {
        let bytes = usize::try_from(bdp?).ok()?;
        Some(PathShape { cwnd: Some(bytes), ssthresh: Some(bytes), rto: Some(RTO) })
    }

    fn old_address(&self) -> OldAddress {
        OldAddress::GoesAtOnce
    }
}
