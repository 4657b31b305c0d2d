//! `[profile]`: values of the protocol, by the names that the RFCs have for them.

use core::net::IpAddr;
use core::ops::RangeInclusive;
use core::time::Duration;
use std::sync::Arc;

use toml::Table;
use whimbrel_proto::path::congestion::{
    BbrParameters, ControllerFactory, CubicParameters, HyStartParameters, RenoParameters,
};
use whimbrel_proto::{
    AssociationFailure, AuthConfig, BurstLimit, Config, DarMode, FreshPath, HeartbeatForm, InitialWindow,
    LossDetection, PathPairing, PathVerification, PmtuConfig, PmtuSearch, StartUp,
};

use super::file::{File, Host, Network};
use super::parameters::{Parameter, Settings};
use super::policies::{Chosen, Kind};
use crate::profile::IP_HEADER;

const SECONDS: RangeInclusive<f64> = 0.001..=86_400.0;
const RETRANS: RangeInclusive<f64> = 0.0..=1000.0;
const PACKETS: RangeInclusive<f64> = 1.0..=1e6;
const WINDOW: RangeInclusive<f64> = 4096.0..=1_073_741_824.0;
/// A packet with its IP header: what RFC 9260 asks for, and what the networks of a file carry.
const PACKET: RangeInclusive<f64> = 532.0..=1500.0;

/// An estimate is good for so long for whoever starts by it: T_d of b08.
const ESTIMATE_AGE: Duration = Duration::from_secs(120);

/// What a host has.
pub(super) fn of_hosts() -> Vec<Parameter> {
    vec![
        Parameter::word("base", "profile that the rest changes", &["mobile", "rfc"]),
        Parameter::real("RTO.Initial", "s; retransmission timeout before a round trip is measured", SECONDS),
        Parameter::real("RTO.Min", "s; least retransmission timeout", SECONDS),
        Parameter::real("RTO.Max", "s; greatest retransmission timeout", SECONDS),
        Parameter::real("Clock.Granularity", "s; least RTTVAR (G of RFC 9260 section 6.3.1)", 1e-9..=1.0),
        Parameter::real("HB.interval", "s; time between heartbeats of an idle path, beside its RTO", SECONDS)
            .or_off(),
        Parameter::word(
            "Packet.Trains",
            "whether heartbeats are trains that measure capacity",
            &["on", "off"],
        ),
        Parameter::word(
            "Start.Up",
            "how a path starts that new data goes over to",
            &["slow-start", "estimate"],
        ),
        Parameter::whole("HB.Max.Burst", "heartbeats sent in one RTO to confirm paths", PACKETS),
        Parameter::real("SACK.Delay", "s; most that an acknowledgement is delayed", 0.0..=0.5),
        Parameter::whole("SACK.Frequency", "packets after which an acknowledgement is sent", PACKETS),
        Parameter::whole("Max.Burst", "packets sent at one opportunity", PACKETS).or_off(),
        Parameter::whole("Path.Max.Retrans", "errors of a path that do not make it inactive", RETRANS),
        Parameter::whole("Association.Max.Retrans", "errors that do not end the association", RETRANS),
        Parameter::whole("Max.Init.Retransmits", "repetitions of INIT", RETRANS),
        Parameter::whole(
            "PotentiallyFailed.Max.Retrans",
            "errors of a path that do not make it potentially failed (RFC 7829)",
            RETRANS,
        )
        .or_off(),
        Parameter::whole(
            "Primary.Switchover.Max.Retrans",
            "errors of the primary path after which another is primary for good (RFC 7829)",
            RETRANS,
        )
        .or_off(),
        Parameter::whole("a_rwnd", "B; receive window", WINDOW),
        Parameter::whole("Initial.Window", "packets; congestion window of a fresh path", PACKETS),
        Parameter::word(
            "Congestion.Control",
            "what decides how fast a sender sends (RFC 9260 section 7.2, RFC 9438, BBR version 3)",
            &["reno", "cubic", "bbr"],
        ),
        Parameter::whole("Miss.Indications", "reports that make a chunk lost", 1.0..=255.0),
        Parameter::whole("PMTU", "B; path MTU, known beforehand", PACKET),
        Parameter::word("ASCONF", "whether addresses come and go (RFC 5061)", &["on", "off"]),
        Parameter::word(
            "Path.Verification",
            "whether an address answers a heartbeat before data goes there",
            &["on", "off"],
        ),
    ]
}

/// What a path has of its own: that is all the transport can have different from network to network.
pub(super) fn of_networks() -> Vec<Parameter> {
    vec![
        Parameter::whole("Initial.Window", "packets; congestion window of a fresh path", PACKETS),
        Parameter::whole("ssthresh", "B; slow start threshold of a fresh path", WINDOW),
        Parameter::real("RTO.Initial", "s; retransmission timeout before a round trip is measured", SECONDS),
    ]
}

