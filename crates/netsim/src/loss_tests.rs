use super::*;

const PACKETS: usize = 1_000_000;

fn losses(model: Loss) -> Vec<bool> {
    let mut process = LossProcess::new(model, &Seed::from_u64(11), 0);
    (0..PACKETS).map(|_| process.next(Instant::ZERO)).collect()
}

fn rate(losses: &[bool]) -> f64 {
    losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
}

fn mean_burst(losses: &[bool]) -> f64 {
    let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    losses.iter().filter(|&&lost| lost).count() as f64 / bursts as f64
}

#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= expected * tolerance, "{value} instead of {expected}");
}

#[test]
fn bernoulli_loses_its_share_one_by_one() {
    let losses = losses(Loss::Bernoulli(0.05));
    near(rate(&losses), 0.05, 0.02);
    // Runs of independent losses have mean length 1/(1-p).
    near(mean_burst(&losses), 1.0 / 0.95, 0.01);
}

#[test]
fn gilbert_loses_its_share_in_bursts() {
    let chain = GilbertElliott::bursts(0.05, 8.0);
    near(chain.mean_loss(), 0.05, 1e-9);
    let losses = losses(Loss::GilbertElliott(chain));
    near(rate(&losses), 0.05, 0.03);
    near(mean_burst(&losses), 8.0, 0.03);
}

#[test]
fn elliott_loses_in_both_states() {
    let chain = GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.1, loss_good: 0.01, loss_bad: 0.5 };
    near(chain.mean_loss(), (0.1 * 0.01 + 0.01 * 0.5) / 0.11, 1e-9);
    near(rate(&losses(Loss::GilbertElliott(chain))), chain.mean_loss(), 0.03);
}

#[test]
fn a_new_model_begins_in_the_good_state() {
    let trap = GilbertElliott { good_to_bad: 1.0, bad_to_good: 0.0, loss_good: 0.0, loss_bad: 1.0 };
    let mut process = LossProcess::new(Loss::GilbertElliott(trap), &Seed::from_u64(1), 0);
    assert_eq!(
        [process.next(Instant::ZERO), process.next(Instant::ZERO), process.next(Instant::ZERO)],
        [false, true, true]
    );
    process.set(Loss::GilbertElliott(trap));
    assert_eq!([process.next(Instant::ZERO), process.next(Instant::ZERO)], [false, true]);
    process.set(Loss::None);
    assert!(!process.next(Instant::ZERO));
}

#[test]
fn nonsense_parameters_do_no_harm() {
    for chain in [
        GilbertElliott::bursts(2.0, 0.0),
        GilbertElliott::bursts(0.0, 5.0),
        GilbertElliott::bursts(f64::NAN, 5.0),
    ] {
        let _ = rate(&losses(Loss::GilbertElliott(chain)));
    }
    assert_eq!(rate(&losses(Loss::Bernoulli(f64::NAN))), 0.0);
    let still = GilbertElliott { good_to_bad: 0.0, bad_to_good: 0.0, loss_good: 0.25, loss_bad: 1.0 };
    near(still.mean_loss(), 0.25, 1e-9);
}

#[test]
fn periodic_losses_come_on_the_dot() {
    let losses = losses(Loss::Periodic(7));
    assert!(losses.iter().enumerate().all(|(index, &lost)| lost == (index % 7 == 6)));
    assert!(!LossProcess::new(Loss::Periodic(0), &Seed::from_u64(1), 0).next(Instant::ZERO));
}

#[test]
fn a_ramp_rises_in_a_straight_line() {
    let second = |s: u64| Instant::from_nanos(s * 1_000_000_000);
    let ramp = Ramp { begin: second(10), end: second(20), from: 0.1, to: 0.9 };
    for (at, expected) in [(0, 0.1), (10, 0.1), (15, 0.5), (20, 0.9), (99, 0.9)] {
        assert!((ramp.at(second(at)) - expected).abs() < 1e-12, "{at}");
    }
    let mut process = LossProcess::new(Loss::Ramp(ramp), &Seed::from_u64(11), 0);
    let lost = (0..PACKETS).filter(|_| process.next(second(15))).count();
    near(lost as f64 / PACKETS as f64, 0.5, 0.01);
    assert_eq!(Ramp { end: ramp.begin, ..ramp }.at(second(11)), 0.9, "a step");
}
