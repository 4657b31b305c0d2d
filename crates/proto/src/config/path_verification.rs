/// Whether an address has to prove that it leads to the peer before data goes there (RFC 9260 §5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathVerification {
    /// A HEARTBEAT has to be answered first. Of the addresses that the user named, [`PathPairing`](super::PathPairing) says whether
    /// they have to, too.
    Required,
    /// Every address that the peer lists or adds counts as confirmed at once, as in RFC 2960.
    ///
    /// **Not for any network that others can reach.** A peer can then name the address of a host that has nothing to do with it, and
    /// have a window's worth of data and any number of control chunks sent there. It also lets data go where nothing is known to
    /// arrive. It is there to repeat experiments that were made before verification was part of SCTP, and does what RFC 9260 §5.4 and
    /// RFC 5061 §5.3 F14 forbid.
    Omitted,
}
