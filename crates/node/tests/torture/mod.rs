//! The torture table in virtual time: what networks do to an association of a mobile host, in both directions.
//!
//! `interop/netns/torture.sh` has the same rows with real processes and beside other transports. Here a row takes milliseconds, so that
//! each has a thousand seeds: `cargo test --release -p whimbrel-node --test node -- --ignored --nocapture torture::table`. `ROWS=TEXT,TEXT`
//! takes those whose name contains one of the texts, `SEEDS=N` that many, from `SEED` on, `PROTECTED=1` with packets that are encrypted,
//! `ANY=1` with networks and records that the seed chooses. `CAPTURE=FOLDER` has a capture of each run written there.

mod conditions;
mod family_rows;
mod network_rows;
mod outcome;
mod places;
mod preference_rows;
mod rows;
mod server_rows;
mod silence_rows;
mod skewed;
mod world;

use core::ops::Range;
use core::time::Duration;

use whimbrel_netsim::{Change, LinkConfig, QueueLimit};
use whimbrel_proto::{AssociationFailure, Config};
use whimbrel_testbed::SeededExchanges;

use self::conditions::Conditions;
use self::outcome::Outcome;
use self::places::Network;
use self::rows::Row;
use self::world::{Start, Torture, Way};

/// Rows that last longer need hosts with more patience than `Config::mobile` has.
const PATIENCE: Duration = Duration::from_secs(3600);

fn play(row: &Row, config: &Config, seed: u64) -> Outcome {
    let conditions = match environment("ANY", 0) {
        1 => Conditions::any(row.start, seed),
        _ => Conditions::usual(row.start, seed),
    };
    play_under(&conditions, row, config, seed)
}

fn play_under(conditions: &Conditions, row: &Row, config: &Config, seed: u64) -> Outcome {
    let mut config = config.clone();
    if environment("PROTECTED", 0) == 1 {
        config = SeededExchanges::new(7, b"either").protect(config);
    }
    if row.lasts > PATIENCE {
        config.failure.association = AssociationFailure::Silence(row.lasts + PATIENCE);
    }
    let mut hosts = Torture::new(seed, &config, conditions);
    if let Ok(folder) = std::env::var("CAPTURE") {
        let name = format!("{folder}/{}-{seed}.pcapng", row.name.replace('/', "-"));
        hosts.capture(std::io::BufWriter::new(std::fs::File::create(name).expect("a file for the capture")));
    }
    (row.happen)(&mut hosts);
    hosts.run(row.lasts)
}

/// Median of something, what 95 % of the outcomes do not exceed, and the greatest.
fn distribution(outcomes: &[Outcome], of: fn(&Outcome) -> f64) -> [f64; 3] {
    let mut all: Vec<f64> = outcomes.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    [all[all.len() / 2], all[(all.len() - 1) * 95 / 100], all[all.len() - 1]]
}

fn environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |value| value.parse().expect(name))
}

#[test]
fn every_row_is_survived() {
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                for row in rows::all().into_iter().skip(half).step_by(2) {
                    let outcome = play(&row, &Config::mobile(), 1);
                    assert!(outcome.survived, "{}: {outcome:?}", row.name);
                }
            });
        }
    });
}

/// Each packet of two chunks is lost, and each chunk alone gets through: sooner after a probe than half of what the path took when it was longer. Such an
/// answer was taken for one to the packet, which nothing told to be too large, and 600 kB came 23 s late.
#[test]
fn a_way_that_carries_less_and_has_become_shorter() {
    for row in rows::all().iter().filter(|row| row.name.starts_with("black_hole_one_576")) {
        let start = Start { interval: Duration::from_millis(40), ..row.start };
        let mut conditions = Conditions::usual(start, 1);
        conditions.set_delay(Network::Wifi, Duration::from_millis(36));
        let outcome = play_under(&conditions, row, &Config::mobile(), 1);
        assert!(outcome.survived && outcome.behind < Duration::from_secs(4), "{}: {outcome:?}", row.name);
    }
}

/// All is lost on one path, sent again on another, and acknowledged there: that is all that ever tells what this other one carries. It went at 40 kB/s
/// for half a minute.
#[test]
fn what_was_lost_on_another_path_says_what_this_one_carries() {
    let protected = SeededExchanges::new(7, b"either").protect(Config::mobile());
    for (name, seed, config) in
        [("far_silent_both/up", 6_000_073, Config::mobile()), ("far_forth_both/up", 6_000_014, protected)]
    {
        let row = rows::all().into_iter().find(|row| row.name == name).expect("a row");
        let outcome = play(&row, &config, seed);
        assert!(outcome.survived && outcome.behind < Duration::from_secs(16), "{name}: {outcome:?}");
    }
}

