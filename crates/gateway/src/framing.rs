//! SIP messages in a stream of bytes (RFC 3261 §18.3): each says by Content-Length where it ends.

/// Bytes of a message at most, head and body together. The machines take no longer ones.
const MESSAGE_MAX: usize = 8192;

/// What asks whether anybody is there.
const PING: &[u8] = b"\r\n\r\n";

/// What ends a head.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// What comes is no SIP, or has no length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the other end does not speak SIP, or sends a message that is too long")]
pub(crate) struct NotFramed;

/// What has come of a stream and is no whole message yet.
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// Bytes of a message at most.
    longest: usize,
    /// Somebody has asked whether anybody is there.
    pinged: bool,
}

impl Default for Frames {
    fn default() -> Self {
        Self::of(MESSAGE_MAX)
    }
}

impl Frames {
    /// Of messages that are no longer.
    pub(crate) const fn of(longest: usize) -> Self {
        Self { bytes: Vec::new(), longest, pinged: false }
    }

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
        self.pinged |= blank >= PING.len();
        // The other half of two empty lines may be on its way.
        if blank == self.bytes.len() && blank < PING.len() {
            return Ok(None);
        }
        self.bytes.drain(..blank);
        let Some(head) = self.bytes.windows(END_OF_HEAD.len()).position(|four| four == END_OF_HEAD) else {
            return if self.bytes.len() > self.longest { Err(NotFramed) } else { Ok(None) };
        };
        let body = content_length(&self.bytes[..head])?;
        let length = (head + END_OF_HEAD.len()).saturating_add(body);
        if length > self.longest {
            return Err(NotFramed);
        }
        if self.bytes.len() < length {
            return Ok(None);
        }
        Ok(Some(self.bytes.drain(..length).collect()))
    }

    /// Whether two empty lines have come since this was asked last, which want an answer (RFC 5626 §3.5.1).
    pub(crate) const fn take_ping(&mut self) -> bool {
        core::mem::replace(&mut self.pinged, false)
    }

    /// Whether a message has begun and is not whole.
    pub(crate) fn is_amid(&self) -> bool {
        self.bytes.iter().any(|byte| !b"\r\n".contains(byte))
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
