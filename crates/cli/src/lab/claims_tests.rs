use super::*;

fn arguments(results: Option<&str>, out: Option<&str>, means: Option<&str>) -> ClaimsArgs {
    let path = |path: Option<&str>| path.map(PathBuf::from);
    ClaimsArgs { which: Vec::new(), results: path(results), out: path(out), means: path(means), json: false }
}

/// `--results FILE.json` once wrote over the file.
#[test]
fn a_directory_and_a_file_are_told_apart() {
    let there = tempfile::TempDir::with_suffix(".json").unwrap();
    fn directory_of(
        results: Option<&str>,
        out: Option<&str>,
        means: Option<&str>,
    ) -> Result<PathBuf, Failure> {
        directory(&arguments(results, out, means))
    }
    let path = there.path().to_str().unwrap();
    assert_eq!(directory_of(None, None, Some("m.json")).unwrap(), Path::new("lab-results"));
    for (results, out) in [(Some(path), None), (None, Some(path)), (Some(path), Some(path))] {
        assert_eq!(directory_of(results, out, None).unwrap(), there.path());
    }
    let file = there.path().join("means.json");
    let said = |results: &str| match directory_of(Some(results), None, None) {
        Err(Failure::Usage(what)) => what,
        other => panic!("{other:?}"),
    };
    // Whether it is there or not.
    for name in ["nowhere.json", file.to_str().unwrap()] {
        let what = said(name);
        assert!(
            what.contains(&format!("{name} has the name of a file; `--means {name}` writes the means there")),
            "{what}"
        );
        std::fs::write(&file, "{}").unwrap();
    }
    assert!(directory_of(Some("quick"), Some("slow"), None).is_err());
    assert!(directory_of(Some("quikc"), None, None).is_err());
}
