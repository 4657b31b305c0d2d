/// What a sender does with data in flight when its primary path changes, because the user or the peer wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrimaryChangeRule {
    /// New data takes the new path, what is in flight is left to acknowledgements and timers (RFC 9260 §6.4). Right as long as
    /// the old path still delivers.
    Standard,
    /// One packet of new data goes first and alone; its acknowledgement tells what was lost (paper c04 section 2.2, where lost
    /// data takes the primary path only: [`RetransmissionPath::Primary`](super::RetransmissionPath::Primary)).
    ProbeFirst,
    /// As `Standard`; but once T3-rtx has expired on the old path, and what it called lost waits, nothing is sent before that timer expires again or a
    /// SACK comes (plain m-SCTP in paper d10, section II.B, with [`RetransmissionPath::Primary`](super::RetransmissionPath::Primary)). For
    /// comparison: a change of the primary path is a good moment to send.
    AwaitTimer,
    /// What is in flight on the old path is retransmitted at once (m-SCTP+ in paper d10).
    RetransmitAtOnce,
    /// All that is unacknowledged is resent on the new path before any new data (UFA+ in paper d10, with
    /// [`RetransmissionPath::Primary`](super::RetransmissionPath::Primary)).
    LostFirst,
}
