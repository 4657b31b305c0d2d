use super::*;

fn arguments(results: Option<&str>, out: Option<&str>, means: Option<&str>) -> ClaimsArgs {
    let path = |path: Option<&str>| path.map(PathBuf::from);
    ClaimsArgs { which: Vec::new(), results: path(results), out: path(out), means: path(means), json: false }
}

#[test]
fn a_directory_and_a_file_are_told_apart() {
    let directory = tempfile::TempDir::with_suffix(".d").unwrap();
    let there = directory.path().to_str().unwrap();
    let found = |results, out, means| {
        let (directory, file) = places(&arguments(results, out, means)).ok()?;
        Some((directory.to_str()?.to_owned(), file.map(|file| file.to_str().unwrap().to_owned())))
    };
    let is = |directory: &str, file: Option<&str>| Some((directory.to_owned(), file.map(str::to_owned)));
    assert_eq!(found(None, None, None), is("lab-results", None));
    assert_eq!(found(Some("quick"), None, None), is("quick", None));
    assert_eq!(found(None, Some("quick"), None), is("quick", None));
    assert_eq!(found(Some("quick"), Some("quick"), None), is("quick", None));
    assert_eq!(found(Some(there), None, Some("m.json")), is(there, Some("m.json")));
    assert_eq!(found(Some("means.json"), Some("quick"), None), is("quick", Some("means.json")));
    assert_eq!(found(Some("quick"), Some("slow"), None), None);
    assert_eq!(found(Some("a.json"), None, Some("b.json")), None);
}