/// The meaning of a value.
pub(super) fn meaning(name: &str) -> Option<&'static str> {
    let known = of_hosts().into_iter().chain(of_networks()).find(|parameter| parameter.name == name);
    known.map(|parameter| parameter.says)
}

/// What hosts in this file run with under a policy.
pub(super) fn config(
    file: &File,
    host: &Host,
    owner: &str,
    policy: &Chosen,
    name: &str,
) -> Result<Config, String> {
    let read = |place: &str, table: Option<&Table>| match table {
        Some(table) => Settings::read(place, "SCTP", table, &of_hosts()),
        None => Ok(Settings::default()),
    };
    let of_policy = file.policy.get(name).and_then(|policy| policy.profile.as_ref());
    let settings = read("profile", file.profile.as_ref())?
        .with(&read(&format!("policy.{name}.profile"), of_policy)?)
        .with(&read(&format!("host.{owner}.profile"), host.profile.as_ref())?);
    let base = match (settings.word("base"), policy.kind) {
        (Some("rfc"), _) | (None, Kind::Rfc) => Config::rfc(),
        _ => Config::mobile(),
    };
    let mut base = base;
    if policy.kind == Kind::Aisle {
        base.heartbeat.form = HeartbeatForm::Train;
    }
    let config = changed(base, &settings);
    if config.congestion.start_up != StartUp::SlowStart && config.heartbeat.form != HeartbeatForm::Train {
        return Err(
            "profile: Start.Up = \"estimate\" goes by what packet trains measure; say Packet.Trains = \"on\""
                .to_owned(),
        );
    }
    let moves = !matches!(policy.kind, Kind::Rfc | Kind::MobileIp);
    if moves && config.dar.mode == DarMode::Off && settings.word("ASCONF").is_none() {
        return Err(format!(
            "profile: the policy {name} moves a host by ASCONF, which base = \"rfc\" has not; say ASCONF = \"on\", or \"off\" if that is meant"
        ));
    }
    config.validate().map_err(|error| {
        let error = format!("profile under {name}: {error}");
        if !error.contains("RTO.") {
            return error;
        }
        let [initial, min, max] =
            [config.rto.initial, config.rto.min, config.rto.max].map(|rto| rto.as_secs_f64());
        format!("{error} (RTO.Initial is {initial}, RTO.Min {min}, RTO.Max {max} s)")
    })?;
    Ok(config)
}

/// What is measured of paths, and what becomes of it.
fn measure(config: &mut Config, settings: &Settings) {
    match settings.word("Packet.Trains") {
        Some("on") => config.heartbeat.form = HeartbeatForm::Train,
        Some(_) => config.heartbeat.form = HeartbeatForm::Single,
        None => {}
    }
    if settings.word("Start.Up") == Some("estimate") {
        config.congestion.start_up = StartUp::ByEstimate { no_older_than: ESTIMATE_AGE };
    }
}

fn changed(mut config: Config, settings: &Settings) -> Config {
    let seconds = |name, place: &mut Duration| *place = settings.seconds_or(name, *place);
    let whole = |name, place: &mut u32| *place = settings.number(name).map_or(*place, |value| value as u32);
    seconds("RTO.Initial", &mut config.rto.initial);
    seconds("RTO.Min", &mut config.rto.min);
    seconds("RTO.Max", &mut config.rto.max);
    seconds("Clock.Granularity", &mut config.rto.granularity);
    seconds("SACK.Delay", &mut config.sack.delay);
    whole("SACK.Frequency", &mut config.sack.packets);
    whole("HB.Max.Burst", &mut config.heartbeat.max_burst);
    whole("Path.Max.Retrans", &mut config.failure.path_max_retrans);
    whole("Max.Init.Retransmits", &mut config.failure.max_init_retransmits);
    if let Some(interval) = settings.optional("HB.interval") {
        config.heartbeat.interval = interval.map(Duration::from_secs_f64);
    }
    measure(&mut config, settings);
    if let Some(errors) = settings.number("Association.Max.Retrans") {
        config.failure.association = AssociationFailure::Errors(errors as u32);
    }
    if let Some(errors) = settings.optional("PotentiallyFailed.Max.Retrans") {
        config.failure.potentially_failed_max_retrans = errors.map(|errors| errors as u32);
    }
    if let Some(errors) = settings.optional("Primary.Switchover.Max.Retrans") {
        config.failure.primary_switchover_max_retrans = errors.map(|errors| errors as u32);
    }
    change_congestion(&mut config, settings);
    if let Some(reports) = settings.number("Miss.Indications") {
        config.retransmission.loss = match config.retransmission.loss {
            LossDetection::Rack(_) => LossDetection::Rack(reports as u8),
            _ => LossDetection::MissIndications(reports as u8),
        };
    }
    if let Some(bytes) = settings.number("a_rwnd") {
        config.limits.receive_buffer = bytes as usize;
    }
    if let Some(bytes) = settings.number("PMTU") {
        let packet = bytes as usize - IP_HEADER;
        config.pmtu = PmtuConfig { base: packet, max: packet, search: PmtuSearch::Off, cut_for: None };
    }
    match settings.word("ASCONF") {
        Some("on") => {
            config.dar.mode = DarMode::Negotiated;
            config.auth = AuthConfig::offered();
            // A policy chooses among paths: with one for each of the peer's addresses, which is one here, it has no choice.
            config.pairing = PathPairing::Mesh;
        }
        Some(_) => config.dar.mode = DarMode::Off,
        None => {}
    }
    if let Some(word) = settings.word("Path.Verification") {
        config.verification =
            if word == "off" { PathVerification::Omitted } else { PathVerification::Required };
    }
    // A cookie is good for as long as it may be repeated, however often and slowly that is.
    let tries = config.rto.max.saturating_mul(config.failure.max_init_retransmits.saturating_add(1));
    config.cookie.key_period = config.cookie.key_period.max(tries);
    // Sources are never held up by the sender's own buffer.
    config.limits.send_buffer = 1 << 30;
    config
}