/// The outcomes of the rows whose names begin so, with three seeds each.
fn outcomes(names: &str) -> Vec<(String, Outcome)> {
    let rows = rows::all().into_iter().filter(|row| row.name.starts_with(names));
    let all: Vec<_> = rows
        .flat_map(|row| {
            let outcomes = (1..=3).map(|seed| play(&row, &Config::mobile(), seed)).collect::<Vec<_>>();
            outcomes.into_iter().map(move |outcome| (row.name.clone(), outcome))
        })
        .collect();
    assert!(!all.is_empty(), "no row is called {names}");
    all
}

/// While another network is idle nothing has to come much later than it was due, however bad this one gets.
#[test]
fn what_is_bad_is_left() {
    for names in ["bloat_forth", "bloat_back", "loss_ramp_one", "rtt_jump_one", "flaps_silent_one"] {
        for (name, outcome) in outcomes(names) {
            assert!(outcome.behind < Duration::from_millis(1_500), "{name}: {outcome:?}");
        }
    }
}

/// What a controller wants to know of the path holds nothing up.
#[test]
fn where_nothing_happens_nothing_is_late() {
    for (name, outcome) in outcomes("calm") {
        let late = outcome.gap.max(outcome.behind);
        assert!(outcome.survived && late < Duration::from_millis(30), "{name}: {outcome:?}");
    }
}

/// Both networks lose up to 30 %, and carry many times what there is to send: losses of that kind are no reason to send less.
#[test]
fn what_all_networks_lose_is_sent_again_in_time() {
    let outcomes: Vec<_> = outcomes("loss_ramp_both").into_iter().map(|(_, outcome)| outcome).collect();
    let [median, _, greatest] = distribution(&outcomes, |outcome| outcome.behind.as_secs_f64());
    // Of 300 runs, a third with records in both directions, the greatest is 4.7 s, and the median of that third 1.0 s.
    assert!(median < 1.5 && greatest < 5.5, "{outcomes:?}");
}

/// Both networks grow slow in both directions: what the user says goes on as it did, although the acknowledgements stay away for 400 ms.
#[test]
fn a_sudden_delay_makes_no_pause() {
    for (name, outcome) in outcomes("rtt_jump_both/") {
        // Of 200 runs the greatest are 402 ms and 2.5 s, and of 20 one is longer than 1.6 s.
        assert!(outcome.gap < Duration::from_millis(450), "{name}: {outcome:?}");
        assert!(outcome.behind < Duration::from_millis(2_500), "{name}: {outcome:?}");
    }
}

/// Both networks are slower from one moment to the next: nothing is lost, and neither is better. Nobody gives up its window for that, nor
/// goes back and forth.
#[test]
fn networks_that_both_grow_slow_cost_what_they_take() {
    for names in ["rtt_jump_both_forth", "rtt_jump_both_back"] {
        for (name, outcome) in outcomes(names) {
            assert!(outcome.behind < Duration::from_millis(700), "{name}: {outcome:?}");
        }
    }
}

/// One answer that takes many times as long as another network does is no reason to go back to a network that has just been left.
#[test]
fn a_network_that_has_grown_slow_is_left_for_good() {
    for (name, outcome) in outcomes("rtt_jump_one/") {
        assert!(outcome.gap < Duration::from_millis(200), "{name}: {outcome:?}");
        assert!(outcome.behind < Duration::from_millis(300), "{name}: {outcome:?}");
    }
}

/// Large packets vanish: what is in flight goes out again in small ones at once, whatever the network carries.
#[test]
fn a_smaller_network_is_noticed_soon() {
    for (name, outcome) in outcomes("black_hole") {
        let late = outcome.gap.max(outcome.behind);
        assert!(outcome.survived && late < Duration::from_millis(200), "{name}: {outcome:?}");
    }
}

/// Large packets vanish on all paths but one, and that one goes. The answer to a probe comes by the quicker path, which is to blame all the same.
#[test]
fn a_smaller_network_is_noticed_although_probes_pass() {
    for (name, outcome) in outcomes("both_move_hole") {
        assert!(outcome.survived && outcome.gap < Duration::from_millis(450), "{name}: {outcome:?}");
        assert!(outcome.behind < Duration::from_millis(1_500), "{name}: {outcome:?}");
    }
}

