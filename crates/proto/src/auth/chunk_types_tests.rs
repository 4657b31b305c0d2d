use super::*;

/// RFC 4895 §3.2: INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH in a CHUNKS parameter are ignored.
#[test]
fn a_set_has_what_was_listed_but_for_the_four_that_cannot_be() {
    let all: Vec<u8> = (0..=255).collect();
    let types = ChunkTypes::required(&all);
    let missing: Vec<u8> = all.iter().copied().filter(|&chunk_type| !types.contains(chunk_type)).collect();
    assert_eq!(missing, [1, 2, 14, 15]);
    for &one in all.iter().filter(|&one| !missing.contains(one)) {
        let types = ChunkTypes::required(&[one]);
        let present: Vec<u8> = all.iter().copied().filter(|&other| types.contains(other)).collect();
        assert_eq!(present, [one]);
    }
}