fn change_congestion(config: &mut Config, settings: &Settings) {
    if let Some(packets) = settings.optional("Max.Burst") {
        let packets = packets.map_or(u32::MAX / 2, |packets| packets as u32);
        config.congestion.burst = match config.congestion.burst {
            BurstLimit::Packets(_) => BurstLimit::Packets(packets),
            BurstLimit::AckClocked(_) => BurstLimit::AckClocked(packets),
        };
    }
    if let Some(packets) = settings.number("Initial.Window") {
        config.congestion.initial_window = InitialWindow::Packets(packets as u32);
    }
    if let Some(word) = settings.word("Congestion.Control") {
        config.congestion.controller = controller(word, settings.word("base"));
    }
}

/// The controller that a file names. Those that begin with slow start leave it in time (RFC 9406), but for the RFC's own.
fn controller(name: &str, base: Option<&str>) -> Arc<dyn ControllerFactory> {
    match (name, base) {
        ("reno", Some("rfc")) => Config::rfc().congestion.controller,
        ("reno", _) => Arc::new(HyStartParameters::around(RenoParameters::default())),
        ("cubic", _) => Arc::new(HyStartParameters::around(CubicParameters::default())),
        _ => Arc::new(BbrParameters::default()),
    }
}

/// What the file says of fresh paths over a network.
pub(super) fn of_network(name: &str, network: &Network) -> Result<Settings, String> {
    let Some(table) = &network.profile else { return Ok(Settings::default()) };
    let place = format!("network.{name}.profile");
    Settings::read(&place, "a path", table, &of_networks()).map_err(|error| {
        let named =
            of_hosts().iter().any(|parameter| error.contains(&format!(" called {};", parameter.name)));
        let hint = if named { ". The rest SCTP has once for all paths: it stands in [profile]" } else { "" };
        format!("{error}{hint}")
    })
}

/// What fresh paths over a network begin with for a host that has `config` under a policy, if the file says so.
pub(super) fn fresh_path(
    (name, network): (&str, &Network),
    address: IpAddr,
    config: &Config,
    policy: &str,
) -> Result<Option<FreshPath>, String> {
    if network.profile.is_none() {
        return Ok(None);
    }
    let settings = of_network(name, network)?;
    let rto_initial = settings.seconds("RTO.Initial");
    let [min, max] = [config.rto.min, config.rto.max];
    if let Some(rto) = rto_initial.filter(|rto| !(min..=max).contains(rto)) {
        let [rto, min, max] = [rto, min, max].map(|time| time.as_secs_f64());
        return Err(format!(
            "network.{name}.profile.RTO.Initial is {rto}, and must lie between RTO.Min and RTO.Max, which are {min} and {max} s under {policy}; \
             [profile] may have others"
        ));
    }
    if settings.number("ssthresh").is_some() && !config.congestion.controller.has_threshold() {
        return Err(format!(
            "network.{name}.profile.ssthresh: BBR, which decides under {policy}, has no slow-start threshold; [profile] may say Congestion.Control = \"reno\""
        ));
    }
    Ok(Some(FreshPath {
        address,
        initial_window: settings
            .number("Initial.Window")
            .map(|packets| InitialWindow::Packets(packets as u32)),
        ssthresh: settings.number("ssthresh").map(|bytes| bytes as usize),
        rto_initial,
    }))
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
