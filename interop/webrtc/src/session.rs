use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::assorted::{Totals, is_unordered, payload, ppid};
use crate::options::{Close, Options};
use crate::report::Reporter;
use crate::stack::{Event, Stack};

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Opening,
    Sending,
    Expecting,
    HoldingUp(Instant),
    Closing,
    Ended { well: bool },
}

/// One association from its beginning to its end: what the user of the stack wants of it.
pub(crate) struct Session<'a> {
    options: &'a Options,
    reporter: &'a Reporter,
    stage: Stage,
    arrived: Totals,
    sent: u64,
    /// What is still to be echoed.
    echoes: VecDeque<(u16, u32, Vec<u8>)>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(options: &'a Options, reporter: &'a Reporter) -> Self {
        Self {
            options,
            reporter,
            stage: Stage::Opening,
            arrived: Totals::default(),
            sent: 0,
            echoes: VecDeque::new(),
        }
    }

    /// The exit status, once it is over.
    pub(crate) fn status(&self) -> Option<i32> {
        match self.stage {
            Stage::Ended { well } => Some(i32::from(!well)),
            _ => None,
        }
    }

    /// It is taking too long: what there is.
    pub(crate) fn give_up(&self) {
        self.reporter.say_received(&self.arrived);
        let text = format!("{} s are over", self.options.timeout);
        self.reporter.say("error", json!({"call": "timeout", "error": text}));
    }

    /// When it wants to be asked again though nothing has happened.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::HoldingUp(until) => Some(until),
            _ => None,
        }
    }

    /// Takes note of what has happened and does what is next.
    pub(crate) fn step(&mut self, now: Instant, stack: &mut dyn Stack) {
        while let Some(event) = stack.poll_event() {
            self.heard(event);
        }
        while let Some((stream, ppid, payload)) = self.echoes.pop_front() {
            if !stack.send(stream, ppid, is_unordered(stream), &payload) {
                self.echoes.push_front((stream, ppid, payload));
                break;
            }
        }
        if self.stage == Stage::Sending && self.send(stack) {
            self.stage = Stage::Expecting;
        }
        if self.stage == Stage::Expecting
            && self.arrived.messages >= self.options.expect
            && self.echoes.is_empty()
        {
            self.stage = Stage::HoldingUp(now + Duration::from_millis(self.options.hold));
        }
        if matches!(self.stage, Stage::HoldingUp(until) if until <= now) {
            self.stage = Stage::Closing;
            self.close(stack);
        }
    }

    fn heard(&mut self, event: Event) {
        match event {
            Event::Up => {
                self.reporter.say("up", json!({}));
                self.stage = Stage::Sending;
            }
            Event::Received { stream, ppid, payload } => {
                self.arrived.add(stream, ppid, &payload);
                if self.options.echo {
                    self.echoes.push_back((stream, ppid, payload));
                }
            }
            Event::Shutdown => self.ended("shutdown_complete", ""),
            Event::Lost(text) => self.ended("lost", &text),
        }
    }

    /// As much as there is room for; true if that was all.
    fn send(&mut self, stack: &mut dyn Stack) -> bool {
        while self.sent < self.options.send {
            let stream = (self.sent % u64::from(self.options.streams)) as u16;
            let message = payload(self.sent / u64::from(self.options.streams), stream);
            if !stack.send(stream, ppid(stream), is_unordered(stream), &message) {
                return false;
            }
            self.sent += 1;
        }
        if self.sent > 0 {
            self.reporter.say("sent", json!({"messages": self.sent, "error": null}));
        }
        true
    }

    fn close(&mut self, stack: &mut dyn Stack) {
        match self.options.closing() {
            Close::Shutdown => stack.shutdown(),
            Close::Abort => {
                self.reporter.say("abort", json!({"by": "us"}));
                stack.abort();
            }
            Close::Vanish => self.ended("vanished", ""),
            Close::Wait => {}
        }
    }

    fn ended(&mut self, how: &str, text: &str) {
        self.reporter.say("closed", json!({"how": how, "cause": 0, "text": text}));
        self.reporter.say_received(&self.arrived);
        let all = self.sent == self.options.send
            && self.arrived.messages >= self.options.expect
            && self.arrived.ok();
        // An ABORT of ours is asked for, and one of theirs is an end, too: `closed` tells.
        self.stage = Stage::Ended { well: all };
    }
}
