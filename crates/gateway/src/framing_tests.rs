use proptest::prelude::*;

use super::*;

fn message(body: &str) -> Vec<u8> {
    format!("OPTIONS sip:a@b SIP/2.0\r\nContent-Length: {}\r\nCall-ID: 1\r\n\r\n{body}", body.len())
        .into_bytes()
}

fn all(frames: &mut Frames) -> Vec<Vec<u8>> {
    core::iter::from_fn(|| frames.next().unwrap()).collect()
}

proptest! {
    /// However the stream is cut.
    #[test]
    fn messages_come_out_as_they_went_in(bodies in prop::collection::vec("[a-z\r\n]{0,40}", 0..5), cut in 1..50usize) {
        let messages: Vec<Vec<u8>> = bodies.iter().map(|body| message(body)).collect();
        let stream: Vec<u8> = messages.iter().flat_map(|message| [b"\r\n\r\n".to_vec(), message.clone()].concat()).collect();
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        for piece in stream.chunks(cut) {
            frames.push(piece);
            out.extend(all(&mut frames));
        }
        prop_assert_eq!(out, messages);
    }

    #[test]
    fn nothing_makes_it_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20)) {
        let mut frames = Frames::default();
        for piece in pieces {
            frames.push(&piece);
            while let Ok(Some(_)) = frames.next() {}
        }
    }
}

#[test]
fn the_short_form_counts() {
    let mut frames = Frames::default();
    frames.push(b"BYE sip:a SIP/2.0\r\nl :  3\r\n\r\nabcREST");
    assert!(frames.next().unwrap().unwrap().ends_with(b"abc"));
}

#[test]
fn what_has_no_end_is_no_message() {
    for bad in [
        "BYE sip:a SIP/2.0\r\nCall-ID: 1\r\n\r\n".to_owned(),
        "BYE sip:a SIP/2.0\r\nContent-Length: 1\r\nl: 2\r\n\r\n".to_owned(),
        "BYE sip:a SIP/2.0\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "BYE sip:a SIP/2.0\r\nContent-Length: 9000\r\n\r\n".to_owned(),
        format!("BYE sip:a SIP/2.0\r\nContent-Length: {}\r\n\r\n", usize::MAX),
        "x".repeat(MESSAGE_MAX + 1),
    ] {
        let mut frames = Frames::default();
        frames.push(bad.as_bytes());
        assert_eq!(frames.next(), Err(NotFramed), "{bad:.60}");
    }
}
