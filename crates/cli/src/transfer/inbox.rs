//! The receiving end of a transfer as a plain state machine: frames in, replies out, files on disk.
//!
//! Runs on a thread of its own, since every step may wait for the disk. Whoever feeds it waits while its queue is
//! full, so a slow disk closes the association's receive window and the sender slows down.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

use super::account::Account;
use super::entry::{Arriving, Entry, State};
use super::link::Frame;
use super::names::printable;
use super::partial::Partial;
use super::partials::Start;
use super::protocol::{
    Abandon, Control, DataMessage, Hash, Kind, Malformed, Offer, Outcome, PPID_CONTROL, VERSION, WINDOW,
};
use super::report::{FileReport, OnFile, Tally};
use super::stop::Stop;
use super::store::{Look, Placed, Store, Tried};

/// Offers that are remembered because another connection writes their files. Of more it is not waited how they end.
const BUSY_MAX: usize = 8 * WINDOW;
/// Files whose content is being flushed to disk at a time.
const FINISHING: usize = 16;
const UNDER_WAY: &str = "another transfer of this file is under way";

/// The state machine.
pub(crate) struct Inbox {
    store: Arc<Store>,
    replies: mpsc::Sender<Control>,
    account: Arc<Account>,
    runtime: Handle,
    finishing: Arc<Semaphore>,
    welcomed: bool,
    said_bye: bool,
    files: BTreeMap<u32, Entry>,
    /// Answered with a passing outcome, which is the last only if the sender does not offer them again.
    busy: BTreeMap<u32, (Offer, Outcome, String)>,
    /// Which file each data stream carries now.
    streams: BTreeMap<u16, u32>,
}

impl Inbox {
    /// `replies` must be drained until the inbox is dropped.
    pub(crate) fn new(
        store: Arc<Store>,
        replies: mpsc::Sender<Control>,
        tally: Arc<Tally>,
        on_file: OnFile,
        runtime: Handle,
    ) -> Self {
        Self {
            store,
            replies,
            account: Arc::new(Account::new(tally, on_file)),
            runtime,
            finishing: Arc::new(Semaphore::new(FINISHING)),
            welcomed: false,
            said_bye: false,
            files: BTreeMap::new(),
            busy: BTreeMap::new(),
            streams: BTreeMap::new(),
        }
    }

    /// Takes one frame. Blocks on the disk. An error ends the transfer; what has arrived stays resumable.
    pub(crate) fn frame(&mut self, frame: Frame) -> Result<(), Stop> {
        if frame.stream == 0 {
            if frame.ppid != PPID_CONTROL {
                return Err(Malformed("data on the control stream").into());
            }
            return self.control(Control::decode(&frame.bytes)?);
        }
        if !self.welcomed {
            return Err(Malformed("data before the greeting").into());
        }
        self.data(frame.stream, DataMessage::decode(frame.ppid, frame.bytes)?)
    }

    /// Whether the sender has said that it is done, with every file over.
    pub(crate) fn is_complete(&self) -> bool {
        self.said_bye && self.files.is_empty()
    }

    /// Waits until every finished file is in its place. What was busy to the end has failed; where the connection is lost it may come over the next one.
    pub(crate) fn settle(&mut self) {
        if self.said_bye {
            for (offer, outcome, text) in std::mem::take(&mut self.busy).into_values() {
                self.account.file(FileReport::of(&offer, 0, outcome, &text, None));
            }
        }
        let all = self.runtime.block_on(self.finishing.acquire_many(FINISHING as u32));
        drop(all);
    }

    fn control(&mut self, message: Control) -> Result<(), Stop> {
        match message {
            Control::Hello { version, files, bytes } if !self.welcomed => {
                if version < VERSION {
                    return Err(Stop::Version(version));
                }
                self.welcomed = true;
                self.account.announce(files, bytes);
                self.reply(Control::Welcome { version: VERSION })
            }
            Control::Fatal { text } => Err(Stop::Fatal(printable(&text))),
            _ if !self.welcomed => Err(Malformed("no greeting").into()),
            Control::Offer(offer) => self.offer(offer),
            Control::Claim { id, hash } => self.claim(id, hash),
            Control::Cancel { id, text } => match self.files.remove(&id) {
                Some(Entry { state: State::Arriving(_), .. }) | None => {
                    Err(Malformed("cancel of a file that was not waiting").into())
                }
                Some(Entry { offer, state: State::Failed(again) }) => {
                    self.files.insert(id, Entry { offer, state: State::Failed(None) });
                    again.map_or(Ok(()), |again| self.end(again, 0, Outcome::Abandoned, printable(&text)))
                }
                Some(entry) => self.end(entry.offer, 0, Outcome::Abandoned, printable(&text)),
            },
            Control::Bye => {
                self.said_bye = true;
                Ok(())
            }
            _ => Err(Malformed("a message only receivers send").into()),
        }
    }

