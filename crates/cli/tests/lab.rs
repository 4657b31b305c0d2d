//! `whimbrel lab`, as a user runs it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests run in real time")]

mod common;

use std::path::Path;

use common::whimbrel;
use tempfile::TempDir;

const OWN: &str = "title = \"mine\"\nrepetitions = 1\nduration = 2\npolicies = [\"failover\", \"rfc\"]\n\
    [network.wifi]\nrate = 1\ndelay = 5\nkind = \"wlan\"\n\
    [traffic]\nkind = \"constant-rate\"\nsize = 100\nrate = 0.01\n";

/// Runs `lab` in a directory: exit code, stdout, stderr.
fn lab(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = whimbrel().current_dir(directory).arg("lab").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    std::fs::create_dir(directory.path().join("other")).unwrap();
    for name in ["mine.toml", "other/mine.toml", "b08_fig07.toml", "c04_fig06_sensitivity.toml"] {
        std::fs::write(directory.path().join(name), OWN).unwrap();
    }
    directory
}

#[test]
fn an_experiment_of_ones_own_runs_is_shown_and_is_traced() {
    let directory = directory();
    let there = directory.path();
    assert_eq!(lab(there, &["run", "mine.toml", "--out", "quick"]).0, 0);
    let (code, _, errors) = lab(there, &["report", "--out", "quick"]);
    assert!(code == 1 && errors.contains("experiment of your own"), "{errors}");
    let (code, page, errors) = lab(there, &["report", "mine.toml", "--out", "quick", "--open", "no"]);
    assert_eq!((code, page.trim()), (0, "quick/report.html"), "{errors}");
    let read = || std::fs::read_to_string(there.join("quick/report.html")).unwrap();
    let page = read();
    let papers = ["id=\"paper-b08\"", "<table class=\"score\"", "class=\"claim "];
    assert!(page.contains("<h1>mine</h1>") && papers.iter().all(|mark| !page.contains(mark)));
    let (code, ..) = lab(there, &["report", "all", "mine.toml", "--out", "quick", "--open", "no"]);
    assert!(code == 0 && papers.iter().all(|mark| read().contains(mark)) && read().contains("id=\"mine\""));
    let (code, told, errors) = lab(there, &["trace", "mine.toml", "--events", "events.jsonl"]);
    assert!(code == 0 && told.starts_with("mine failover"), "{told}{errors}");
    let events = std::fs::read_to_string(there.join("events.jsonl")).unwrap();
    assert!(events.contains(r#""what":"record""#) && events.contains(r#""name":"cwnd""#), "{events}");
    let (code, _, errors) = lab(there, &["trace", "mine.toml", "--series", "paper"]);
    assert!(code == 2 && errors.contains("its series are failover, rfc"), "{errors}");
}

/// One run yields a row for each number of packets, and values may have commas in them.
#[test]
fn a_cell_is_named_as_it_stands_in_a_row() {
    let directory = directory();
    let trace = |arguments: &[&str]| lab(directory.path(), &[&["trace"], arguments].concat());
    let (code, told, errors) =
        trace(&["b08_fig12", "--cell", "pair=wlan-umts,alt_icw=1,variant=standard,packets=3"]);
    assert!(code == 0 && told.contains("packets=3"), "{told}{errors}");
    let (_, json, _) = trace(&["b08_fig12", "--cell", "pair=wlan-umts,alt_icw=1,variant=standard", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["axes"]["pair"], &json["axes"]["alt_icw"]), (&"wlan-umts".into(), &1.into()));
    let fingerprint = format!("fingerprint={}", json["fingerprint"].as_str().unwrap());
    assert!(told.contains(&fingerprint) && json["rows"].as_array().unwrap().len() > 3, "{json}");
    let (code, _, errors) = trace(&["b08_fig12", "--cell", "boxes=3"]);
    assert!(code == 2 && errors.contains("no such cell"), "{errors}");
}

#[test]
fn what_would_overwrite_other_results_is_refused() {
    let directory = directory();
    for (arguments, expected) in [
        (&["run", "b08_fig07.toml"][..], "a paper or an experiment of one is called b08_fig07"),
        (&["run", "mine.toml", "other/mine.toml"], "another file is called mine"),
        (&["run", "c04_fig06_sensitivity.toml"], "is called c04_fig06_sensitivity"),
    ] {
        let (code, _, errors) = lab(directory.path(), arguments);
        assert!(code == 2 && errors.contains(expected), "{errors}");
        assert!(!directory.path().join("lab-results").exists());
    }
}

#[test]
fn names_that_mean_nothing_or_too_much_are_refused() {
    let directory = directory();
    let (code, _, errors) = lab(directory.path(), &["claims", "b80"]);
    assert!(
        code == 2 && errors.contains("no claim, experiment or paper called b80 (did you mean b08?)"),
        "{errors}"
    );
    let (code, _, errors) = lab(directory.path(), &["claims", "--results", "quikc"]);
    assert!(code == 1 && errors.contains("no directory quikc"), "{errors}");
    let (code, _, errors) = lab(directory.path(), &["trace", "b08"]);
    assert!(code == 2 && errors.contains("b08_fig07, b08_fig08"), "{errors}");
    let (code, _, errors) = lab(directory.path(), &["run", "b8_fig7"]);
    assert!(code == 2 && errors.contains("(did you mean b08_fig07?)"), "{errors}");
    let (code, _, errors) = lab(directory.path(), &["run", "zebra"]);
    assert!(code == 2 && !errors.contains("did you mean"), "{errors}");
}

#[test]
fn what_is_no_file_with_an_experiment_is_refused() {
    let directory = directory();
    std::fs::create_dir(directory.path().join("d.toml")).unwrap();
    std::fs::write(directory.path().join("long.toml"), " ".repeat(2 << 20)).unwrap();
    for (file, expected) in [
        ("d.toml", "no regular file"),
        ("long.toml", "longer than"),
        ("./mine", "cannot read ./mine"),
        #[cfg(unix)]
        ("/dev/zero", "no regular file"),
    ] {
        let (code, _, errors) = lab(directory.path(), &["run", file]);
        assert!(code == 1 && errors.contains(expected), "{file}: {errors}");
    }
}

#[test]
fn a_trace_writes_over_nothing_it_needs() {
    let directory = directory();
    #[cfg(unix)]
    {
        std::fs::hard_link(directory.path().join("mine.toml"), directory.path().join("hard")).unwrap();
        std::os::unix::fs::symlink("mine.toml", directory.path().join("soft")).unwrap();
    }
    for (arguments, expected) in [
        (&["--pcap", "./mine.toml"][..], "mine.toml has the name of an experiment"),
        #[cfg(unix)]
        (&["--pcap", "hard"], "hard is the experiment mine.toml"),
        #[cfg(unix)]
        (&["--events", "soft"], "soft has the name of an experiment"),
        (&["--pcap", "a", "--events", "other/../a"], "the same file"),
        (&["--pcap", "a", "--events", "a"], "the same file"),
    ] {
        let (code, _, errors) = lab(directory.path(), &[&["trace", "mine.toml"], arguments].concat());
        assert!(code == 2 && errors.contains(expected), "{errors}");
    }
    assert_eq!(std::fs::read_to_string(directory.path().join("mine.toml")).unwrap(), OWN);
}

#[test]
fn what_is_read_is_not_written_over() {
    let directory = directory();
    let there = directory.path();
    assert_eq!(lab(there, &["run", "mine.toml", "b08_fig12", "--out", "quick"]).0, 0);
    let before = std::fs::read(there.join("quick/b08_fig12.csv")).unwrap();
    for arguments in [
        &["report", "mine.toml", "--results", "quick", "--out", "mine.toml"][..],
        &["report", "--results", "quick", "--out", "quick/b08_fig12.csv"],
        &["claims", "--results", "quick", "--means", "quick/b08_fig12.csv"],
        &["claims", "--results", "quick/b08_fig12.csv"],
        &["claims", "--results", "missing.old"],
        &["trace", "mine.toml", "--events", "quick/b08_fig12.csv"],
    ] {
        let (code, _, errors) = lab(there, arguments);
        assert!(code != 0, "{arguments:?}: {errors}");
    }
    assert_eq!(std::fs::read(there.join("quick/b08_fig12.csv")).unwrap(), before);
    assert_eq!(std::fs::read_to_string(there.join("mine.toml")).unwrap(), OWN);
    assert!(!there.join("missing.old").exists());
}

/// A list of experiments that is interrupted goes on with the one that was interrupted.
#[test]
fn what_is_complete_is_not_run_again() {
    let directory = directory();
    let there = directory.path();
    let run = |more: &[&str]| {
        let (code, told, errors) = lab(there, &[&["run", "mine.toml", "--json"], more].concat());
        assert_eq!(code, 0, "{errors}");
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["runs_resumed"].as_u64().unwrap()
    };
    assert_eq!([run(&[]), run(&[]), run(&["--again"]), run(&["--reps", "2"])], [0, 2, 0, 0]);
    let other = ["--reps", "2", "--seed", "1"];
    assert_eq!(run(&["--reps", "2"]), 4);
    for fewer in [&other[..], &["--reps", "1"]] {
        let (code, _, errors) = lab(there, &[&["run", "mine.toml"], fewer].concat());
        assert!(
            code == 1 && errors.contains("has 2 repetitions in") && errors.contains("--again"),
            "{errors}"
        );
    }
    assert_eq!(run(&[&other[..], &["--again"]].concat()), 0);
    std::fs::write(there.join("mine.toml"), OWN.replace("delay = 5", "delay = 6")).unwrap();
    assert_eq!(run(&["--reps", "2", "--seed", "1"]), 0);
}

/// Whoever has nothing to write needs no leave to.
#[cfg(unix)]
#[test]
fn what_is_complete_may_be_where_nothing_can_be_written() {
    let directory = directory();
    let there = directory.path();
    let run = ["lab", "run", "mine.toml", "--json"];
    let read_only = |more: &[&str]| {
        let script =
            "mount --bind lab-results lab-results && mount -o remount,bind,ro lab-results && exec \"$@\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(whimbrel().get_program());
        command.args(run).args(more).current_dir(there).output()
    };
    assert_eq!(lab(there, &run[1..]).0, 0);
    let Ok(output) = read_only(&[]) else { return println!("skipped: needs unshare") };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if errors.contains("unshare: ") || errors.contains("mount: ") {
        return println!("skipped: needs the right to mount");
    }
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("\"runs_resumed\":2"), "{told} {errors}");
    let output = read_only(&["--again"]).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && errors.contains("cannot write to lab-results"), "{errors}");
}

