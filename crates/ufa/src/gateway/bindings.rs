//! Where the users of the gateway's domain are, by what they say themselves (the location service of RFC 3261 §10.3).

use core::time::Duration;
use std::collections::BTreeMap;

use whimbrel_machine::Instant;

use crate::sip::Contact;

/// Bindings at most, of all users and of one.
const ALL: usize = 1024;
const OF_USER: usize = 4;

/// Bytes of a Call-ID that are kept.
const CALL_ID_MAX: usize = 256;

/// How long one lives at least, at most, and if nobody says anything.
pub(super) const LEAST: Duration = Duration::from_secs(60);
const MOST: Duration = Duration::from_secs(3600);
pub(super) const USUAL: Duration = Duration::from_secs(600);

/// That a user can be called there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Binding {
    /// As the user has said it, which is what names the binding.
    pub(super) uri: String,
    /// Where that leads.
    pub(super) contact: Contact,
    pub(super) until: Instant,
    /// Of the request that has said so last.
    call_id: String,
    cseq: u32,
}

/// What a request wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// The user can be called there for as long.
    Be(String, Contact, Duration),
    /// And there no more.
    Go(String),
    /// Nowhere any more.
    GoAll,
}

/// Why nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// Less than [`LEAST`].
    TooBrief,
    /// A later request has been heard.
    Late,
    /// This user has as many as it may have.
    TooMany,
    /// All users together have.
    Full,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Bindings(BTreeMap<String, Vec<Binding>>);

impl Bindings {
    /// A request of this user, with all that it wants: all of it is done, or nothing (RFC 3261 §10.3, 7).
    pub(super) fn update(
        &mut self,
        now: Instant,
        user: &str,
        wishes: &[Wish],
        (call_id, cseq): (&str, u32),
    ) -> Result<(), Refused> {
        self.expire(now);
        let others: usize =
            self.0.iter().filter(|(other, _)| *other != user).map(|(_, theirs)| theirs.len()).sum();
        let mut mine = self.0.get(user).cloned().unwrap_or_default();
        let call_id: String = call_id.chars().take(CALL_ID_MAX).collect();
        for wish in wishes {
            let concerned = |binding: &Binding| match wish {
                Wish::Be(uri, ..) | Wish::Go(uri) => binding.uri == *uri,
                Wish::GoAll => true,
            };
            let later = |binding: &Binding| binding.call_id == call_id && binding.cseq >= cseq;
            if mine.iter().any(|binding| concerned(binding) && later(binding)) {
                return Err(Refused::Late);
            }
            mine.retain(|binding| !concerned(binding));
            let Wish::Be(uri, contact, time) = wish else { continue };
            if *time < LEAST {
                return Err(Refused::TooBrief);
            }
            let until = now + (*time).min(MOST);
            // One request may name a place twice, and then means it once.
            mine.push(Binding {
                uri: uri.clone(),
                contact: *contact,
                until,
                call_id: String::new(),
                cseq: 0,
            });
        }
        if mine.len() > OF_USER {
            return Err(Refused::TooMany);
        }
        if others + mine.len() > ALL {
            return Err(Refused::Full);
        }
        for binding in mine.iter_mut().filter(|binding| binding.call_id.is_empty()) {
            (binding.call_id, binding.cseq) = (call_id.clone(), cseq);
        }
        match mine.is_empty() {
            true => drop(self.0.remove(user)),
            false => drop(self.0.insert(user.to_owned(), mine)),
        }
        Ok(())
    }

    /// Where a user can be called: the place that was told last is the last one.
    pub(super) fn of(&self, now: Instant, user: &str) -> impl Iterator<Item = &Binding> {
        self.0.get(user).into_iter().flatten().filter(move |binding| binding.until > now)
    }

    fn expire(&mut self, now: Instant) {
        self.0.retain(|_, bindings| {
            bindings.retain(|binding| binding.until > now);
            !bindings.is_empty()
        });
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}