/// The only network that is left has been silent: what has backed off meanwhile goes on once it is back.
#[test]
fn a_return_after_the_other_network_has_gone_is_noticed_soon() {
    for (name, outcome) in outcomes("standby_dead_unplugged") {
        assert!(outcome.recovery < Duration::from_secs(1), "{name}: {outcome:?}");
    }
}

/// A translator gives a host that stays where it is another outer address: its peer says that it does not know the host, which adds the address.
#[test]
fn another_outer_address_is_told() {
    for (name, outcome) in outcomes("nat_another_outside/") {
        assert!(outcome.survived && outcome.gap < Duration::from_millis(350), "{name}: {outcome:?}");
    }
    // The port alone is another.
    for (name, outcome) in outcomes("nat_rebinding/") {
        assert!(outcome.survived && outcome.gap < Duration::from_millis(200), "{name}: {outcome:?}");
    }
    for (name, outcome) in outcomes("nat_another_outside_of_two/") {
        assert!(outcome.survived && outcome.behind < Duration::from_millis(300), "{name}: {outcome:?}");
    }
}

/// A provider uses addresses inside its network that look as if everybody could reach them: a host behind its translator learns from its peer
/// that this is not so.
#[test]
fn addresses_that_look_public_may_be_translated() {
    for (name, outcome) in outcomes("public_inside") {
        assert!(outcome.survived && outcome.gap < Duration::from_millis(1_000), "{name}: {outcome:?}");
    }
    for (name, outcome) in outcomes("public_inside_make_before_break") {
        assert!(outcome.gap < Duration::from_millis(800), "{name}: {outcome:?}");
    }
}

/// Nobody stays in a network that costs more because the other one was bad for a moment: not even a server, whose peer the network is.
#[test]
fn a_network_that_is_well_again_is_returned_to() {
    let rows = [
        "one_core_far_after_loss",
        "loss_for_a_while",
        "slow_both_for",
        "slow_forth_for",
        "slow_back_for",
        "thin_forth_for",
        "thin_back_for",
    ];
    for (name, outcome) in rows.into_iter().flat_map(outcomes) {
        assert!(outcome.aside < 0.1, "{name}: {outcome:?}");
    }
}

/// An ASCONF that went to an address which the peer has lost at the same instant is asked again where the peer is heard: the networks of these seeds leave no time for T4.
#[test]
fn hosts_that_move_at_the_same_instant_find_each_other() {
    let rows = rows::all();
    let row = rows.iter().find(|row| row.name == "both_ends_renumbered_in_turn_400/up").expect("the row");
    for seed in [7, 18, 55] {
        let outcome = play_under(&Conditions::any(row.start, seed), row, &Config::mobile(), seed);
        assert!(outcome.survived, "{seed}: {outcome:?}");
    }
}

/// Networks that carry packets in one direction each are used together, without moves to and fro.
#[test]
fn one_way_networks_are_used_together() {
    for (name, outcome) in outcomes("crossed") {
        assert!(outcome.survived && outcome.gap < Duration::from_secs(5), "{name}: {outcome:?}");
        assert!(outcome.moves < 20, "{name}: {outcome:?}");
    }
}

/// A network that is quick while it carries nothing is not gone to again and again.
#[test]
fn a_network_that_carries_too_little_is_left_alone() {
    for (name, outcome) in outcomes("slow_fat_beside_thin") {
        let most = Duration::from_secs(if name.ends_with("both") { 10 } else { 4 });
        assert!(outcome.survived && outcome.behind < most, "{name}: {outcome:?}");
        assert!(name.ends_with("both") || outcome.moves < 12, "{name}: {outcome:?}");
    }
}

/// The queue that a bulk transfer fills itself, up or down, would be there on any other network, too.
#[test]
fn a_queue_of_ones_own_moves_nobody() {
    let bulk = |way| Start { record: 16_000, interval: Duration::from_millis(4), ..rows::two(way) };
    for way in [Way::Up, Way::Down] {
        for kilobytes in [250, 750] {
            let happen = move |hosts: &mut Torture| {
                let link = LinkConfig {
                    queue: QueueLimit::bytes(kilobytes * 1000),
                    ..whimbrel_testbed::link(20, 10)
                };
                hosts.change(Duration::ZERO, Network::Wifi, Change::Config(link));
            };
            let name = format!("{way:?} {kilobytes} kB");
            let row =
                Row { name, start: bulk(way), lasts: Duration::from_secs(20), happen: Box::new(happen) };
            for seed in 1..3 {
                let mut config = Config::mobile();
                // What is not sent before the end.
                config.limits.send_buffer = 96 << 20;
                let outcome = play(&row, &config, seed);
                // The first is to the network that is preferred.
                assert!(outcome.moves <= 1, "{}, seed {seed}: {outcome:?}", row.name);
            }
        }
    }
}

