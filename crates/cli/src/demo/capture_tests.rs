use whimbrel_machine::{Ecn, Instant, Route};
use whimbrel_netsim::{Captured, Pcapng};
use whimbrel_wire::{ChecksumMode, CommonHeader, Data, PacketWriter, PayloadProtocolId, Ssn, StreamId, Tsn};

use super::*;

fn packet(tsn: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = PacketWriter::new(&mut out, CommonHeader::default(), 1400);
    for tsn in [tsn, tsn + 1] {
        let data = Data {
            immediate: false,
            unordered: false,
            beginning: true,
            ending: true,
            tsn: Tsn(tsn),
            stream: StreamId(1),
            ssn: Ssn(0),
            ppid: PayloadProtocolId(0),
            payload: b"abcde",
        };
        assert!(writer.push(&data));
    }
    writer.finish(ChecksumMode::Crc32c);
    out
}

/// Splits the stream at every place: blocks may come in pieces.
struct Dribble(CaptureSink);

impl Write for Dribble {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..1])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// As it is on the wire: a DTLS chunk and nothing else.
fn sealed(bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    PacketWriter::new(&mut out, CommonHeader::default(), 1400).finish(ChecksumMode::Crc32c);
    out.extend([CHUNK_DTLS, 0]);
    out.extend(((bytes + 4) as u16).to_be_bytes());
    out.resize(out.len() + bytes, 0x5a);
    out
}

/// What is heard of these packets: from where, whether to the client, what the network says of them, and what they are.
fn heard(packets: &[(&str, bool, Option<&str>, Vec<u8>)]) -> Overheard {
    let overheard = Arc::<Mutex<Overheard>>::default();
    let sink =
        Dribble(CaptureSink::new(Arc::clone(&overheard), vec![b"name".to_vec(), b"bcd".to_vec()], None));
    let mut file = Pcapng::new(sink, 1_000).unwrap();
    file.add_interface("x").unwrap();
    for (local, inbound, comment, payload) in packets {
        let route = Route { local: local.parse().unwrap(), remote: local.parse().unwrap() };
        let captured =
            Captured { route, ecn: Ecn::NotCapable, payload, inbound: *inbound, comment: *comment };
        file.write(0, Instant::from_nanos(5), &captured).unwrap();
    }
    let overheard = overheard.lock().unwrap();
    overheard.clone()
}

#[test]
fn a_listener_sees_when_and_how_long() {
    let heard = heard(&[
        ("127.0.0.1:5", false, None, sealed(1000)),
        ("[::1]:5", false, Some("dropped: loss"), sealed(40)),
        ("127.0.0.1:5", true, None, sealed(1200)),
    ]);
    let sighting = |bytes, dropped| Sighting { at: 1_005, bytes, dropped };
    assert_eq!(heard.sightings, [sighting(1016, false), sighting(56, true)]);
    assert_eq!((heard.packets, heard.sealed, heard.revealing), (3, 3, 0));
    assert_eq!(heard.sample, sealed(1000)[..SAMPLE]);
}

#[test]
fn what_goes_in_clear_is_noticed() {
    let heard = heard(&[("127.0.0.1:5", false, None, packet(1)), ("127.0.0.1:5", true, None, packet(7))]);
    assert_eq!((heard.packets, heard.sealed, heard.revealing), (2, 0, 2));
    assert!(heard.sample.is_empty());
}

#[test]
fn nonsense_is_passed_over() {
    for length in [0_u32, 3, 12, 13, 64] {
        let overheard = Arc::<Mutex<Overheard>>::default();
        let mut sink = CaptureSink::new(Arc::clone(&overheard), Vec::new(), None);
        let mut bytes = vec![6, 0, 0, 0];
        bytes.extend(length.to_le_bytes());
        bytes.extend([0xff; 100]);
        sink.write_all(&bytes).unwrap();
        assert_eq!(*overheard.lock().unwrap(), Overheard::default());
    }
}
