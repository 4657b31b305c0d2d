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

#[test]
fn data_chunks_are_read_from_a_capture() {
    let segments = Arc::new(Mutex::new(Vec::new()));
    let sink = Dribble(CaptureSink::new(Arc::clone(&segments), None));
    let mut file = Pcapng::new(sink, 1_000).unwrap();
    file.add_interface("x").unwrap();
    for (index, (local, inbound, comment)) in
        [("127.0.0.1:5", false, None), ("[::1]:5", false, Some("dropped: loss")), ("127.0.0.1:5", true, None)]
            .into_iter()
            .enumerate()
    {
        let route = Route { local: local.parse().unwrap(), remote: local.parse().unwrap() };
        let payload = packet(index as u32 * 10);
        let captured = Captured { route, ecn: Ecn::NotCapable, payload: &payload, inbound, comment };
        file.write(0, Instant::from_nanos(5), &captured).unwrap();
    }
    let segment = |tsn, dropped| Segment { at: 1_005, tsn, bytes: 5, dropped };
    assert_eq!(
        *segments.lock().unwrap(),
        [segment(0, false), segment(1, false), segment(10, true), segment(11, true)]
    );
}

#[test]
fn nonsense_is_passed_over() {
    for length in [0_u32, 3, 12, 13, 64] {
        let segments = Arc::new(Mutex::new(Vec::new()));
        let mut sink = CaptureSink::new(Arc::clone(&segments), None);
        let mut bytes = vec![6, 0, 0, 0];
        bytes.extend(length.to_le_bytes());
        bytes.extend([0xff; 100]);
        sink.write_all(&bytes).unwrap();
        assert!(segments.lock().unwrap().is_empty());
    }
}
