//! Whom a server takes: paired hosts as the file has them, which changes while the server runs, and the holder of its ticket.

use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use whimbrel::secure::{Keyring, PublicKey};

use super::{Book, Paired};
use crate::news::News;

/// How often to look whether the file is another one.
const LOOK: Duration = Duration::from_secs(1);

/// The keys that a server accepts.
#[derive(Debug)]
pub(crate) struct Admitted {
    keys: Keyring,
    /// Accepted whatever the file says.
    always: Vec<PublicKey>,
    book: Mutex<Book>,
}

/// What a file is told from its successor by.
type Edition = Option<(u64, u64, i64, i64)>;

impl Admitted {
    /// Those in `book` and these.
    pub(crate) fn new(book: Book, always: impl IntoIterator<Item = PublicKey>) -> Self {
        let admitted =
            Self { keys: Keyring::default(), always: always.into_iter().collect(), book: Mutex::new(book) };
        admitted.accept();
        admitted
    }

    /// The keys, for handshakes: it changes with the file once [`Self::follow`] runs.
    pub(crate) fn keyring(&self) -> Keyring {
        self.keys.clone()
    }

    /// The paired hosts.
    pub(crate) fn hosts(&self) -> Vec<Paired> {
        self.book().hosts().to_vec()
    }

    /// What the host with this key is called, if it is paired.
    pub(crate) fn name_of(&self, key: PublicKey) -> Option<String> {
        self.book().by_key(key).map(|host| host.name.clone())
    }

    /// Heeds changes of the file, for ever.
    pub(crate) async fn follow(&self, news: &impl News) {
        let path = self.book().path().to_owned();
        let edition = || -> Edition {
            let file = std::fs::metadata(&path).ok()?;
            Some((file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
        };
        // As if it had changed: it may have since it was read.
        let mut last = None;
        let mut tick = tokio::time::interval(LOOK);
        loop {
            tick.tick().await;
            let now = edition();
            if std::mem::replace(&mut last, now) == now {
                continue;
            }
            match Book::open() {
                Ok(book) => self.change(book, news),
                Err(error) => {
                    let text = format!("the paired hosts stay as they were: {error:#}");
                    news.event("peers", json!({ "text": text }));
                    news.warn(&text);
                }
            }
        }
    }

    fn change(&self, book: Book, news: &impl News) {
        let before = std::mem::replace(&mut *self.book(), book);
        self.accept();
        let now = self.hosts();
        let missing = |hosts: &[Paired], host: &Paired| !hosts.iter().any(|other| other.key == host.key);
        let tell = |text: String| {
            news.event("peers", json!({ "text": text }));
            news.note(&text);
        };
        for host in now.iter().filter(|host| missing(before.hosts(), host)) {
            tell(format!("{} is paired with this host now, and is taken", host.name));
        }
        for host in before.hosts().iter().filter(|host| missing(&now, host)) {
            tell(format!("{} is forgotten, and is taken no more", host.name));
        }
    }

    fn accept(&self) {
        let paired = self.hosts().into_iter().map(|host| host.key);
        self.keys.replace(paired.chain(self.always.iter().copied()));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
