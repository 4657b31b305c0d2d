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

/// RFC 5626 §3.5.1: two empty lines between messages, however they are cut, want one to come back; one is an answer, and wants nothing.
#[test]
fn two_empty_lines_are_a_question() {
    for (pieces, asked) in [
        (&["\r\n\r\n"][..], true),
        (&["\r\n", "\r", "\n"], true),
        (&["\r\n", "OPTIONS sip:a@b SIP/2.0\r\nContent-Length: 0\r\n\r\n"], false),
        (&["\r\n"], false),
    ] {
        let mut frames = Frames::default();
        for piece in pieces {
            frames.push(piece.as_bytes());
            all(&mut frames);
        }
        assert_eq!(
            (frames.take_ping(), frames.take_ping(), frames.is_amid()),
            (asked, false, false),
            "{pieces:?}"
        );
    }
    let mut frames = Frames::default();
    frames.push(b"\r\nOPTIONS");
    assert!(all(&mut frames).is_empty() && frames.is_amid());
}

#[test]
fn a_limit_is_of_whole_messages() {
    let bytes = message("body");
    for (longest, fits) in [(bytes.len(), true), (bytes.len() - 1, false)] {
        let mut frames = Frames::of(longest);
        frames.push(&bytes);
        assert_eq!(frames.next().is_ok(), fits);
    }
}
