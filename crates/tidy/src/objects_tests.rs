use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
    Tree { sources: files.iter().map(source).collect() }
}

fn object(name: &str, visibility: &str, fields: usize) -> String {
    let fields: String =
        (0..fields).map(|n| format!("    /// A field: {n}.\n    {visibility}f{n}: u32,\n")).collect();
    format!(
        "pub(crate) struct {name}<'a> {{\n{fields}}}\n\nimpl {name}<'_> {{\n    fn f(&mut self) {{}}\n}}\n"
    )
}

/// The sender's objects as they should be.
fn sender() -> String {
    ITS_OBJECTS.map(|name| object(name, "pub(super) ", 2)).concat()
}

fn found(file: &str, text: &str) -> Vec<String> {
    findings(&tree(&[("crates/proto/src/send/sender.rs", &sender()), (file, text)]))
}

#[test]
fn an_object_with_many_fields_for_others_is_found() {
    assert_eq!(found("crates/proto/src/a.rs", &object("A", "pub(crate) ", 12)), [""; 0]);
    assert_eq!(found("crates/proto/src/a.rs", &object("A", "pub(crate) ", 13)).len(), 1);
    assert_eq!(found("crates/other/src/a.rs", &object("A", "pub(crate) ", 13)), [""; 0]);
}

#[test]
fn private_fields_count_where_files_below_see_them() {
    let private = object("A", "", 13);
    assert_eq!(found("crates/proto/src/a.rs", &private), [""; 0]);
    assert_eq!(found("crates/proto/src/a/mod.rs", &format!("mod b;\n\n{private}")).len(), 1);
    let tests = format!("{private}\n#[cfg(test)]\nmod tests;\n");
    assert_eq!(found("crates/proto/src/a.rs", &tests), [""; 0]);
}

#[test]
fn a_value_that_never_changes_is_no_object() {
    let value = object("A", "pub ", 20).replace("&mut self", "&self");
    assert_eq!(found("crates/proto/src/a.rs", &format!("#[derive(Clone, Debug)]\n{value}")), [""; 0]);
    assert_eq!(found("crates/proto/src/a.rs", &format!("#[derive(Debug)]\n{value}")).len(), 1);
}

#[test]
fn the_fields_of_a_struct_with_a_where_clause_count() {
    let bounded = object("A", "pub ", 13).replacen(" {\n", "\nwhere\n    Self: Sized,\n{\n", 1);
    assert_eq!(found("crates/proto/src/a.rs", &bounded).len(), 1);
}

#[test]
fn what_is_in_flight_is_the_senders_to_change() {
    let files = |visibility: &str| {
        let text = sender().replacen("pub(super) f0", &format!("{visibility}f0"), 1);
        findings(&tree(&[("crates/proto/src/send/sender.rs", &text)]))
    };
    assert_eq!(files(""), [""; 0]);
    assert_eq!(files("pub(in crate::send) "), [""; 0]);
    assert_eq!(files("pub(crate) ").len(), 1);
    assert_eq!(files("pub ").len(), 1);
}

#[test]
fn an_object_that_is_gone_is_missed() {
    let renamed = sender().replace("struct Chunk", "struct Lump");
    assert_eq!(findings(&tree(&[("crates/proto/src/send/sender.rs", &renamed)])).len(), 1);
}
