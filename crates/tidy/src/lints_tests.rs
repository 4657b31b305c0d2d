use super::*;

fn tree(files: &[(&str, &str)]) -> Tree {
    let source = |&(path, text): &(&str, &str)| Source { path: path.into(), text: text.into() };
    Tree { sources: files.iter().map(source).collect() }
}

fn long_function(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
}

#[test]
fn a_long_function_is_found_and_may_be_excused_but_not_grow() {
    let long = long_function(71);
    let tree = tree(&[("crates/x/src/lib.rs", &long)]);
    assert_eq!(lengths(&tree, "").len(), 1);
    assert_eq!(lengths(&tree, "crates/x/src/lib.rs long 71\n"), [""; 0]);
    assert_eq!(lengths(&tree, "crates/x/src/lib.rs long 70\n").len(), 1);
}

#[test]
fn a_long_file_is_found() {
    let long = "// x\n".repeat(401);
    let tree = tree(&[("a.rs", &long)]);
    assert_eq!(lengths(&tree, "# why\n").len(), 1);
    assert_eq!(lengths(&tree, "a.rs 450\n"), [""; 0]);
}

#[test]
fn an_excuse_that_is_not_needed_has_to_go() {
    let short = long_function(70);
    let tree = tree(&[("a.rs", &short)]);
    assert_eq!(lengths(&tree, ""), [""; 0]);
    assert_eq!(lengths(&tree, "a.rs long 80\n").len(), 1);
    assert_eq!(lengths(&tree, "b.rs 500\n").len(), 1);
}

#[test]
fn marks_and_words_are_found_as_words() {
    let mark = ["// TO", "DO: later"].concat();
    assert_eq!(marks(&tree(&[("a.sh", &mark)])).len(), 1);
    assert_eq!(marks(&tree(&[("a.sh", &["AUTO", "DOC"].concat())])), [""; 0]);
    let path = ["cd /wo", "rk/x"].concat();
    assert_eq!(words(&tree(&[("a.md", &path)])).len(), 1);
    assert_eq!(words(&tree(&[("a.md", &["cd net", "work/x"].concat())])), [""; 0]);
}

#[test]
fn a_crate_that_allows_unsafe_code_is_found() {
    assert_eq!(unsafe_code(&tree(&[("crates/x/src/lib.rs", "//! Nothing.\n")])).len(), 1);
    assert_eq!(unsafe_code(&tree(&[("crates/x/src/lib.rs", "#![forbid(unsafe_code)]\n")])), [""; 0]);
    let bare = "// Quick.\nlet x = unsafe { f() };\n";
    assert_eq!(unsafe_code(&tree(&[("crates/x/src/a.rs", bare)])).len(), 1);
    let explained = "// SAFETY: it is.\nlet x = unsafe { f() };\n";
    assert_eq!(unsafe_code(&tree(&[("crates/x/src/a.rs", explained)])), [""; 0]);
}

#[test]
fn a_file_that_is_not_compiled_is_found() {
    let root = ("crates/x/src/lib.rs", "mod a;\n#[path = \"b_tests.rs\"]\nmod tests;\nmod d;");
    let others = [("crates/x/src/a.rs", ""), ("crates/x/src/b_tests.rs", ""), ("crates/x/src/d/mod.rs", "")];
    assert_eq!(unreachable_files(&tree(&[root, others[0], others[1], others[2]])), [""; 0]);
    assert_eq!(unreachable_files(&tree(&[root, ("crates/x/src/c.rs", "")])).len(), 1);
}

#[test]
fn a_test_that_is_not_compiled_is_found() {
    let lonely = ("crates/x/tests/lonely.rs", "");
    assert_eq!(unreachable_files(&tree(&[lonely])), [""; 0]);
    assert_eq!(unreachable_files(&tree(&[lonely, ("crates/x/tests/common/mod.rs", "")])).len(), 1);
    let all = [("crates/x/tests/all/main.rs", "mod a;"), ("crates/x/tests/all/a.rs", "")];
    assert_eq!(unreachable_files(&tree(&all)), [""; 0]);
    let listed = "autotests = false\n[[test]]\nname = \"x\"\npath = \"tests/main.rs\"\n";
    let main = ("crates/x/tests/main.rs", "mod common;");
    let (manifest, common) = (("crates/x/Cargo.toml", listed), ("crates/x/tests/common/mod.rs", ""));
    assert_eq!(unreachable_files(&tree(&[manifest, main, common])), [""; 0]);
    assert_eq!(unreachable_files(&tree(&[manifest, main, common, lonely])).len(), 1);
    let named = ("crates/x/Cargo.toml", "autotests = false\n[[test]]\nname = \"lonely\"\n");
    assert_eq!(unreachable_files(&tree(&[named, lonely])), [""; 0]);
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page =
        "[a](LICENSE-MIT) [b](nowhere.md) [c](https://example.org) [d](#here)\n```\n[e](code.md)\n```\n";
    assert_eq!(links(&tree(&[("page.md", page)])).len(), 1);
}

#[test]
fn a_page_that_is_in_no_index_is_found() {
    let index = ("docs/README.md", "[a](a.md)");
    let decisions = ("docs/decisions/README.md", "");
    assert_eq!(unlisted_pages(&tree(&[index, decisions, ("docs/a.md", "")])), [""; 0]);
    assert_eq!(unlisted_pages(&tree(&[index, decisions, ("docs/b.md", "")])).len(), 1);
    assert_eq!(unlisted_pages(&tree(&[])).len(), 2);
}

#[test]
fn a_test_that_a_page_names_is_looked_for() {
    let file = ("crates/x/tests/a.rs", "fn that_is_there() {}");
    let page = |row| (SECURITY_TESTS, row);
    let good = page("| `no test` | `x/tests/a.rs`: `that_is_there` |\n`not_in_a_row`");
    assert_eq!(tests_that_are_gone(&tree(&[file, good])), [""; 0]);
    for bad in
        ["| `x/tests/a.rs`: `that_is_gone` |", "| `x/tests/b.rs`: `that_is_there` |", "| `that_is_there` |"]
    {
        assert_eq!(tests_that_are_gone(&tree(&[file, page(bad)])).len(), 1, "{bad}");
    }
}
