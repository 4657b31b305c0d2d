use super::*;

/// A block as a reader sees it; panics where the format is violated.
struct Block {
    kind: u32,
    body: Vec<u8>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn blocks(mut file: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = u32_at(file, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(u32_at(file, length - 4) as usize, length, "the length stands at both ends");
        blocks.push(Block { kind: u32_at(file, 0), body: file[8..length - 4].to_vec() });
        file = &file[length..];
    }
    blocks
}

fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    loop {
        let field = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap());
        let (code, length) = (field(0), usize::from(field(2)));
        if code == OPTION_END {
            assert_eq!(bytes.len(), 4, "nothing follows the end of the options");
            return options;
        }
        options.push((code, bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
}

#[test]
fn the_blocks_are_well_formed() {
    let mut file = Pcapng::new(Vec::new(), 1_700_000_000_000_000_000).unwrap();
    assert_eq!(file.add_interface("wifi").unwrap(), 0);
    assert_eq!(file.add_interface("lte").unwrap(), 1);
    let route = Route { local: "10.0.0.1:9899".parse().unwrap(), remote: "10.0.0.2:9899".parse().unwrap() };
    let mixed = Route { local: route.local, remote: "[::1]:1".parse().unwrap() };
    let captured = Captured {
        route,
        ecn: Ecn::NotCapable,
        payload: b"hello",
        inbound: true,
        comment: Some("dropped: queue"),
    };
    file.write(1, Instant::from_nanos(123_456_789), &captured).unwrap();
    file.write(1, Instant::ZERO, &Captured { route: mixed, ..captured }).unwrap();
    file.flush().unwrap();

    let blocks = blocks(&file.into_inner());
    assert_eq!(blocks.iter().map(|block| block.kind).collect::<Vec<_>>(), [SECTION_HEADER, 1, 1, 6]);
    assert_eq!(u32_at(&blocks[0].body, 0), BYTE_ORDER_MAGIC);
    let description = options(&blocks[2].body[8..]);
    assert_eq!(description, [(OPTION_IF_NAME, b"lte".to_vec()), (OPTION_IF_TIMESTAMP_RESOLUTION, vec![9])]);

    let packet = &blocks[3].body;
    assert_eq!(u32_at(packet, 0), 1);
    let at = u64::from(u32_at(packet, 4)) << 32 | u64::from(u32_at(packet, 8));
    assert_eq!(at, 1_700_000_000_123_456_789);
    let length = u32_at(packet, 12) as usize;
    assert_eq!((length, u32_at(packet, 16) as usize), (33, 33));
    assert_eq!(packet[20..22], [0x45, 0]);
    assert_eq!(packet[20 + 28..20 + 33], *b"hello");
    let notes = options(&packet[20 + length.next_multiple_of(4)..]);
    assert_eq!(notes, [(OPTION_EPB_FLAGS, vec![1, 0, 0, 0]), (OPTION_COMMENT, b"dropped: queue".to_vec())]);
}
