use super::*;

#[test]
fn the_list_is_well_formed_and_names_no_section_twice() {
    for rfc in all() {
        let mut numbers: Vec<_> = rfc.sections.iter().map(|section| &section.number).collect();
        let count = numbers.len();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "RFC {}", rfc.number);
        assert!(count > 0, "RFC {}", rfc.number);
    }
}

#[test]
fn each_kind_of_note_is_read() {
    let text = "RFC 1 | One | codec only\n1 | a\n2 | b | informative\n3 | c | not: why\n4 | d | differs: how\n\
                5 | e | by x/y.rs name: said\n";
    let rfcs = parse(text).unwrap();
    assert!(rfcs[0].codec_only);
    let notes: Vec<_> = rfcs[0].sections.iter().map(|section| section.note.clone()).collect();
    let by = Note::By { file: "x/y.rs".into(), name: "name".into(), remark: "said".into() };
    let expected = [Note::None, Note::Informative, Note::Not("why".into()), Note::Differs("how".into()), by];
    assert_eq!(notes, expected);
}

#[test]
fn a_line_that_means_nothing_is_an_error() {
    assert!(parse("1 | a section before any RFC").is_err());
    assert!(parse("RFC one | title").is_err());
    assert!(parse("RFC 1").is_err());
    assert!(parse("RFC 1 | One\n1 | title | nonsense").is_err());
}
