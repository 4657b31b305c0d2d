//! NR-SACK: what a receiver will not drop any more makes room in the buffer of the sender (draft-natarajan-tsvwg-sctp-nrsack).

use whimbrel_proto::{AuthConfig, Config, SackForm};
use whimbrel_testbed::peer::{Bench, Peer, Sent, quiet};
use whimbrel_wire::draft::{CHUNK_NR_SACK, NrSack, NrSackBuilder};
use whimbrel_wire::{Chunk, Data, GapAckBlock, Parameter, SackBuilder, Tsn, chunk_type};

const LISTED: [Parameter<'static>; 1] = [Parameter::SupportedExtensions(&[CHUNK_NR_SACK])];

fn form(form: SackForm) -> Config {
    let mut config = quiet();
    config.sack.form = form;
    config
}

/// A node that has agreed with a peer on NR-SACKs.
fn agreed(config: Config) -> (Bench, Peer) {
    let (mut bench, mut peer) = (Bench::new(config), Peer::new());
    peer.begin(&mut bench, &LISTED);
    bench.deliver(&peer.cookie_echo());
    bench.take();
    (bench, peer)
}

/// Both kinds of blocks in the only acknowledgement among these packets; `None` if it is a SACK.
fn blocks(sent: &[Sent]) -> Option<[Vec<(u16, u16)>; 2]> {
    let pairs = |blocks: &mut dyn Iterator<Item = GapAckBlock>| {
        blocks.map(|block| (block.start, block.end)).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for sent in sent {
        let packet = sent.packet();
        let mut chunks = packet.chunks();
        while let Some(Ok(raw)) = chunks.next_raw() {
            match NrSack::read(&raw) {
                Some(sack) => found.push(Some([
                    pairs(&mut sack.sack.gap_ack_blocks()),
                    pairs(&mut sack.non_renegable_blocks()),
                ])),
                None if raw.chunk_type() == chunk_type::SACK => found.push(None),
                None => {}
            }
        }
    }
    assert_eq!(found.len(), 1, "{sent:?}");
    found.remove(0)
}

fn data(peer: &mut Peer, skip: u32, change: impl FnOnce(&mut Data<'_>)) -> Vec<u8> {
    peer.tsn = peer.tsn.plus(skip);
    let mut data = peer.data(1, 0, b"content");
    change(&mut data);
    peer.packet(&[&data])
}

/// What has been delivered will not be dropped: messages that are unordered or whose turn it is. What waits for anything may be.
#[test]
fn what_is_delivered_is_there_for_good() {
    let (mut bench, mut peer) = agreed(form(SackForm::NonRenegable));
    let first = peer.tsn;
    // TSN + 0 is missing. + 1: its turn in stream 1; + 2: the beginning of an unordered message; + 4: unordered; + 5: before its turn.
    bench.deliver(&data(&mut peer, 1, |_| {}));
    assert_eq!(blocks(&bench.take()), Some([vec![], vec![(2, 2)]]));
    bench.deliver(&data(&mut peer, 0, |data| (data.unordered, data.ending) = (true, false)));
    assert_eq!(blocks(&bench.take()), Some([vec![(3, 3)], vec![(2, 2)]]));
    bench.deliver(&data(&mut peer, 1, |data| data.unordered = true));
    bench.take();
    bench.deliver(&data(&mut peer, 0, |data| data.ssn.0 = 7));
    assert_eq!(blocks(&bench.take()), Some([vec![(3, 3), (6, 6)], vec![(2, 2), (5, 5)]]));
    // The end of the unordered message: it is delivered.
    peer.tsn = first.plus(3);
    bench.deliver(&data(&mut peer, 0, |data| (data.unordered, data.beginning) = (true, false)));
    assert_eq!(blocks(&bench.take()), Some([vec![(6, 6)], vec![(2, 5)]]));
}

/// Both sides have to list it: one that does not know the chunk stops reading there.
#[test]
fn nr_sacks_are_agreed_upon() {
    for (ours, theirs) in [(SackForm::Renegable, true), (SackForm::NonRenegable, false)] {
        let (mut bench, mut peer) = (Bench::new(form(ours)), Peer::new());
        peer.begin(&mut bench, if theirs { &LISTED } else { &[] });
        bench.deliver(&peer.cookie_echo());
        bench.take();
        bench.deliver(&data(&mut peer, 1, |_| {}));
        assert_eq!(blocks(&bench.take()), None, "{ours:?}");
        // Nothing is acknowledged by what has not been agreed upon.
        bench.send(0, b"first");
        bench.send(0, b"second");
        bench.take();
        bench.deliver(&nr_sack(&peer, peer.node_tsn.next(), &[], &[]));
        assert!(bench.paths()[0].flight_size > 0, "{ours:?}");
    }
    // The one who connects agrees, too.
    let (mut bench, mut peer) = (Bench::new(form(SackForm::NonRenegable)), Peer::new());
    peer.accept(&mut bench, &LISTED);
    bench.take();
    bench.deliver(&data(&mut peer, 1, |_| {}));
    assert_eq!(blocks(&bench.take()), Some([vec![], vec![(2, 2)]]));
}

fn nr_sack(peer: &Peer, cumulative: Tsn, may_drop: &[(u16, u16)], kept: &[(u16, u16)]) -> Vec<u8> {
    let blocks = |pairs: &[(u16, u16)]| -> Vec<GapAckBlock> {
        pairs.iter().map(|&(start, end)| GapAckBlock { start, end }).collect()
    };
    let (gap_ack_blocks, non_renegable_blocks) = (&blocks(may_drop)[..], &blocks(kept)[..]);
    let sack =
        SackBuilder { cumulative_tsn_ack: cumulative, a_rwnd: 100_000, gap_ack_blocks, duplicate_tsns: &[] };
    peer.packet(&[&NrSackBuilder { sack, non_renegable_blocks, packets: 0 }])
}

/// The buffer has room again for as much as will not be dropped, and only for that.
#[test]
fn what_is_kept_makes_room_in_the_senders_buffer() {
    let mut config = form(SackForm::NonRenegable);
    config.limits.send_buffer = 5_000;
    let (mut bench, peer) = agreed(config);
    (0..5).for_each(|n| bench.send(n, &[n as u8; 1000]));
    bench.pass(core::time::Duration::from_millis(1));
    let before = peer.node_tsn.prev();
    let room = |bench: &mut Bench| {
        let refused = bench.refused();
        bench.send(0, &[9; 1000]);
        bench.refused() == refused
    };
    assert!(!room(&mut bench));
    bench.deliver(&nr_sack(&peer, before, &[(2, 3)], &[]));
    assert!(!room(&mut bench), "it may be dropped yet");
    bench.deliver(&nr_sack(&peer, before, &[(2, 2)], &[(3, 3)]));
    assert!(room(&mut bench));
    assert!(!room(&mut bench));
    // It is taken back: that changes nothing. What is missing comes again, and all is acknowledged.
    bench.deliver(&nr_sack(&peer, before, &[(2, 2)], &[]));
    assert!(!room(&mut bench));
    bench.take();
    bench.pass(core::time::Duration::from_secs(3));
    let again: Vec<u8> =
        bench.take().iter().flat_map(|sent| sent.data()).map(|data| data.payload[0]).collect();
    assert!(again.contains(&0) && !again.contains(&2), "{again:?}");
    bench.deliver(&nr_sack(&peer, before.plus(6), &[], &[]));
    assert_eq!(bench.paths()[0].flight_size, 0);
    assert_eq!(bench.closed(), None);
}

/// RFC 4895 §3.2: whoever takes no SACK without authentication takes no NR-SACK either.
#[test]
fn where_sacks_are_authenticated_so_are_nr_sacks() {
    let listed = |form| {
        let mut config = Config { auth: AuthConfig::offered().requiring_everything(), ..Config::mobile() };
        config.sack.form = form;
        let mut bench = Bench::new(config);
        bench.connect(&[whimbrel_testbed::peer::peer_address(1)]);
        let init = bench.take_only();
        let Chunk::Init(init) = init.only() else { panic!("no INIT") };
        let chunks = { init.parameters }.find_map(|parameter| match parameter {
            Ok(Parameter::Chunks(chunks)) => Some(chunks.contains(&CHUNK_NR_SACK)),
            _ => None,
        });
        chunks.expect("CHUNKS")
    };
    assert!(listed(SackForm::NonRenegable) && !listed(SackForm::Renegable));
}