    fn offer(&mut self, offer: Offer) -> Result<(), Stop> {
        // Twice the window: an offer can overtake the message on another stream that made room for it.
        if self.files.len() >= 2 * WINDOW {
            return Err(Malformed("too many offers at once").into());
        }
        if let Some(entry) = self.files.get_mut(&offer.id) {
            let State::Failed(again) = &mut entry.state else {
                return Err(Malformed("an offer's id is in use").into());
            };
            // Offers overtake what was handed over before them: its turn comes when the first one's content ends.
            *again = Some(offer);
            return Ok(());
        }
        self.busy.remove(&offer.id);
        if let Err(error) = self.store.accepts(&offer.path) {
            return self.end(offer, 0, Outcome::BadName, error.to_string());
        }
        if offer.kind == Kind::Directory {
            let (outcome, text) = match self.store.make_directory(&offer) {
                Ok(()) => (Outcome::Verified, String::new()),
                Err(error) => Outcome::of_error(&error),
            };
            return self.end(offer, 0, outcome, text);
        }
        self.judge(offer, Tried::default())
    }

    /// Decides what becomes of an offer with an acceptable name.
    fn judge(&mut self, offer: Offer, tried: Tried) -> Result<(), Stop> {
        match self.store.look(&offer, tried) {
            Ok(Look::Fresh) => self.accept(offer, Start::default()),
            // An empty file in place needs no proof, and an empty proof shows nothing.
            Ok(Look::SameSize) if offer.size == 0 => self.end(offer, 0, Outcome::Already, String::new()),
            Ok(look @ (Look::SameSize | Look::Partial(_))) => self.prove(offer, look, tried),
            Ok(Look::Exists) => self.end(offer, 0, Outcome::Exists, String::new()),
            Ok(Look::InTheWay(what)) => self.end(offer, 0, Outcome::Failed, what.into()),
            Ok(Look::NoSpace(needed, room)) => {
                let text = format!("{needed} bytes needed, {room}");
                self.end(offer, 0, Outcome::NoSpace, text)
            }
            Err(error) => {
                let (outcome, text) = Outcome::of_error(&error);
                self.end(offer, 0, outcome, text)
            }
        }
    }

    fn prove(&mut self, offer: Offer, look: Look, tried: Tried) -> Result<(), Stop> {
        let id = offer.id;
        let length = match &look {
            Look::Partial(found) => found.length,
            _ => offer.size,
        };
        self.files.insert(id, Entry { offer, state: State::Proving { look, tried } });
        self.reply(Control::Prove { id, length })
    }

    fn accept(&mut self, offer: Offer, start: Start) -> Result<(), Stop> {
        let (id, offset) = (offer.id, start.offset());
        self.files.insert(id, Entry { offer, state: State::Accepted(start) });
        self.reply(Control::Accept { id, offset })
    }

