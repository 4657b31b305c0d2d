//! What a file says and nothing reads. Whoever wrote it believes that it matters, and would take the results for those of another experiment.

use std::collections::BTreeMap;

use super::file::{File, Host, HostKind, What};
use super::losses::LossPlan;
use super::policies::{Chosen, Kind};

/// What is read in no cell of a sweep so far, by its place in the file, with what to do about it.
#[derive(Default)]
pub(super) struct Unread(Option<BTreeMap<String, &'static str>>);

impl Unread {
    /// Looks at one more cell: what is read there is read.
    pub(super) fn look_at(&mut self, file: &File) {
        let here = unread(file);
        match &mut self.0 {
            None => self.0 = Some(here),
            Some(all) => all.retain(|place, _| here.contains_key(place)),
        }
    }

    /// Says what no cell reads.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.0.iter().flatten().next() {
            Some((place, advice)) => Err(format!("{place} is read by nobody: {advice}")),
            None => Ok(()),
        }
    }
}

/// What nothing in the world of a file reads.
fn unread(file: &File) -> BTreeMap<String, &'static str> {
    let mut unread = BTreeMap::new();
    let mut note = |is_read: bool, place: String, advice: &'static str| {
        if !is_read {
            unread.insert(place, advice);
        }
    };
    for name in file.policy.keys() {
        let compared = file.policies.contains(name);
        let of_host = file.host.values().any(|host| host.policy.as_ref() == Some(name));
        let advice = "name it in `policies`, or as the `policy` of a host";
        note(compared || of_host, format!("policy.{name}"), advice);
    }
    let sctp = "profiles are SCTP's, and here are TCP and mobile-ip alone; take it out, or give a host another policy";
    if file.profile.is_some() {
        note(speaks_sctp(file, |_| true), "profile".to_owned(), sctp);
    }
    for (name, host) in file.host.iter().filter(|(_, host)| host.profile.is_some()) {
        note(has_sctp(file, host), format!("host.{name}.profile"), sctp);
    }
    for (name, network) in &file.network {
        let place = |field: &str| format!("network.{name}.{field}");
        if network.profile.is_some() {
            note(speaks_sctp(file, |host| host.is_in(name)), place("profile"), sctp);
        }
        if network.burst.is_some() {
            let lost = |event: &super::file::Event| {
                event.what == What::Loss && event.value > Some(0.0) && event.network == *name
            };
            let loses = network.loss != LossPlan::Mean(0.0) || file.event.iter().any(lost);
            note(loses, place("burst"), "nothing is lost there; give the network a `loss`");
        }
    }
    note_motion(file, &mut note);
    if file.traffic.is_some() {
        let is_read = file.hosts().iter().any(|(_, host)| host.traffic.is_none());
        note(is_read, "traffic".to_owned(), "each host has a traffic of its own; take it out");
    }
    unread
}

/// Motion is read where there are cells.
fn note_motion(file: &File, note: &mut impl FnMut(bool, String, &'static str)) {
    let hears_cells = |host: &Host| {
        let mut there = file.network.iter().filter(|(name, _)| host.is_in(name));
        host.kind == HostKind::Mobile && there.any(|(_, network)| network.cell.is_some())
    };
    let advice = "it leads nowhere without cells; give a network a `cell`";
    if file.motion.is_some() {
        let is_read = file.hosts().iter().any(|(_, host)| host.motion.is_none() && hears_cells(host));
        note(is_read, "motion".to_owned(), advice);
    }
    for (name, host) in file.host.iter().filter(|(_, host)| host.motion.is_some()) {
        note(hears_cells(host), format!("host.{name}.motion"), advice);
    }
}

/// Whether some host of these speaks SCTP.
fn speaks_sctp(file: &File, whether: impl Fn(&Host) -> bool) -> bool {
    file.hosts().iter().any(|(_, host)| whether(host) && has_sctp(file, host))
}

/// Whether a host speaks SCTP under some policy.
fn has_sctp(file: &File, host: &Host) -> bool {
    let is_sctp =
        |policy: &String| Chosen::named(file, policy, "").is_ok_and(|chosen| chosen.kind != Kind::MobileIp);
    let mobile = host.kind == HostKind::Mobile;
    mobile && host.policy.as_ref().map_or_else(|| file.policies.iter().any(is_sctp), is_sctp)
}
