use core::time::Duration;

/// Acknowledgement parameters (RFC 9260 §6.2).
#[derive(Clone, Debug)]
pub struct SackConfig {
    /// SACK.Delay, at most 500 ms.
    pub delay: Duration,
    /// A SACK is sent at once when this many packets with DATA are unacknowledged.
    pub packets: u32,
    /// What happens when DATA comes by another route than before.
    pub new_route: NewRoute,
    /// What happens when DATA comes out of order.
    pub out_of_order: OutOfOrder,
    /// Where SACKs, and copies of answers, go when nothing that is sent by the route of DATA or of a question seems to arrive.
    pub failed_route: FailedRoute,
    /// What SACKs say of what has come out of order.
    pub form: SackForm,
    /// When the peer is asked not to delay its SACK.
    pub requests: SackRequests,
}

/// When the I bit of a DATA chunk asks the peer not to delay its SACK (RFC 7053).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SackRequests {
    /// Where the user has asked, and where the sender waits for it: when the chunk fills the congestion window, goes out again after T3-rtx, or is the last one before SHUTDOWN
    /// (RFC 9260 §6.1, RFC 7053 §5.1).
    #[default]
    WhereTheSenderWaits,
    /// Where the user has asked, with [`Acknowledge::Immediately`](crate::Acknowledge::Immediately): senders of before 2013, when RFC 7053 appeared, ask for nothing by themselves.
    ByTheUser,
}

/// What SACKs say of what has come out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SackForm {
    /// That it is there, as long as the receiver needs the memory for nothing else (SACK, RFC 9260 §3.3.4): the sender keeps it until all that comes before has arrived, too.
    #[default]
    Renegable,
    /// Which of it the receiver will not drop any more, since its user has got it (NR-SACK, draft-natarajan-tsvwg-sctp-nrsack), if the peer says the same of itself: the sender's buffer
    /// has room for other data then. That is worth something where messages are unordered or of several streams, and losses leave gaps open for long, as on several paths
    /// at once.
    NonRenegable,
}

/// Where SACKs go when the path that DATA comes by is potentially failed or inactive: it may work in one direction only. Where no path works in both, it also decides whether answers
/// to HEARTBEATs and ASCONFs are copied to other paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailedRoute {
    /// To where the DATA came from, all the same.
    #[default]
    Follow,
    /// By the path that new data goes out on, if that is active. RFC 9260 §6.4 leaves the choice to the implementation. Answers are copied to other confirmed paths where no path works
    /// both ways.
    Avoid,
}

/// What happens when DATA comes by another route than before. SACKs follow it unless [`FailedRoute`] has it otherwise (RFC 9260 §6.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NewRoute {
    /// It is acknowledged at once: the peer has moved to another path, and can hardly wait to hear whether that one works.
    #[default]
    AcknowledgeAtOnce,
    /// It is acknowledged like any other: a peer that uses several paths at once changes the route all the time.
    Delay,
}

/// What happens when DATA comes out of order, or fills a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OutOfOrder {
    /// Each packet is acknowledged at once, as long as anything is missing (RFC 9260 §6.7).
    #[default]
    AcknowledgeAtOnce,
    /// It is acknowledged like any other, and SACKs say for how many packets they are (delayed acknowledgement for concurrent multipath
    /// transfer, DAC): with several paths something is missing all the time, and a SACK for each packet tells a peer nothing that judges losses
    /// for each path by itself. A peer that does not heed the number takes it for as little as it is worth to it.
    Delay,
}