/// What is damaged was written once, and can be again.
#[test]
fn a_damaged_journal_is_called_that() {
    let directory = directory();
    let there = directory.path();
    std::fs::create_dir(there.join("lab-results")).unwrap();
    std::fs::write(there.join("lab-results/mine.journal"), "0 {}\n").unwrap();
    let (code, _, errors) = lab(there, &["run", "mine.toml"]);
    let says = "mine.journal: line 1 is not as it was written; remove it to begin again";
    assert!(code == 1 && errors.contains(says) && !errors.contains("cannot write"), "{errors}");
}

#[test]
fn a_file_that_is_named_twice_is_run_once() {
    let directory = directory();
    let (code, told, errors) = lab(directory.path(), &["run", "mine.toml", "./mine.toml"]);
    assert!(code == 0 && told.lines().count() == 1, "{told} {errors}");
}

#[test]
fn what_has_no_axes_has_none_to_choose_by() {
    let directory = directory();
    let (code, _, errors) = lab(directory.path(), &["trace", "mine.toml", "--cell", "x=1"]);
    let says = "mine has no such cell; it has no axes, its series are failover, rfc";
    assert!(code == 2 && errors.contains(says), "{errors}");
}

/// What a file says is no command to a terminal.
#[test]
fn words_of_a_file_are_written_out() {
    let directory = directory();
    let text = OWN.replace(
        "[traffic]",
        "[[event]]\nat = 1\nwhat = \"break\"\nnetwork = \"\\u001b]0;pwn\\u0007\"\n[traffic]",
    );
    std::fs::write(directory.path().join("mine.toml"), text).unwrap();
    let (code, _, errors) = lab(directory.path(), &["run", "mine.toml"]);
    assert!(code == 2 && !errors.contains('\u{1b}') && errors.contains("\\u001b]0;pwn"), "{errors}");
}