    /// The sender names the hash of what we have. It travels this way round so that nobody can learn what is in DIR by offering a name.
    fn claim(&mut self, id: u32, claimed: Hash) -> Result<(), Stop> {
        let Some(Entry { offer, state: State::Proving { look, mut tried } }) = self.files.remove(&id) else {
            return Err(Malformed("a claim nobody asked for").into());
        };
        // Once the connection is gone nobody waits for what may take a slow disk long.
        let wanted = || !self.replies.is_closed();
        // What cannot be read now (it may have been renamed or removed) is as good as not there.
        match look {
            Look::Partial(found) => {
                let copy = found.copy;
                tried.copies |= 1 << copy;
                match self.store.hash_partial(&offer, found, wanted) {
                    // All that may be on its way would come in vain if that were found out only when it begins.
                    Ok(hasher) if hasher.finalize() == claimed => match self.store.is_held(&offer, copy) {
                        true => self.turn_away(&offer, Outcome::Busy, UNDER_WAY.into()),
                        false => self.accept(offer, Start { copy: Some(copy), hasher }),
                    },
                    // It has another beginning, which somebody else may go on with.
                    _ => self.judge(offer, tried),
                }
            }
            _ if self.store.hash_in_place(&offer, wanted).is_ok_and(|ours| ours == claimed) => {
                self.account.skip(offer.size);
                let size = offer.size;
                self.end(offer, size, Outcome::Already, String::new())
            }
            _ if self.store.may_replace() => {
                tried.in_place = true;
                self.judge(offer, tried)
            }
            _ => self.end(offer, 0, Outcome::Exists, "with other content".into()),
        }
    }

    fn data(&mut self, stream: u16, message: DataMessage) -> Result<(), Stop> {
        match message {
            DataMessage::Begin { id, offset } => self.begin(stream, id, offset),
            DataMessage::Data(bytes) => self.bytes(stream, &bytes),
            DataMessage::End { hash } => self.finish(stream, hash),
            DataMessage::Abandon { reason, text } => self.abandon(stream, reason, &text),
        }
    }

    fn begin(&mut self, stream: u16, id: u32, offset: u64) -> Result<(), Stop> {
        let entry = self.files.get_mut(&id).ok_or(Malformed("a file nobody offered begins"))?;
        let State::Accepted(start) = &mut entry.state else {
            return Err(Malformed("a file begins that was not accepted").into());
        };
        if offset != start.offset() {
            return Err(Malformed("a file begins at another offset than accepted").into());
        }
        if self.streams.insert(stream, id).is_some() {
            return Err(Malformed("a file begins inside another").into());
        }
        match self.store.begin(&entry.offer, std::mem::take(start)) {
            Ok(Some(partial)) => {
                self.account.skip(offset);
                entry.state = State::Arriving(Arriving { partial, resumed: offset, length: offset });
                Ok(())
            }
            Ok(None) => self.fail(id, Outcome::Busy, UNDER_WAY.into()),
            Err(error) => {
                let (outcome, text) = Outcome::of_error(&error);
                self.fail(id, outcome, text)
            }
        }
    }

    fn bytes(&mut self, stream: u16, bytes: &[u8]) -> Result<(), Stop> {
        let id = *self.streams.get(&stream).ok_or(Malformed("content outside a file"))?;
        let Some(entry) = self.files.get_mut(&id) else { return Err(Malformed("content of no file").into()) };
        let State::Arriving(arriving) = &mut entry.state else { return Ok(()) };
        let end = arriving.length.saturating_add(bytes.len() as u64);
        if end > entry.offer.size {
            return Err(Malformed("more content than offered").into());
        }
        if let Err(error) = arriving.partial.write(bytes) {
            let (outcome, text) = Outcome::of_error(&error);
            return self.fail(id, outcome, text);
        }
        arriving.length = end;
        self.account.advance(bytes.len() as u64);
        Ok(())
    }

    /// The file whose content ends on `stream`, unless it is over for us; then an offer that waited for that is heard.
    fn ended(&mut self, stream: u16) -> Result<Option<(Offer, Arriving)>, Stop> {
        let id = self.streams.remove(&stream).ok_or(Malformed("an end outside a file"))?;
        match self.files.remove(&id).ok_or(Malformed("an end of no file"))? {
            Entry { offer, state: State::Arriving(arriving) } => return Ok(Some((offer, arriving))),
            Entry { state: State::Failed(Some(again)), .. } => self.offer(again)?,
            _ => {}
        }
        Ok(None)
    }

    fn finish(&mut self, stream: u16, hash: Hash) -> Result<(), Stop> {
        let Some((offer, arriving)) = self.ended(stream)? else { return Ok(()) };
        if arriving.length != offer.size {
            return Err(Malformed("a file ends before its offered size").into());
        }
        let Some(ours) = arriving.partial.hash() else {
            self.account.retreat(offer.size);
            return self.end(offer, 0, Outcome::Failed, "a newer connection has taken it over".into());
        };
        if ours != hash {
            self.account.retreat(offer.size);
            arriving.partial.discard();
            let text = "the content that arrived is not what was sent".into();
            return self.end(offer, 0, Outcome::Corrupt, text);
        }
        self.place(offer, arriving.partial, arriving.resumed, ours)
    }

