use super::*;

#[test]
fn a_directory_is_taken_wherever_it_stands() {
    let directory = tempfile::TempDir::new().unwrap();
    let there = directory.path();
    let (file, nowhere) = (there.join("page.html"), Path::new("lab-results"));
    let page = there.join("report.html");
    assert_eq!(places(None, None), (nowhere.to_owned(), nowhere.join("report.html")));
    assert_eq!(places(Some(there), None), (there.to_owned(), page.clone()));
    assert_eq!(places(None, Some(there)), (there.to_owned(), page.clone()));
    assert_eq!(places(Some(nowhere), Some(there)), (nowhere.to_owned(), page));
    assert_eq!(places(Some(there), Some(&file)), (there.to_owned(), file));
}