/// Whose file is changed afterwards must not see the old rows as the new file's.
#[test]
fn rows_of_another_text_are_no_results_of_a_file() {
    let directory = directory();
    let there = directory.path();
    assert_eq!(lab(there, &["run", "mine.toml", "--out", "quick"]).0, 0);
    std::fs::write(there.join("mine.toml"), OWN.replace("delay = 5", "delay = 50")).unwrap();
    let (code, _, errors) = lab(there, &["report", "mine.toml", "--out", "quick", "--open", "no"]);
    assert!(code == 1 && errors.contains("another text of the file"), "{errors}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_trace_that_does_not_fit_on_the_disk_is_no_success() {
    let directory = directory();
    for option in ["--events", "--pcap"] {
        let (code, _, errors) = lab(directory.path(), &["trace", "mine.toml", option, "/dev/full"]);
        assert!(code == 1 && errors.contains("cannot write /dev/full: No space left"), "{option}: {errors}");
    }
}

#[test]
fn claims_and_report_take_the_same_directory() {
    let directory = directory();
    let (code, told, errors) = lab(directory.path(), &["claims", "--results", "other", "--means", "m.json"]);
    assert!(code == 0 && told.contains("b08-eq3-closed"), "{errors}");
    assert!(directory.path().join("m.json").exists());
    let (code, _, errors) = lab(directory.path(), &["claims", "--results", "m.json"]);
    assert!(code == 2 && errors.contains("--means m.json"), "{errors}");
}

#[test]
fn what_has_no_network_cannot_be_recorded() {
    let directory = directory();
    for experiment in ["c04_range", "c04_amm"] {
        let (code, _, errors) = lab(directory.path(), &["trace", experiment, "--pcap", "a.pcapng"]);
        assert!(code == 2 && errors.contains("has no network in it"), "{experiment}: {errors}");
        assert!(!directory.path().join("a.pcapng").exists());
    }
    let (code, told, errors) = lab(directory.path(), &["trace", "c04_range"]);
    assert!(code == 0 && told.contains("primary_th="), "{errors}");
}

/// Seeds are 1,000,000 apart from one experiment to the next.
#[test]
fn seeds_of_other_experiments_are_out_of_reach() {
    let directory = directory();
    let (code, _, errors) = lab(directory.path(), &["run", "mine.toml", "--seed", "1000000"]);
    assert!(code == 2 && errors.contains("0..=999999"), "{errors}");
    let (code, _, errors) = lab(directory.path(), &["run", "mine.toml", "--seed", "999999", "--reps", "2"]);
    assert!(code == 2 && errors.contains("beyond number 999999"), "{errors}");
    assert!(!directory.path().join("lab-results").exists());
    let (code, _, errors) = lab(directory.path(), &["run", "mine.toml", "--seed", "999999", "--reps", "1"]);
    assert_eq!(code, 0, "{errors}");
}

#[test]
fn two_runs_in_one_directory_are_refused() {
    let directory = directory();
    let lock = whimbrel_lab::store::Lock::of(&directory.path().join("quick"), None).unwrap();
    let run = || lab(directory.path(), &["run", "mine.toml", "--out", "quick"]);
    let (code, _, errors) = run();
    assert!(code == 1 && errors.contains("another run writes there"), "{errors}");
    drop(lock);
    assert_eq!(run().0, 0);
}

#[test]
fn claims_say_how_many_repetitions_they_are_from() {
    let directory = directory();
    let (code, _, errors) = lab(directory.path(), &["run", "e13_lc", "--reps", "1"]);
    assert_eq!(code, 0, "{errors}");
    let (code, told, errors) = lab(directory.path(), &["claims"]);
    assert!(code == 0 && told.contains("with 1 of 40 repetitions"), "{told}{errors}");
    assert!(told.contains("are from fewer repetitions than the papers'"), "{told}");
}

/// Shards of what is tried with other assumptions are merged as all others, and verdicts are then made of the rows.
#[test]
fn other_assumptions_are_tried_in_parts_and_at_once_with_the_same_verdicts() {
    let directory = directory();
    let run =
        |arguments: &[&str]| lab(directory.path(), &[&["sensitivity", "b08_fig12"], arguments].concat());
    let (code, told, errors) = run(&["--reps", "1", "--out", "whole"]);
    assert!(code == 0 && told.contains("verdicts turn with an assumed value"), "{told}{errors}");
    for shard in ["1/2", "2/2"] {
        let (code, told, errors) = run(&["--reps", "1", "--out", "parts", "--shard", shard]);
        if shard == "1/2" {
            let (_, _, errors) = lab(directory.path(), &["merge", "parts", "--out", "merged"]);
            assert!(errors.contains("whimbrel lab sensitivity b08_fig12 --shard 2/2"), "{errors}");
        }
        assert!(code == 0 && !told.contains("verdicts"), "{told}{errors}");
    }
    let (code, _, errors) = lab(directory.path(), &["merge", "parts", "--out", "merged"]);
    assert_eq!(code, 0, "{errors}");
    let (code, _, errors) = run(&["--reps", "1", "--out", "merged"]);
    assert_eq!(code, 0, "{errors}");
    for file in ["b08_fig12_sensitivity.csv", "sensitivity.jsonl"] {
        let read = |at: &str| std::fs::read_to_string(directory.path().join(at).join(file)).unwrap();
        assert!(read("whole").len() > 200 && read("whole") == read("merged"), "{file}");
    }
    let (code, _, errors) = lab(directory.path(), &["sensitivity", "b08_fig99"]);
    assert!(code == 2 && errors.contains("b08_fig99") && errors.contains("b08_fig12"), "{errors}");
}

/// Its experiments go by their names wherever those of papers do.
#[test]
fn the_grid_is_traced_like_any_other() {
    let directory = directory();
    let there = directory.path();
    let cell = "rate=10,rtt=20,queue=1,trouble=none";
    let (code, told, errors) = lab(there, &["trace", "grid_few", "--cell", cell]);
    assert!(code == 0 && told.contains("goodput=9."), "{told}{errors}");
    let (code, _, errors) = lab(there, &["grid", "7"]);
    assert!(code == 2 && errors.contains("the grid has no part 7"), "{errors}");
    std::fs::write(there.join("grid_few.toml"), OWN).unwrap();
    let (code, _, errors) = lab(there, &["run", "grid_few.toml"]);
    assert!(code == 2 && errors.contains("grid_few"), "{errors}");
}