    /// Flushes and renames on another thread, so that many small files do not wait for each other's disk writes.
    fn place(&self, offer: Offer, partial: Partial, resumed: u64, hash: blake3::Hash) -> Result<(), Stop> {
        let permit = self.runtime.block_on(Arc::clone(&self.finishing).acquire_owned());
        let permit = permit.map_err(|_| Stop::Gone)?;
        let replies = self.replies.clone();
        let store = Arc::clone(&self.store);
        let account = Arc::clone(&self.account);
        self.runtime.spawn_blocking(move || {
            let (outcome, text) = match store.finish(partial, &offer, hash) {
                Ok(Placed::AsOffered) => (Outcome::Verified, String::new()),
                Ok(Placed::Renamed(path)) => (Outcome::Verified, format!("saved as {path}")),
                // It came all the same.
                Ok(Placed::SameContent) => (Outcome::Verified, "it is there already".into()),
                Ok(Placed::Taken) => (Outcome::Exists, "it appeared during the transfer".into()),
                Err(error) => Outcome::of_error(&error),
            };
            if !outcome.is_success() {
                account.retreat(offer.size);
            }
            let report = FileReport::of(&offer, resumed, outcome, &text, Some(hash));
            // If nobody listens any more, the file is in place all the same.
            let _ = replies.blocking_send(Control::Result { id: offer.id, outcome, text });
            // After the answer: whoever is to read it may not, and the sender would wait for that.
            account.file(report);
            // Only now: a peer that does not read results gets no further threads.
            drop(permit);
        });
        Ok(())
    }

    fn abandon(&mut self, stream: u16, reason: Abandon, text: &str) -> Result<(), Stop> {
        let Some((offer, arriving)) = self.ended(stream)? else { return Ok(()) };
        self.account.retreat(arriving.length);
        if reason == Abandon::Changed {
            arriving.partial.discard();
        }
        self.end(offer, 0, Outcome::Abandoned, printable(text))
    }

    /// Ends a file that has begun; its stream goes on until the sender hears of it.
    fn fail(&mut self, id: u32, outcome: Outcome, text: String) -> Result<(), Stop> {
        let Some(entry) = self.files.get_mut(&id) else { return Ok(()) };
        if let State::Arriving(arriving) = std::mem::replace(&mut entry.state, State::Failed(None)) {
            self.account.retreat(arriving.length);
        }
        let offer = entry.offer.clone();
        self.turn_away(&offer, outcome, text)
    }

    /// Tells of a file that failed; one that is busy may be offered again.
    fn turn_away(&mut self, offer: &Offer, outcome: Outcome, text: String) -> Result<(), Stop> {
        if outcome.is_passing() && self.busy.len() < BUSY_MAX {
            self.busy.insert(offer.id, (offer.clone(), outcome, text.clone()));
        } else {
            self.account.file(FileReport::of(offer, 0, outcome, &text, None));
        }
        self.reply(Control::Result { id: offer.id, outcome, text })
    }

    /// Ends a file that is in no table any more.
    fn end(&self, offer: Offer, resumed: u64, outcome: Outcome, text: String) -> Result<(), Stop> {
        // A directory is worth a word only when it could not be made, and nobody has announced it.
        let directory = offer.kind == Kind::Directory;
        if directory && !outcome.is_success() {
            self.account.announce(1, 0);
        }
        if !directory || !outcome.is_success() {
            self.account.file(FileReport::of(&offer, resumed, outcome, &text, None));
        }
        self.reply(Control::Result { id: offer.id, outcome, text })
    }

    fn reply(&self, message: Control) -> Result<(), Stop> {
        self.replies.blocking_send(message).map_err(|_| Stop::Gone)
    }
}

impl Drop for Inbox {
    /// What is resumed later counts again from its beginning.
    fn drop(&mut self) {
        for entry in self.files.values() {
            if let State::Arriving(arriving) = &entry.state {
                self.account.retreat(arriving.length);
            }
        }
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
