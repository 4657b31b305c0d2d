//! SIP messages in a stream of bytes (RFC 3261 §18.3): each says by Content-Length where it ends.

/// Bytes of a message at most, head and body together. The machines take no longer ones.
const MESSAGE_MAX: usize = 8192;

/// What ends a head.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// What comes is no SIP, or has no length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the other end does not speak SIP, or sends a message of more than {MESSAGE_MAX} bytes")]
pub(crate) struct NotFramed;

/// What has come of a stream and is no whole message yet.
#[derive(Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// More has come.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    ///
    /// # Errors
    /// Nothing that comes after this can be understood.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, NotFramed> {
        // RFC 3261 §7.5: empty lines before a message say nothing; RFC 5626 §3.5.1 keeps connections alive by them.
        let blank = self.bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        self.bytes.drain(..blank);
        let Some(head) = self.bytes.windows(END_OF_HEAD.len()).position(|four| four == END_OF_HEAD) else {
            return if self.bytes.len() > MESSAGE_MAX { Err(NotFramed) } else { Ok(None) };
        };
        let body = content_length(&self.bytes[..head])?;
        let length = (head + END_OF_HEAD.len()).saturating_add(body);
        if length > MESSAGE_MAX {
            return Err(NotFramed);
        }
        if self.bytes.len() < length {
            return Ok(None);
        }
        Ok(Some(self.bytes.drain(..length).collect()))
    }
}

/// The value of Content-Length, or of its short form (RFC 3261 §7.3.3).
fn content_length(head: &[u8]) -> Result<usize, NotFramed> {
    let text = core::str::from_utf8(head).map_err(|_| NotFramed)?;
    let lengths = text.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim_end();
        (name.eq_ignore_ascii_case("Content-Length") || name.eq_ignore_ascii_case("l")).then(|| value.trim())
    });
    let lengths: Vec<&str> = lengths.collect();
    // Of two lengths either may be the true one, and what one reader takes for a body is a message to another.
    let [only] = lengths[..] else { return Err(NotFramed) };
    only.parse().map_err(|_| NotFramed)
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
