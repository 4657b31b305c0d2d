use core::time::Duration;

use whimbrel_machine::{Instant, Seed};

use super::{Dcf, DcfConfig};
use crate::medium::{Outcome, Phy, SharedMedium};

const BYTES: u32 = 1000;

/// A cell whose stations always have something to send, for `millis`.
fn saturate(config: DcfConfig, millis: u64) -> Vec<Outcome> {
    let stations = config.queues.len();
    let mut dcf = Dcf::new(config, &Seed::from_u64(7), 0);
    (0..stations).for_each(|station| assert!(dcf.offer(Instant::ZERO, station, 0, BYTES)));
    let end = Instant::ZERO + Duration::from_millis(millis);
    let mut outcomes = Vec::new();
    while let Some(now) = dcf.next_event().filter(|at| *at <= end) {
        while let Some(outcome) = dcf.advance(now) {
            outcomes.push(outcome);
            assert!(dcf.offer(now, outcome.station, outcome.ticket + 1, BYTES));
        }
    }
    outcomes
}

fn stations(phy: Phy, count: usize, rts_threshold: u32) -> DcfConfig {
    DcfConfig { queues: vec![50; count], rts_threshold, ..DcfConfig::cell(phy, 0) }
}

/// Bit/s of saturated stations by Bianchi's model (2000), with the retry limit of Wu et al. (2002). `tau`, the probability that
/// a station sends in a slot, is found by bisection.
fn bianchi(phy: Phy, count: u32, rts: bool) -> f64 {
    let others = |tau: f64| 1.0 - (1.0 - tau).powi(count as i32 - 1);
    let sends = |p: f64| {
        let (mut attempts, mut slots) = (0.0, 0.0);
        for stage in 0..7 {
            let window = f64::from(((phy.cw_min + 1) << stage).min(phy.cw_max + 1));
            attempts += p.powi(stage);
            slots += p.powi(stage) * (window + 1.0) / 2.0;
        }
        attempts / slots
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let tau = (low + high) / 2.0;
        if sends(others(tau)) > tau { low = tau } else { high = tau }
    }
    let n = f64::from(count);
    let idle = (1.0 - low).powf(n);
    let alone = n * low * (1.0 - low).powf(n - 1.0);
    let data = phy.frame(u64::from(BYTES) + 36, phy.rate_bps);
    let control = if rts {
        phy.frame(20, phy.basic_bps) + phy.frame(14, phy.basic_bps) + phy.sifs * 2
    } else {
        Duration::ZERO
    };
    let success = control + data + phy.sifs + phy.frame(14, phy.basic_bps) + phy.sifs + phy.slot * 2;
    let first = if rts { phy.frame(20, phy.basic_bps) } else { data };
    let collision = first + phy.sifs + phy.frame(14, phy.basic_bps) + phy.sifs + phy.slot * 2;
    let slot = idle * phy.slot.as_secs_f64()
        + alone * success.as_secs_f64()
        + (1.0 - idle - alone) * collision.as_secs_f64();
    alone * f64::from(BYTES * 8) / slot
}

#[test]
fn saturation_throughput_is_that_of_bianchis_model() {
    let mut off = Vec::new();
    for phy in [Phy::A, Phy::B] {
        for (rts, threshold) in [(false, 3000), (true, 400)] {
            for count in [1, 5, 10, 20, 50] {
                let outcomes = saturate(stations(phy, count, threshold), 10_000);
                let delivered = outcomes.iter().filter(|outcome| outcome.delivered).count();
                let measured = delivered as f64 * f64::from(BYTES * 8) / 10.0;
                let model = bianchi(phy, count as u32, rts);
                let ratio = measured / model;
                if (ratio - 1.0).abs() > 0.05 {
                    off.push((phy.rate_bps, rts, count, measured, model, ratio));
                }
            }
        }
    }
    assert!(off.is_empty(), "{off:?}");
}

/// The access point, too, is one contender among others: in both directions all get the same.
#[test]
fn stations_and_access_point_share_fairly() {
    let outcomes = saturate(DcfConfig::cell(Phy::B, 9), 20_000);
    let mut delivered = [0.0_f64; 10];
    outcomes.iter().filter(|outcome| outcome.delivered).for_each(|outcome| delivered[outcome.station] += 1.0);
    let mean = delivered.iter().sum::<f64>() / 10.0;
    assert!(delivered.iter().all(|count| (count / mean - 1.0).abs() < 0.15), "{delivered:?}");
}

#[test]
fn queues_hold_50_and_400_packets() {
    let mut dcf = Dcf::new(DcfConfig::cell(Phy::A, 2), &Seed::from_u64(1), 0);
    for (station, limit) in [(0, 50), (1, 50), (2, 400)] {
        let accepted = (0..500).filter(|&ticket| dcf.offer(Instant::ZERO, station, ticket, BYTES)).count();
        assert_eq!((accepted, dcf.waiting(station)), (limit, limit));
    }
    assert!(!dcf.offer(Instant::ZERO, 3, 0, BYTES));
}

/// Sends one packet in a cell that loses each frame, or none, and returns when it is over and with what outcome.
fn one(bytes: u32, frame_loss: f64, retries: (u32, u32)) -> (Instant, bool) {
    let (short_retry, long_retry) = retries;
    let config = DcfConfig { frame_loss, short_retry, long_retry, ..DcfConfig::cell(Phy::B, 1) };
    let mut dcf = Dcf::new(config, &Seed::from_u64(1), 0);
    assert!(dcf.offer(Instant::ZERO, 0, 0, bytes));
    while let Some(now) = dcf.next_event() {
        if let Some(outcome) = dcf.advance(now) {
            return (now, outcome.delivered);
        }
    }
    panic!("the packet got stuck");
}

#[test]
fn rts_and_cts_precede_frames_above_400_bytes() {
    let micros = |bytes| one(bytes, 0.0, (7, 4)).0.as_nanos() / 1000;
    // DIFS, preamble, 400 bytes at 11 Mbit/s; one byte more adds RTS (352), CTS (304) and two SIFS.
    assert_eq!(micros(364), 50 + 192 + 290);
    assert_eq!(micros(365), 50 + 352 + 10 + 304 + 10 + 192 + 291);
}

#[test]
fn the_retry_limit_of_its_kind_ends_a_frame() {
    // A limit that does not apply must not matter, one that does must.
    assert_eq!(one(100, 1.0, (7, 4)), one(100, 1.0, (7, 1)));
    assert_eq!(one(1000, 1.0, (7, 4)), one(1000, 1.0, (1, 4)));
    assert!(one(100, 1.0, (8, 4)).0 > one(100, 1.0, (7, 4)).0);
    assert!(one(1000, 1.0, (7, 5)).0 > one(1000, 1.0, (7, 4)).0);
    // A limit of 1 is one attempt, which ends when the ACK (SIFS and 304) is missed.
    let micros = |bytes, limits| one(bytes, 1.0, limits).0.as_nanos() / 1000;
    assert_eq!(micros(100, (1, 4)), 50 + 192 + 98 + 10 + 304);
    assert_eq!(micros(1000, (7, 1)), 50 + 352 + 10 + 304 + 10 + 192 + 753 + 10 + 304);
    assert!(!one(100, 1.0, (7, 4)).1 && !one(1000, 1.0, (7, 4)).1 && one(1000, 0.0, (7, 4)).1);
}

#[test]
fn the_same_seed_gives_the_same_outcomes() {
    assert_eq!(saturate(stations(Phy::A, 20, 400), 200), saturate(stations(Phy::A, 20, 400), 200));
}
