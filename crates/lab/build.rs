//! Makes a fingerprint of everything that results depend on: the sources of the crates that run in virtual time, and the lab's set-ups.
//! Rows carry it, and what another code has begun is not gone on with.
//!
//! Equal sources have equal fingerprints, whoever builds them and where: names and contents count, line ends and times do not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What makes no rows: it only reads and shows them.
const READERS: [&str; 10] = [
    "src/report",
    "src/grid/page",
    "src/claims",
    "src/store",
    "src/sensitivity/trials.rs",
    "src/sensitivity/committed.rs",
    "data/grid_remarks.md",
    "data/claims.toml",
    "data/sensitivity.jsonl",
    "data/stated",
];

fn main() {
    let lab = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hash = Fnv::default();
    // Outside the workspace there are no siblings; then their version has to do, which is this one's.
    let mut crates = BTreeSet::new();
    find(&lab, &mut crates);
    for name in crates {
        add(&lab.join("..").join(&name).join("src"), &name, &mut hash);
    }
    for part in ["src", "data"] {
        add(&lab.join(part), part, &mut hash);
    }
    println!("cargo::rustc-env=WHIMBREL_LAB_SOURCES={:016x}", hash.0);
}

/// The crates beside this one that it depends on: their code decides what happens in a run.
fn find(directory: &Path, names: &mut BTreeSet<String>) {
    let manifest = directory.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", manifest.display());
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let section = text.split("\n[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next());
    for line in section.unwrap_or_default().lines() {
        let name = line.strip_prefix("whimbrel-").and_then(|line| line.split(['.', ' ', '=']).next());
        if let Some(name) = name.filter(|name| names.insert((*name).to_owned())) {
            find(&directory.join("..").join(name), names);
        }
    }
}

/// Adds a directory and what is in it, in the order of names.
fn add(directory: &Path, name: &str, hash: &mut Fnv) {
    println!("cargo::rerun-if-changed={}", directory.display());
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}/{file}");
        if READERS.contains(&name.as_str()) || name.ends_with("_tests.rs") {
            continue;
        }
        if path.is_dir() {
            add(&path, &name, hash);
        } else if let Ok(content) = fs::read(&path) {
            hash.add(name.as_bytes());
            hash.add(&content);
        }
    }
}

/// FNV-1a with 64 bits: nobody has a reason to make two sources look alike.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        let ends = bytes.iter().filter(|&&byte| byte != b'\r').chain([&0]);
        self.0 = ends.fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    }
}
