use toml::Value as Toml;

use super::*;
use crate::PAPER;

fn cell(axes: &[(&'static str, crate::Value)]) -> Cell {
    let axes = axes.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Cell { series: PAPER.into(), axes }
}

fn place(papers: &Papers) -> HardHandoverPlace {
    HardHandoverPlace::new(papers, "d10-fig4").unwrap()
}

/// What profiles of other papers do not have, and settings that only this place knows.
#[test]
fn every_setting_of_the_place_is_read() {
    let papers = Papers::load().unwrap();
    let set_up = |papers: &Papers| {
        let place = place(papers);
        let (sctp, _) = place.sctp(&cell(&[("scheme", "m-sctp".into())]));
        format!("{sctp:?} {:?} {:?} {:?}", place.air(&cell(&[])), place.order, place.phase)
    };
    let assumed = set_up(&papers);
    for (leaf, value) in [
        ("profile.d10.cwnd_growth", Toml::from("any")),
        ("profile.d10.fast_recovery", "path".into()),
        ("profile.d10.kick_on_set_primary", true.into()),
        ("profile.d10.pmr", 5.into()),
        ("profile.d10.rtx_policy", "split".into()),
        ("profile.d10.ssthresh", 30_000.into()),
        ("scenario.d10-fig4.mobility.handover_times", "500 * (k - 0.5) / ho_nbr, k = 1..ho_nbr".into()),
        ("scenario.d10-fig4.parameters.rwnd", 30_000.into()),
        ("scenario.d10-fig4.parameters.ufa_order", "5 and 5A at once".into()),
        ("scenario.d10-fig4.topology.gw_queue", 25.into()),
        ("scenario.d10-fig4.topology.loss", 0.01.into()),
        ("scenario.d10-fig4.topology.cn_gw_delay", 0.02.into()),
    ] {
        assert_ne!(set_up(&papers.with(leaf, value).unwrap()), assumed, "{leaf}");
    }
    let nonsense = papers.with("profile.d10.cwnd_growth", "sometimes".into()).unwrap();
    assert!(HardHandoverPlace::new(&nonsense, "d10-fig4").is_err());
}

#[test]
fn the_bandwidth_delay_product_is_that_of_the_papers_formulas() {
    let papers = Papers::load().unwrap();
    assert_eq!(place(&papers).bdp(&cell(&[])).round(), 4500.0);
    let second = HardHandoverPlace::new(&papers, "d10-fig5").unwrap();
    let products: Vec<f64> =
        [0.1, 0.5, 1.0, 2.0, 3.0].map(|xput| second.bdp(&cell(&[("xput", xput.into())])).round()).to_vec();
    assert_eq!(products, [4050.0, 14_250.0, 27_000.0, 52_500.0, 78_000.0]);
    assert_eq!(second.air(&cell(&[("xput", 0.1.into())])).queue, QueueLimit::bytes(4050));
}

#[test]
fn handovers_divide_the_time() {
    assert_eq!([1, 2, 3].map(|k| Phase::Even.share(k, 3)), [0.25, 0.5, 0.75]);
    assert_eq!([1, 2].map(|k| Phase::Half.share(k, 2)), [0.25, 0.75]);
}

/// A handover of each kind: the terminal is away for as long as it takes and then hears data again.
#[test]
fn each_scheme_hands_over_a_running_association() {
    let papers = Papers::load().unwrap();
    let mut place = place(&papers);
    place.duration = Duration::from_secs(40);
    for (scheme, least, most) in [
        ("m-sctp", 2.9, 4.5),
        ("m-sctp+", 2.0, 2.3),
        ("ufa", 0.15, 0.3),
        ("ufa+", 0.15, 0.3),
        ("ufa++", 0.15, 0.3),
    ] {
        let cell = cell(&[("scheme", scheme.into()), ("ho_nbr", 2.into())]);
        let ride = place.download(&cell, 1, Watch::default());
        let delay = ride.transport_delay().unwrap();
        assert_eq!((ride.failed, ride.gaps.len()), (0, 2), "{scheme}");
        assert!((least..most).contains(&delay), "{scheme}: {delay} s");
        assert!(ride.gaps.iter().all(|gap| gap.after.is_some()), "{scheme}: {:?}", ride.gaps);
    }
}

/// Whoever is told of the network finds its way, and the network carries nothing else.
#[test]
fn the_network_hands_nothing_over_that_it_has_not_prepared() {
    let papers = Papers::load().unwrap();
    let mut place = place(&papers);
    place.duration = Duration::from_secs(20);
    let cell = cell(&[("scheme", "ufa+".into()), ("ho_nbr", 1.into())]);
    let mut bed = place.bed(&cell, 1, |_, _| {});
    let ride = place.ride(&cell, &mut bed, Watch::default(), &mut |_| {});
    assert_eq!(ride.failed, 0);
    let [source, target] = [0, 1].map(|number| bed.gateway(number).unwrap());
    assert_eq!((source.session_count(), target.session_count()), (0, 1));
    assert_eq!((target.held_bytes(), target.overflowed()), (0, 0));
    // The old address has left the association, and the path to it.
    let remotes: Vec<_> = bed.paths().iter().map(|path| path.route.remote.ip()).collect();
    assert_eq!(remotes, [bed.place().1]);
}
