//! A hundred thousand INITs (RFC 9260 §5.1.3, §12.2.4.1): the answer is all that is made, nothing is kept.
//!
//! How flatness is measured: everything a node owns derives `Debug` (keys aside), so its debug output is as long as
//! what it keeps; and the process's resident memory, read from the kernel, must not grow by what 100,000 kept INITs
//! would take (at 100 bytes each, 10 MB).

use core::net::{IpAddr, SocketAddr};

use whimbrel_proto::Config;
use whimbrel_wire::{Chunk, Parameter};

use whimbrel_testbed::peer::{Bench, Peer, UDP, route};

/// Bytes of memory in use, as far as the system tells.
fn resident() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split_whitespace().nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}

#[test]
fn a_flood_of_inits_leaves_no_trace() {
    const FLOOD: u32 = 100_000;
    let mut bench = Bench::new(Config::rfc());
    let flood = |bench: &mut Bench, from: u32, to: u32| {
        for n in from..to {
            let [_, b, c, d] = n.to_be_bytes();
            let peer = Peer { tag: n + 1, port: 1024 + (n % 60_000) as u16, ..Peer::new() };
            let mut from = route();
            from.remote = SocketAddr::new(IpAddr::from([10, 100 + b, c, d]), UDP);
            let listed = [Parameter::from(IpAddr::from([10, 200, c, d]))];
            bench.deliver_on(from, &peer.init(&listed));
            let answer = bench.take_only();
            assert!(matches!(answer.only(), Chunk::InitAck(_)));
        }
    };
    flood(&mut bench, 0, 1000);
    let (before, memory) = (format!("{:?}", bench.node), resident());
    flood(&mut bench, 1000, FLOOD);
    assert_eq!(bench.node.association_count(), 0);
    assert_eq!(bench.node.endpoint_stats().inits_answered, u64::from(FLOOD));
    let after = format!("{:?}", bench.node);
    assert!(after.len() < before.len() + 64, "kept: {} then {} bytes", before.len(), after.len());
    if let (Some(before), Some(after)) = (memory, resident()) {
        assert!(after < before + (4 << 20), "resident memory grew from {before} to {after} bytes");
    }
}

/// RFC 9260 §12.2.4.1: a burst within one step is answered as far as the queue goes and then dropped; the rest is as if lost.
#[test]
fn answers_waiting_to_be_sent_are_bounded() {
    use whimbrel_machine::{Ecn, Input, Machine, Sink, Transmit};
    #[derive(Default)]
    struct Count(usize);
    impl Sink<whimbrel_proto::Event> for Count {
        fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) {
            self.0 += bytes.len().div_ceil(transmit.segment);
        }
        fn event(&mut self, _: whimbrel_proto::Event) {}
    }
    let mut bench = Bench::new(Config::rfc());
    let init = Peer::new().init(&[]);
    let train: Vec<u8> = init.repeat(2000);
    let mut count = Count::default();
    let input = Input::Datagrams { route: route(), ecn: Ecn::NotCapable, bytes: &train, segment: init.len() };
    bench.node.step(bench.now, [input], &mut count);
    assert_eq!(count.0, 256);
}
