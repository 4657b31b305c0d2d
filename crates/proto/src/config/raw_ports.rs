/// Which SCTP ports an endpoint answers for directly on IP, where every SCTP stack of a host sees all packets (RFC 9260 §8.4).
/// Over UDP a socket is nobody else's, and all its packets are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RawPorts {
    /// Those that it listens on or has associations with, and those of associations that have ended lately, as far as their tags
    /// are right. What is for any other port may be for another stack, whose associations an answer would end.
    Own,
    /// All of them: no other SCTP stack, be it the kernel's or another process, has an address of this endpoint.
    All,
}
