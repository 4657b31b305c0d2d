use super::*;

#[test]
fn what_may_be_written_is_said_in_words_and_for_programs() {
    let directory = Path::new("/srv/in");
    let text = Who::Anyone.sentence(directory, Rules::default(), &[]);
    assert!(text.starts_with("anybody") && text.contains("/srv/in"), "{text}");
    assert!(text.contains("taken are refused") && text.contains("hidden names are refused"), "{text}");
    let rules = Rules { existing: Existing::Overwrite, hidden: Hidden::Take, ..Rules::default() };
    let text = Who::KeyHolders.sentence(directory, rules, &[]);
    assert!(text.contains("key") && text.contains("replaces") && text.contains("too"), "{text}");
    let json = Who::KeyHolders.to_json(directory, rules, &[]);
    assert_eq!(
        json,
        json!({ "who": "key-holders", "protected": false, "directory": "/srv/in", "taken_names": "overwrite", "hidden_names": true, "paired": [] })
    );
}
