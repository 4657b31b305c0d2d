//! What is measured of each host.

use std::collections::BTreeSet;

use whimbrel_machine::Instant;
use whimbrel_netsim::{HostId, Mixed};
use whimbrel_testbed::{Tally, flow, tcp};

use super::file::{Event, File, HostKind};
use super::residents::Resident;
use super::rivals;
use super::traffic::Kind;
use super::world::{OwnWorld, Place, START};
use crate::experiment::Sample;
use crate::setups::User;

/// Every metric there is: its name, and its unit and definition.
pub(super) const METRICS: [(&str, &str); 8] = [
    ("goodput", "bit/s; user data delivered within the duration, over the duration"),
    (
        "longest_silence",
        "s; the longest time within the duration in which no user data was delivered, after the first, which may be from before it. After its last byte a file is not \
         silent, nor is a video with a count of which all messages are there; empty if nothing was delivered",
    ),
    (
        "moves",
        "how often new data took another path (with Mobile IP, registrations in another network than the one before)",
    ),
    (
        "move_latency",
        "s; from the first event of the file until new data takes another path; empty if it does not, or if new data was not on the event's \
         network",
    ),
    ("retransmitted", "share of retransmissions among all DATA chunks (with TCP, segments) sent"),
    (
        "completion_time",
        "s; from when the traffic begins until the last byte of the file is delivered; empty if it was not",
    ),
    (
        "transfer_time",
        "s; mean time of a message from when it is due until it is delivered, of those that are delivered within the duration",
    ),
    (
        "late",
        "share of messages not delivered at their deadline, of those whose deadline lies within the duration",
    ),
];

/// The names of those that a file may yield, in their order.
pub(super) fn of_file(file: &File, names: &mut BTreeSet<&'static str>) {
    names.insert("goodput");
    names.insert("longest_silence");
    names.insert("retransmitted");
    for (_, host) in file.hosts() {
        let Some(traffic) = file.traffic_of(host) else { continue };
        if traffic.kind == Kind::File {
            names.insert("completion_time");
        }
        if host.kind == HostKind::Mobile {
            names.insert("moves");
            if !file.event.is_empty() {
                names.insert("move_latency");
            }
            if traffic.interval().is_some() {
                names.insert("transfer_time");
            }
            if traffic.deadline.is_some() {
                names.insert("late");
            }
        }
    }
}

impl Place<'_> {
    /// Lets the time pass that the experiment takes. What is delivered in the second before it does not count.
    pub(super) fn run(&mut self) {
        self.world.run_until(Instant::ZERO + START);
        for resident in &mut self.residents {
            resident.before = tally(&self.world, resident.reader).map_or(0, |tally| tally.received);
        }
        self.world.run_until(self.end);
    }

    /// What came of a host's traffic.
    pub(super) fn sample(&self, resident: &Resident<'_>) -> Sample {
        let mut sample = Sample::default();
        let traffic = resident.traffic;
        let Some(&Tally { received, silence, .. }) = tally(&self.world, resident.reader) else {
            return sample;
        };
        let is_complete = traffic.bytes().is_some_and(|bytes| received >= bytes);
        // After its last byte a file or a video is not silent, it is there.
        let complete = silence.last().filter(|_| is_complete);
        let silence = silence.longest(complete.unwrap_or(self.end));
        let within = received.saturating_sub(resident.before);
        sample.put("goodput", within as f64 * 8.0 / self.lasts.as_secs_f64());
        sample.put_some("longest_silence", silence.map(|silence| silence.as_secs_f64()));
        let file = complete.filter(|_| traffic.kind == Kind::File);
        let took = file.map(|last| last.saturating_since(resident.begins).as_secs_f64());
        sample.put_some("completion_time", took);
        match (self.world.app(resident.sender), self.world.machine(resident.sender)) {
            (Mixed::First(user), Mixed::First(node)) => {
                sample.put("moves", user.uses.len().saturating_sub(1) as f64);
                sample.put_some("move_latency", self.move_latency(resident, user));
                let stats = user.association().and_then(|id| node.stats(id)).unwrap_or_default();
                let all = stats.data_sent + stats.data_retransmitted;
                sample.put("retransmitted", stats.data_retransmitted as f64 / all.max(1) as f64);
            }
            (Mixed::Second(user), Mixed::Second(rival)) => {
                let stats = |connection| tcp(rival)?.stats(connection);
                if let Some(stats) = flow(user).and_then(|flow| flow.connection).and_then(stats) {
                    sample.put("retransmitted", stats.retransmissions as f64 / stats.segments.max(1) as f64);
                }
            }
            _ => {}
        }
        if let Mixed::Second(rival) = self.world.machine(resident.mn) {
            sample.put_some("moves", rivals::moves(rival).map(|moves| moves as f64));
        }
        if let Mixed::First(reader) = self.world.app(resident.reader)
            && let Some(times) = reader.transfer_times()
        {
            sample.put_some("transfer_time", times.mean());
            sample.put_some("late", times.late());
        }
        sample
    }

    /// Seconds from the first event until new data leaves the network that it befalls.
    fn move_latency(&self, resident: &Resident<'_>, sender: &User) -> Option<f64> {
        let event = self.events.iter().map(Event::begins).min()?;
        let used = sender.in_use_before(event)?;
        let network = self.networks[resident.network_of(used.route)?].name;
        let mut first = self.events.iter().filter(|each| each.begins() == event);
        first.any(|each| each.network == network).then_some(())?;
        Some(sender.left(used, event)?.saturating_since(event).as_secs_f64())
    }
}

/// What a host's user keeps.
fn tally(world: &OwnWorld, host: HostId) -> Option<&Tally> {
    match world.app(host) {
        Mixed::First(user) => Some(user),
        Mixed::Second(user) => Some(&flow(user)?.record),
    }
}
