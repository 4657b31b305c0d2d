//! The protocol settings that a paper states, from `data/scenarios.toml`.

use core::time::Duration;

use whimbrel_proto::{
    AssociationFailure, AuthConfig, BurstLimit, Config, DarConfig, DarMode, HeartbeatConfig, InitialWindow,
    LossDetection, PathPairing, PathVerification, PmtuConfig, PmtuSearch, PrimaryChangeRule,
    RetransmissionOrder, RetransmissionPath, RtoConfig, SackConfig, SackRequests,
};
use whimbrel_rivals::tcp::{
    Cubic, DelayedAck, NewCongestionControl, NewRecovery, NewReno, Reno, RtoConfig as RetransmissionTimeout,
    Sack, TcpConfig,
};

use crate::scenario::{DataError, Settings};

/// Bytes of an IPv4 header.
pub const IP_HEADER: usize = 20;
/// Bytes of the SCTP common header and the header of a DATA chunk (RFC 9260 §3).
pub const SCTP_HEADERS: usize = 12 + 16;

/// RFC 9260's defaults with what a profile of the papers says instead.
///
/// The receive buffer is one message longer than the paper's: a reader takes each message just after the SACK for it
/// has left, and the window advertised with that SACK is to be the paper's.
///
/// # Errors
/// When a value is missing.
pub fn config(profile: &Settings, message: usize) -> Result<Config, DataError> {
    let rfc = Config::rfc();
    let seconds = |name| profile.number(name).map(Duration::from_secs_f64);
    let whole = |name| profile.number(name).map(|value| value as usize);
    let packet = whole("mtu")? - IP_HEADER;
    let mut config = Config {
        rto: RtoConfig {
            initial: seconds("rto_initial")?,
            min: seconds("rto_min")?,
            max: seconds("rto_max")?,
            granularity: seconds("clock_granularity")?,
            ..rfc.rto
        },
        heartbeat: HeartbeatConfig { interval: Some(seconds("hb_interval")?), ..rfc.heartbeat },
        sack: SackConfig {
            delay: seconds("sack_delay")?,
            packets: whole("sack_every")? as u32,
            requests: SackRequests::ByTheUser,
            ..rfc.sack
        },
        pmtu: PmtuConfig { base: packet, max: packet, search: PmtuSearch::Off, cut_for: None },
        ..rfc
    };
    config.failure.path_max_retrans = whole("pmr")? as u32;
    config.failure.association = AssociationFailure::Errors(whole("assoc_max_retrans")? as u32);
    config.congestion.initial_window = InitialWindow::Bytes(whole("init_cwnd")?);
    config.congestion.burst = match whole("max_burst")? {
        0 => BurstLimit::Packets(u32::MAX / 2),
        packets => BurstLimit::Packets(packets as u32),
    };
    config.retransmission.loss = LossDetection::MissIndications(whole("frtx_threshold")? as u8);
    config.limits.receive_buffer = whole("rwnd")? + message;
    if profile.get("rtx_before_new").and_then(toml::Value::as_bool) == Some(true) {
        config.retransmission.order = RetransmissionOrder::LostFirst;
    }
    // Sources are never held up by the sender's own buffer.
    config.limits.send_buffer = 1 << 30;
    (config.primary_change, config.retransmission.path) = primary_change(profile)?;
    config.pairing = match profile.word("pairing") {
        "" | "per destination" => PathPairing::PerDestination,
        "mesh" => PathPairing::Mesh,
        other => return Err(DataError(format!("paths are not paired as in {other}"))),
    };
    if profile.get("path_verification").and_then(toml::Value::as_bool) == Some(false) {
        config.verification = PathVerification::Omitted;
    }
    Ok(config)
}

/// Where lost data goes, and what becomes of it when the primary path changes.
///
/// `split` is RFC 9260 §6.4: what times out goes to the alternate, fast retransmissions take the same path. With `primary-only`
/// everything takes the primary path, after a probe if the profile has one (c04 section 2.2).
fn primary_change(profile: &Settings) -> Result<(PrimaryChangeRule, RetransmissionPath), DataError> {
    let probes = profile.get("probe_on_set_primary").and_then(toml::Value::as_bool) == Some(true);
    match profile.word("rtx_policy") {
        "split" => Ok((PrimaryChangeRule::Standard, RetransmissionPath::Alternate)),
        "primary-only" if probes => Ok((PrimaryChangeRule::ProbeFirst, RetransmissionPath::Primary)),
        "primary-only" => Ok((PrimaryChangeRule::LostFirst, RetransmissionPath::Primary)),
        other => Err(DataError(format!("there is no rtx_policy {other}"))),
    }
}

/// The same with a policy at the mobile node, whose requests are authenticated (RFC 5061 §4.1.1, RFC 4895).
pub(crate) fn with_requests(config: Config) -> Config {
    let dar = DarConfig { mode: DarMode::Negotiated, ..config.dar };
    Config { dar, auth: AuthConfig::offered(), ..config }
}

/// TCP as the data have it, and as usual where they say nothing.
pub(crate) fn tcp(profile: &Settings) -> Result<TcpConfig, DataError> {
    let usual = TcpConfig::default();
    let or = |name, usual| {
        if profile.get(name).is_some() { profile.number(name) } else { Ok::<_, DataError>(usual) }
    };
    let (recovery, congestion): (NewRecovery, NewCongestionControl) = match profile.word("variant") {
        "newreno" => (NewReno::boxed, Reno::boxed),
        "sack" => (Sack::boxed, Reno::boxed),
        "cubic" => (Sack::boxed, Cubic::boxed),
        other => return Err(DataError(format!("there is no TCP variant {other}"))),
    };
    let rto = RetransmissionTimeout {
        initial: Duration::from_secs_f64(or("rto_initial", usual.rto.initial.as_secs_f64())?),
        min: Duration::from_secs_f64(profile.number("rto_min")?),
        ..usual.rto
    };
    let after = Duration::from_secs_f64(profile.number("delayed_ack")?);
    Ok(TcpConfig {
        mss: or("mss", usual.mss.into())? as u16,
        initial_window: profile.number("init_cwnd_segments")? as u32,
        receive_window: profile.number("rwnd")? as u32,
        rto,
        delayed_ack: DelayedAck { segments: 2, after },
        duplicate_threshold: or("dupthresh", usual.duplicate_threshold.into())? as u32,
        recovery,
        congestion,
        ..usual
    })
}

/// What Whimbrel recommends to hosts that move, with the paper's packet size.
pub fn mobile(profile: &Settings) -> Result<Config, DataError> {
    let packet = profile.number("mtu")? as usize - IP_HEADER;
    let mut config = Config::mobile();
    config.pmtu = PmtuConfig { base: packet, max: packet, search: PmtuSearch::Off, cut_for: None };
    config.limits.send_buffer = 1 << 30;
    Ok(config)
}
