//! Whether the gateway of a session is there: it is asked by OPTIONS within the dialog (RFC 3261 §11).

use core::time::Duration;

use whimbrel_machine::Instant;

use crate::sip::{ClientId, Message};

/// What the answer to a question, or none, has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// The gateway does not answer, and did before.
    Silent,
    /// It answers, and did not before.
    Back,
    /// It answers, and knows nothing of the session: it has been started anew.
    Forgotten,
}

/// The questions of one terminal.
#[derive(Debug)]
pub(crate) struct Supervision {
    interval: Option<Duration>,
    due: Option<Instant>,
    asked: Option<ClientId>,
    silent: bool,
}

impl Supervision {
    /// Questions at this interval, if there is one, from `now` on.
    pub(crate) fn new(interval: Option<Duration>, now: Instant) -> Self {
        let due = interval.map(|interval| now + interval);
        Self { interval, due, asked: None, silent: false }
    }

    /// Whether it is time for a question, and what it means that it is: nobody has answered the last one.
    pub(crate) fn pass(&mut self, now: Instant) -> (bool, Option<Finding>) {
        let Some(interval) = self.interval.filter(|_| self.due.is_some_and(|due| due <= now)) else {
            return (false, None);
        };
        self.due = Some(now + interval);
        let news = (self.asked.is_some() && !self.silent).then_some(Finding::Silent);
        self.silent |= self.asked.is_some();
        (true, news)
    }

    /// This host has no way to the gateway any more; what that means, if it is asked at all.
    pub(crate) fn lose(&mut self) -> Option<Finding> {
        let news = (self.interval.is_some() && !self.silent).then_some(Finding::Silent);
        self.silent |= self.interval.is_some();
        news
    }

    /// The question has gone out.
    pub(crate) fn ask(&mut self, question: Option<ClientId>) {
        self.asked = question;
    }

    /// Whether this is the answer to the last question; then what it shows.
    pub(crate) fn answered(
        &mut self,
        answered: ClientId,
        response: Option<&Message>,
    ) -> Option<Option<Finding>> {
        (self.asked == Some(answered)).then_some(())?;
        let Some(response) = response else { return Some(None) };
        self.asked = None;
        let back = core::mem::take(&mut self.silent).then_some(Finding::Back);
        Some(if response.status() == 481 { Some(Finding::Forgotten) } else { back })
    }

    /// When time matters.
    pub(crate) const fn next_deadline(&self) -> Option<Instant> {
        self.due
    }
}

#[cfg(test)]
#[path = "supervision_tests.rs"]
mod tests;
