use bytes::Bytes;

use crate::CloseReason;

fn shown(reason: &[u8]) -> String {
    CloseReason::AbortedByPeer { causes: vec![12], reason: Bytes::copy_from_slice(reason) }.to_string()
}

#[test]
fn a_peers_reason_cannot_command_a_terminal() {
    let shown = shown(b"\x1b]0;title\x07busy \"now\" \xe2\x80\xae\n\xff");
    assert_eq!(shown, "aborted by the peer: \\u{1b}]0;title\\u{7}busy \"now\" \\u{202e}\\n\u{fffd}");
}

#[test]
fn a_peers_reason_has_an_end() {
    let shown = shown(&[b'x'; 60_000]);
    assert!(shown.chars().count() < 300 && shown.ends_with("xx…"), "{shown}");
}
