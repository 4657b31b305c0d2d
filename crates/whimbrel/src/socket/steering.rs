//! Several sockets for one address and port, one for each shard of an endpoint, and which of them the system gives a packet to.
//!
//! The system lets sockets share a port if all of them say so (`SO_REUSEPORT`) and belong to the same user. The first one here says so only
//! once it is bound: it finds out whether anybody else has the port, another endpoint with shards included, which would be willing to share.
//!
//! A program in the kernel (classic BPF, which needs no rights) then chooses the socket by its number in the order of binding. It sees
//! what UDP carries, an SCTP packet, and computes from its Verification Tag the shard that has issued it (`whimbrel_proto::Shard`).

use std::io;

use core::num::NonZeroU32;

/// Which of the sockets that share an address and a port a socket is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub(crate) number: u32,
    pub(crate) count: NonZeroU32,
}

impl Member {
    /// The only one.
    #[cfg(test)]
    pub(crate) const ALONE: Self = Self { number: 0, count: NonZeroU32::MIN };

    pub(crate) const fn is_alone(self) -> bool {
        self.count.get() == 1
    }

    /// To be called before binding a socket that joins others. The first one looks whether the port is free.
    pub(super) fn join(self, socket: &socket2::Socket) -> io::Result<()> {
        if self.number > 0 { socket.set_reuse_port(true) } else { Ok(()) }
    }

    /// As [`Self::join`], where another socket of the endpoint has found the port to be free.
    pub(super) fn join_any(self, socket: &socket2::Socket) -> io::Result<()> {
        if self.is_alone() { Ok(()) } else { socket.set_reuse_port(true) }
    }

    /// To be called after binding.
    pub(super) fn share(self, socket: &socket2::Socket) -> io::Result<()> {
        match self.number {
            _ if self.is_alone() => Ok(()),
            0 => socket.set_reuse_port(true),
            // There is a group of sockets only now. Where there is no such program, shards hand over what is not theirs.
            _ => system::steer(socket, self.count).or_else(unsupported),
        }
    }

    /// Lets a raw socket, which gets every packet to its address, keep those of its shard; an INIT is the first one's.
    pub(super) fn filter_raw(self, socket: &socket2::Socket, ipv4: bool) -> io::Result<()> {
        system::keep_own(socket, self, ipv4)
    }
}

fn unsupported(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub(super) fn steer(_: &socket2::Socket, _: NonZeroU32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn keep_own(_: &socket2::Socket, _: Member, _: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use nix::libc::{
        BPF_ABS, BPF_ALU, BPF_B, BPF_IND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_LDX, BPF_MOD, BPF_MSH,
        BPF_RET, BPF_W, sock_filter, sock_fprog,
    };
    use nix::sys::socket::{setsockopt, sockopt};
    use socket2::SockFilter;

    use super::*;

    /// Where the Verification Tag is in an SCTP packet.
    const TAG: u32 = 4;

    /// BPF_A: return the accumulator.
    const BPF_A: u32 = 0x10;

    const fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
        sock_filter { code: code as u16, jt, jf, k }
    }

    /// The remainder of the tag is the number of the socket. A packet without a tag, an INIT, is for any: for a number that no socket has, the system
    /// chooses one by the packet's addresses and ports.
    pub(super) fn steer(socket: &socket2::Socket, count: NonZeroU32) -> io::Result<()> {
        let mut program = [
            instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0, TAG),
            instruction(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
            instruction(BPF_RET | BPF_K, 0, 0, u32::MAX),
            instruction(BPF_ALU | BPF_MOD | BPF_K, 0, 0, count.get()),
            instruction(BPF_RET | BPF_A, 0, 0, 0),
        ];
        let program = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        Ok(setsockopt(socket, sockopt::AttachReusePortCbpf, &program)?)
    }

    /// Raw sockets over IPv4 see the IP header, too.
    pub(super) fn keep_own(socket: &socket2::Socket, member: Member, ipv4: bool) -> io::Result<()> {
        let filter = |code: u32, jt, jf, k| SockFilter::new(code as u16, jt, jf, k);
        let mut program = if ipv4 {
            vec![filter(BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0), filter(BPF_LD | BPF_W | BPF_IND, 0, 0, TAG)]
        } else {
            vec![filter(BPF_LD | BPF_W | BPF_ABS, 0, 0, TAG)]
        };
        program.extend([
            filter(BPF_ALU | BPF_MOD | BPF_K, 0, 0, member.count.get()),
            filter(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, member.number),
            filter(BPF_RET | BPF_K, 0, 0, u32::MAX),
            filter(BPF_RET | BPF_K, 0, 0, 0),
        ]);
        socket.attach_filter(&program)
    }
}

#[cfg(test)]
#[path = "steering_tests.rs"]
mod tests;