/// A network that comes back without a word is noticed soon: probes are no further apart than a 24th of the silence.
#[test]
fn a_return_is_noticed_soon() {
    for seconds in [3, 8, 15, 40] {
        let most = Duration::from_secs(seconds) / 24 + Duration::from_millis(600);
        for (name, outcome) in outcomes(&format!("silent_only_{seconds}/")) {
            assert!(outcome.recovery < most, "{name}: {outcome:?}");
        }
    }
}

/// Plays a row with each of `seeds`, on all processors; which seeds did not survive, and all outcomes.
fn play_many(at: usize, seeds: Range<u64>) -> (Vec<u64>, Vec<Outcome>) {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Vec<(u64, Outcome)> = std::thread::scope(|scope| {
        let work = |first: usize| {
            let seeds = seeds.clone().skip(first).step_by(workers);
            scope.spawn(move || {
                let row = &rows::all()[at];
                seeds.map(|seed| (seed, play(row, &Config::mobile(), seed))).collect::<Vec<_>>()
            })
        };
        let all: Vec<_> = (0..workers).map(work).collect();
        all.into_iter().flat_map(|worker| worker.join().expect("a row that does not panic")).collect()
    });
    let mut lost: Vec<u64> =
        outcomes.iter().filter(|(_, outcome)| !outcome.survived).map(|(seed, _)| *seed).collect();
    lost.sort_unstable();
    (lost, outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Who gets another address while nothing works asks from there as soon as something may: not after the RTOs of what was asked in vain.
#[test]
fn a_request_finds_its_way_after_a_silence() {
    let rows = [
        ("silent_only_8_renumbered/", 300),
        ("renumbered_and_silent_after_5_ms/", 1000),
        ("cores_silent_40_mobile_renumbered/", 2000),
        ("three_uplinks_last_replaced_silently/", 450),
        ("four_uplinks_last_replaced_silently/", 700),
        ("four_uplinks_first_back_as_last_goes/", 1200),
        ("suspended_server_moved_", 300),
    ];
    for (names, most) in rows {
        for (name, outcome) in outcomes(names) {
            assert!(outcome.recovery < Duration::from_millis(most), "{name}: {outcome:?}");
        }
    }
}

#[test]
#[ignore = "a thousand seeds for each row, hours; CONTRIBUTING.md has the command"]
fn table() {
    let first = environment("SEED", 1);
    let seeds = first..first + environment("SEEDS", 1000);
    let wanted = std::env::var("ROWS").unwrap_or_default();
    println!(
        "{:36} {:>8} {:>23} {:>23} {:>23} {:>14} {:>7} {:>15}",
        "row", "survived", "gap s", "behind s", "recovery s", "moves", "packets", "aside %"
    );
    let wanted: Vec<&str> = wanted.split(',').collect();
    let mut broken = Vec::new();
    for (at, row) in rows::all().iter().enumerate() {
        if !wanted.iter().any(|text| row.name.contains(text)) {
            continue;
        }
        let (lost, outcomes) = play_many(at, seeds.clone());
        let [gap, behind, recovery] = [
            |outcome: &Outcome| outcome.gap.as_secs_f64(),
            |outcome: &Outcome| outcome.behind.as_secs_f64(),
            |outcome: &Outcome| outcome.recovery.as_secs_f64(),
        ]
        .map(|of| distribution(&outcomes, of).map(|seconds| format!("{seconds:7.3}")).join(" "));
        let moves =
            distribution(&outcomes, |outcome| outcome.moves as f64).map(|n| format!("{n:4}")).join(" ");
        let [packets, ..] = distribution(&outcomes, |outcome| outcome.packets as f64);
        let aside =
            distribution(&outcomes, |outcome| outcome.aside * 100.0).map(|n| format!("{n:4.0}")).join(" ");
        let survived = outcomes.len() - lost.len();
        println!("{:36} {survived:>8} {gap} {behind} {recovery} {moves} {packets:>7} {aside}", row.name);
        broken.extend(lost.iter().map(|seed| format!("ROWS={} SEED={seed} SEEDS=1", row.name)));
    }
    assert!(broken.is_empty(), "associations ended, or records are missing; again with {broken:#?}");
}
