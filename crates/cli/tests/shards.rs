//! `whimbrel lab run --shard` and `whimbrel lab merge`, as an array job runs them.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{PATIENCE, whimbrel};
use serde_json::Value;
use tempfile::TempDir;

/// Some tens of milliseconds a run.
const OWN: &str = "title = \"mine\"\nrepetitions = 15\nduration = 10\npolicies = [\"failover\", \"rfc\"]\n\
    [network.wifi]\nrate = 10\ndelay = 5\nkind = \"wlan\"\n\
    [traffic]\nkind = \"bulk\"\nsize = 1000\n\
    [sweep]\n\"network.wifi.delay\" = [5, 10]\n";

fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("mine.toml"), OWN).unwrap();
    directory
}

/// Runs `lab` in a directory: exit code, stdout, stderr.
fn lab(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = whimbrel().current_dir(directory).arg("lab").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// What it says in JSON.
fn json(directory: &Path, arguments: &[&str]) -> Value {
    let (code, told, errors) = lab(directory, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&told).unwrap()
}

/// Begins a shard and kills it when some of its runs are done.
fn killed(directory: &Path, shard: &str, file: &str) {
    let arguments = ["lab", "run", "mine.toml", "--shard", shard, "--out", "parts", "--jobs", "1"];
    let mut child = whimbrel().current_dir(directory).args(arguments).stdout(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let lines = || fs::read_to_string(directory.join(file)).unwrap_or_default().lines().count();
    while lines() < 3 {
        assert!(began.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn shards_of_which_one_is_interrupted_make_the_files_of_one_run() {
    let directory = directory();
    let there = directory.path();
    let plain = json(there, &["run", "mine.toml", "--out", "plain"]);
    assert_eq!((&plain["runs"], &plain["rows"]), (&60.into(), &60.into()));

    killed(there, "2/3", "parts/mine.2-of-3.shard");
    for (shard, jobs) in [("1/3", "1"), ("3/3", "2")] {
        let told = json(there, &["run", "mine.toml", "--shard", shard, "--out", "parts", "--jobs", jobs]);
        assert_eq!(
            (&told["shard"], &told["runs"], &told["runs_resumed"]),
            (&shard.into(), &20.into(), &0.into())
        );
        assert!(told["csv"].is_null() && told["file"].as_str().unwrap().ends_with("-of-3.shard"), "{told}");
    }
    let (code, told, errors) = lab(there, &["merge", "parts", "--out", "merged"]);
    assert!(code == 1 && told.is_empty() && errors.contains("of its 20 runs"), "{told}{errors}");
    assert!(!there.join("merged/mine.csv").exists());
    let (code, _, errors) = lab(there, &["report", "mine.toml", "--results", "parts", "--open", "no"]);
    assert!(
        code == 1 && errors.contains("no results in parts, but shards; `whimbrel lab merge parts`"),
        "{errors}"
    );

    // The command that the error names goes on.
    let command = errors_command(&lab(there, &["merge", "parts", "--out", "merged"]).2);
    assert_eq!(command, ["whimbrel", "lab", "run", "mine.toml", "--shard", "2/3", "--out", "parts"]);
    let words: Vec<&str> = command.iter().skip(2).map(String::as_str).collect();
    let told = json(there, &words);
    let resumed = told["runs_resumed"].as_u64().unwrap();
    assert!((2..20).contains(&resumed), "{told}");
    assert_eq!(json(there, &words)["runs_resumed"], 20);

    let told = json(there, &["merge", "parts", "--out", "merged"]);
    assert_eq!((&told["name"], &told["shards"], &told["rows"]), (&"mine".into(), &3.into(), &60.into()));
    for file in ["mine.csv", "mine.parquet"] {
        let bytes = |dir: &str| fs::read(there.join(dir).join(file)).unwrap();
        assert_eq!(bytes("merged"), bytes("plain"), "{file}");
    }
    // Nothing is left to be run.
    let told = json(there, &["run", "mine.toml", "--out", "merged"]);
    assert_eq!((&told["runs_resumed"], &told["csv"]), (&60.into(), &"merged/mine.csv".into()));
}

/// What somebody writes who has never seen the program's code: three networks, losses in bursts, a policy with parameters of its own, a
/// sweep and so a chart, in fewer than twenty lines.
#[test]
fn a_strangers_figure_is_run_on_two_machines() {
    let file = "../../docs/lab/bursts.toml";
    let text = fs::read_to_string(file).unwrap();
    assert!(text.lines().count() < 20 && text.matches("network.").count() >= 4 && text.contains("policy."));
    let there = TempDir::new().unwrap();
    let there = there.path();
    fs::write(there.join("bursts.toml"), text.replace("duration = 60", "duration = 12")).unwrap();
    let run = |more: &[&str]| json(there, &[&["run", "bursts.toml", "--reps", "1"], more].concat());
    assert_eq!(run(&["--out", "plain"])["rows"], 18);
    for shard in ["1/2", "2/2"] {
        assert_eq!(run(&["--shard", shard, "--out", "parts"])["runs"], 9, "{shard}");
    }
    assert_eq!(json(there, &["merge", "parts", "--out", "merged"])["rows"], 18);
    let bytes = |dir: &str| fs::read(there.join(dir).join("bursts.csv")).unwrap();
    assert_eq!(bytes("merged"), bytes("plain"));
    let (code, _, errors) = lab(there, &["report", "bursts.toml", "--results", "merged", "--open", "no"]);
    assert_eq!(code, 0, "{errors}");
    let page = fs::read_to_string(there.join("merged/report.html")).unwrap();
    assert!(page.contains("messages late or lost") && page.contains("patient"), "the chart has no lines");
}

/// The words of the command at the end of an error.
fn errors_command(errors: &str) -> Vec<String> {
    let (_, command) = errors.trim_end().rsplit_once(": ").unwrap();
    command.split(' ').map(str::to_owned).collect()
}

/// Experiments of papers, several at once, some of which have fewer runs than there are shards.
#[test]
fn what_is_whole_is_merged_beside_what_is_not() {
    let directory = directory();
    let there = directory.path();
    let run = |more: &[&str]| json_lines(there, &[&["run", "c04_range", "c04_amm", "--out"], more].concat());
    assert_eq!(run(&["plain"]).len(), 2);
    for number in 1..=5 {
        let shard = format!("{number}/5");
        let runs: Vec<u64> = run(&[&format!("p{number}"), "--shard", &shard])
            .iter()
            .map(|one| one["runs"].as_u64().unwrap())
            .collect();
        assert!((3..=4).contains(&runs[1]) && runs[0] <= 1, "{shard}: {runs:?}");
    }
    fs::remove_file(there.join("p3/c04_amm.3-of-5.shard")).unwrap();
    let merge = ["merge", "p1", "p2", "p3", "p4", "p5", "--out", "merged"];
    let (code, told, errors) = lab(there, &merge);
    assert!(code == 1 && told.starts_with("c04_range: 5 shards, 4 runs; 4 rows in "), "{told}{errors}");
    assert!(
        errors.contains("c04_amm: shard 3/5 is missing; this makes it: whimbrel lab run c04_amm --shard 3/5"),
        "{errors}"
    );
    let same = |file: &str| {
        fs::read(there.join("merged").join(file)).unwrap()
            == fs::read(there.join("plain").join(file)).unwrap()
    };
    assert!(same("c04_range.csv") && same("c04_range.parquet") && !there.join("merged/c04_amm.csv").exists());
    run(&["p3", "--shard", "3/5"]);
    assert_eq!(lab(there, &merge).0, 0);
    assert!(same("c04_amm.csv") && same("c04_amm.parquet"));
}

fn json_lines(directory: &Path, arguments: &[&str]) -> Vec<Value> {
    let (code, told, errors) = lab(directory, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{errors}");
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_cannot_be_run_or_merged_is_said() {
    let directory = directory();
    let there = directory.path();
    for (shard, expected) in [
        ("2", "such as 2/8"),
        ("0/8", "the first is 1/8"),
        ("9/8", "the last 8/8"),
        ("1/0", "1 to 1000000 shards"),
    ] {
        let (code, _, errors) = lab(there, &["run", "c04_range", "--shard", shard]);
        assert!(code == 2 && errors.contains(expected), "{shard}: {errors}");
    }
    fs::create_dir(there.join("empty")).unwrap();
    for (dirs, expected) in [
        (
            &["empty"][..],
            "there are no shards in empty; `whimbrel lab run EXPERIMENT --shard I/N` makes them",
        ),
        (&["nowhere"], "nowhere: No such file"),
        (&["mine.toml"], "mine.toml: Not a directory"),
    ] {
        let (code, _, errors) = lab(there, &[&["merge"], dirs].concat());
        assert!(code == 1 && errors.contains(expected), "{dirs:?}: {errors}");
    }
    assert!(!there.join("lab-results").exists());
    let (code, told, _) = lab(there, &["merge", "empty", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &told["event"], &told["exit_code"]), (1, &"error".into(), &1.into()));
}

/// Of shards as of tables: what would be lost goes when somebody asks for it.
#[test]
fn other_repetitions_are_replaced_when_asked() {
    let directory = directory();
    let there = directory.path();
    let run = |more: &[&str]| {
        lab(there, &[&["run", "c04_range", "--out", "parts", "--shard", "1/1"], more].concat())
    };
    assert_eq!(run(&["--reps", "2"]).0, 0);
    assert_eq!(lab(there, &["merge", "parts", "--out", "merged"]).0, 0);
    let (code, _, errors) = run(&[]);
    assert!(
        code == 1 && errors.contains("has 2 repetitions in parts") && errors.contains("--again"),
        "{errors}"
    );
    let (code, told, errors) = run(&["--reps", "2", "--again"]);
    assert!(code == 0 && !told.contains("from before"), "{told}{errors}");
    assert_eq!(run(&["--again"]).0, 0);
    // The table of two repetitions stays.
    let (code, _, errors) = lab(there, &["merge", "parts", "--out", "merged"]);
    assert!(
        code == 1 && errors.contains("has 2 repetitions in merged, of which these shards have fewer"),
        "{errors}"
    );
    let (code, _, errors) = lab(there, &["merge", "parts", "--out", "another"]);
    assert_eq!(code, 0, "{errors}");
    // What is not the lab's keeps its place.
    fs::write(there.join("another/c04_range.csv"), "date,amount\n").unwrap();
    let (code, _, errors) = lab(there, &["merge", "parts", "--out", "another"]);
    assert!(code == 1 && errors.contains("is no table of the lab's"), "{errors}");
}

#[test]
fn one_machine_for_each_shard() {
    let directory = directory();
    let there = directory.path();
    let shard = Some("1/2".parse().unwrap());
    let lock = whimbrel_lab::store::Lock::of(&there.join("parts"), shard).unwrap();
    let run = |shard: &str| lab(there, &["run", "c04_range", "--out", "parts", "--shard", shard]);
    assert_eq!(run("2/2").0, 0);
    let (code, _, errors) = run("1/2");
    assert!(code == 1 && errors.contains("another run writes there"), "{errors}");
    drop(lock);
    assert_eq!(run("1/2").0, 0);
    let lock = whimbrel_lab::store::Lock::of(&there.join("merged"), None).unwrap();
    let (code, _, errors) = lab(there, &["merge", "parts", "--out", "merged"]);
    assert!(code == 1 && errors.contains("another run writes there"), "{errors}");
    drop(lock);
}
