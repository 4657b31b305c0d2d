//! Messages that are nearly SIP.

/// What stands in messages of these machines, and what they have to be able to read.
const WORDS: [&str; 24] = [
    "INVITE",
    "ACK",
    "BYE",
    "OPTIONS",
    "UPDATE",
    "RESOURCE_QUERY",
    "CONTEXT_TRANSFER",
    "CANCEL",
    "SIP/2.0 200 OK",
    "SIP/2.0 481 No",
    "Via: SIP/2.0/UDP x;branch=z9hG4bK1",
    "CSeq: 4294967295 INVITE",
    "Content-Length: 18446744073709551616",
    "Contact: <sip:[::1]:1>",
    "From: <sip:a@x>;tag=",
    "UFA_BDP: -1",
    "UFA_Application: sctp 10.1.0.2:1 10.0.0.1:2",
    "10.2.0.3",
    "255.255.255.255",
    "\u{fffd}",
    "\0",
    "%",
    "",
    " ",
];

/// The message with changes that `rest` chooses: bytes, words, lines doubled, moved and missing, an end too soon.
pub(crate) fn damage(message: &[u8], rest: &mut &[u8]) -> Vec<u8> {
    let mut next = || {
        let (first, then) = rest.split_first()?;
        *rest = then;
        Some(*first)
    };
    let mut bytes = message.to_vec();
    for _ in 0..=next().unwrap_or(0) % 4 {
        let (Some(how), Some(at), Some(with)) = (next(), next(), next()) else { break };
        let length = bytes.len().max(1);
        let place = usize::from(at) * length / 256;
        match how % 6 {
            0 => {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = with;
                }
            }
            1 => bytes.truncate(place),
            2 => drop(bytes.splice(place..place, WORDS[usize::from(with) % WORDS.len()].bytes())),
            3 | 4 => change_words(&mut bytes, how % 6 == 3, at, with),
            _ => change_lines(&mut bytes, at, with),
        }
    }
    bytes
}

/// Another word in place of one, or of a line.
fn change_words(bytes: &mut Vec<u8>, line: bool, at: u8, with: u8) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let separators: &[char] = if line { &['\n', '\r'] } else { &[' ', ';', ':', '=', '<', '>', '\r', '\n'] };
    let words: Vec<&str> = text.split(separators).filter(|word| !word.is_empty()).collect();
    let Some(index) = usize::from(at).checked_rem(words.len()) else { return };
    let start = words[index].as_ptr() as usize - text.as_ptr() as usize;
    let range = start..start + words[index].len();
    let word = WORDS[usize::from(with) % WORDS.len()];
    bytes.splice(range, word.bytes());
}

/// A line is doubled, moved or missing.
fn change_lines(bytes: &mut Vec<u8>, at: u8, with: u8) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut lines: Vec<&str> = text.split_inclusive("\r\n").collect();
    let Some(from) = usize::from(at).checked_rem(lines.len()) else { return };
    let to = usize::from(with >> 2) % lines.len();
    match with % 3 {
        0 => drop(lines.remove(from)),
        1 => lines.insert(to, lines[from]),
        _ => lines.swap(from, to),
    }
    *bytes = lines.concat().into_bytes();
}
