//! Who watches the links of both hosts and writes down what passes.

use core::net::{IpAddr, Ipv4Addr};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{Forged, Forgery, Intruder, Overheard};
use whimbrel_wire::Packet;

use super::keys::Sessions;
use super::seen::{Moment, Seen};

/// What has been seen, in the order in which it happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    sessions: Sessions,
    seen: Vec<Seen>,
}

/// What somebody on the way does to packets that are about to arrive, besides seeing them: it may change the bytes (none left: the
/// packet is lost) and have other packets arrive with them.
pub(crate) type Meddle = Box<dyn FnMut(&Seen, &mut Vec<u8>, &Sessions) -> Vec<(Route, Vec<u8>)> + Send>;

impl Log {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it.
    pub(crate) fn take(&self) -> Vec<Seen> {
        core::mem::take(&mut self.notes().seen)
    }

    fn note(&self, at: Instant, moment: Moment, ends: [IpAddr; 2], bytes: &[u8]) {
        let notes = &mut *self.notes();
        if let (Moment::Left, Ok(packet)) = (moment, Packet::parse(bytes)) {
            notes.sessions.learn(&packet);
        }
        notes.seen.extend(Seen::read(at, moment, ends, bytes, &notes.sessions));
    }
}

/// Sees what reaches hosts, and lets somebody meddle with it.
pub(crate) struct Watcher {
    log: Log,
    meddle: Meddle,
}

impl Watcher {
    pub(crate) fn new(log: &Log, meddle: Meddle) -> Self {
        Self { log: log.clone(), meddle }
    }
}

impl Intruder for Watcher {
    fn on_packet(&mut self, now: Instant, packet: Overheard<'_>, forge: &mut Vec<Forgery>) {
        let ends = [packet.route.local.ip(), packet.route.remote.ip()];
        let read =
            |bytes: &[u8], log: &Log| Seen::read(now, Moment::Arrived, ends, bytes, &log.notes().sessions);
        let Some(seen) = read(packet.bytes, &self.log) else { return };
        let forged = (self.meddle)(&seen, packet.bytes, &self.log.notes().sessions);
        self.log.note(now, Moment::Arrived, ends, packet.bytes);
        for (route, bytes) in forged {
            self.log.note(now, Moment::Arrived, [route.local.ip(), route.remote.ip()], &bytes);
            forge.push(Forgery { at: now, what: Forged::Datagram { route, bytes } });
        }
    }
}

/// A capture that is read while it is written: notes what leaves a host, and hands everything on to a file if there is one.
pub(crate) struct Tap {
    log: Log,
    file: Option<Box<dyn Write + Send>>,
    pending: Vec<u8>,
}

impl Tap {
    pub(crate) fn new(log: &Log, file: Option<Box<dyn Write + Send>>) -> Self {
        Self { log: log.clone(), file, pending: Vec::new() }
    }
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.pending.extend_from_slice(bytes);
        while let Some(length) = word(&self.pending, 4).map(|length| length as usize)
            && (12..=self.pending.len()).contains(&length)
        {
            let block: Vec<u8> = self.pending.drain(..length).collect();
            if let Some((at, ends, packet)) = departure(&block) {
                self.log.note(at, Moment::Left, ends, packet);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.flush())
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// The SCTP packet of an Enhanced Packet Block (type 6) that says outbound, if it is SCTP on IPv4. The world's time begins at 0.
fn departure(block: &[u8]) -> Option<(Instant, [IpAddr; 2], &[u8])> {
    const ENHANCED_PACKET: u32 = 6;
    const OUTBOUND: u32 = 2;
    const SCTP: u8 = 132;
    if word(block, 0)? != ENHANCED_PACKET {
        return None;
    }
    let at = u64::from(word(block, 12)?) << 32 | u64::from(word(block, 16)?);
    let length = word(block, 20)? as usize;
    let packet = block.get(28..28 + length)?;
    // epb_flags is the first option.
    let options = 28 + length.next_multiple_of(4);
    if word(block, options + 4)? & 3 != OUTBOUND || *packet.get(9)? != SCTP {
        return None;
    }
    let address = |at: usize| -> Option<IpAddr> {
        let octets: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(IpAddr::V4(Ipv4Addr::from(octets)))
    };
    let header = usize::from(packet[0] & 0x0f) * 4;
    Some((Instant::from_nanos(at), [address(12)?, address(16)?], packet.get(header..)?))
}
