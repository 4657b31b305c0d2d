//! b08 Figure 12: how long the first packets on the alternate path take, for a sender that starts slowly and for one that
//! knows the bandwidth.
//!
//! [`failover`] is what the paper describes: a bulk transfer whose primary path breaks. [`idle`] takes everything away but slow start.

pub(super) mod failover;
pub(super) mod idle;

use crate::experiment::{Axes, Sample};
use crate::plot::{Line, Plot, Quantity};
use crate::value::Value;

const PAIRS: [&str; 3] = ["wlan-umts", "umts-wlan", "geran-wlan"];
/// User data in a packet, kB.
const KB_IN_PACKET: f64 = 1.452;
const KNOWN: &str = "bandwidth known";

/// What the sender knows of the alternate path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knows {
    Nothing,
    Bandwidth,
}

/// When packet 1, 2, … had arrived, in seconds from the start.
type Times = Vec<Option<f64>>;

/// Rows with a time per packet.
fn times(packets: &[Value], times: &Times, variant: Option<&'static str>) -> Vec<Sample> {
    let row = |(packets, time): (&Value, &Option<f64>)| {
        let mut axes = Axes::new();
        if let Some(variant) = variant {
            axes.push(("variant".into(), variant.into()));
        }
        axes.push(("packets".into(), packets.clone()));
        let mut sample = Sample { axes, ..Sample::default() };
        sample.put_some("transfer_time", *time);
        sample
    };
    packets.iter().zip(times).map(row).collect()
}

/// Rows with what knowing the bandwidth saves, per packet.
fn gains(packets: &[Value], standard: &Times, optimal: &Times) -> Vec<Sample> {
    let row = |((packets, standard), optimal): ((&Value, &Option<f64>), &Option<f64>)| {
        let mut sample = Sample { axes: vec![("packets".into(), packets.clone())], ..Sample::default() };
        let gain = standard.zip(*optimal).map(|(standard, optimal)| 1.0 - optimal / standard);
        sample.put_some("gain", gain);
        sample
    };
    packets.iter().zip(standard).zip(optimal).map(row).collect()
}

/// A panel: the user data that has arrived by the time since the start.
fn startup_plot(figure: &'static str, title: String, lines: Vec<Line>) -> Plot {
    Plot {
        figure,
        title,
        x: Quantity::metric("transfer_time", "time (s)"),
        y: Quantity::axis("packets", "user data received (kB)").times(KB_IN_PACKET),
        lines,
    }
}
