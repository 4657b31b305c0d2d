use super::hint;

#[test]
fn a_name_that_is_nearly_right_is_found() {
    let names = ["b08", "b08_fig07", "b08_fig07a", "b08_fig12", "c04", "c04_fig05", "e13_lc"];
    for (misspelt, meant) in [
        ("B08", "b08"),
        ("b8", "b08"),
        ("b80", "b08"),
        ("c40", "c04"),
        ("b08_fig7", "b08_fig07"),
        ("b8_fig7", "b08_fig07"),
        ("B08_Fig07A", "b08_fig07a"),
        ("e13-lc", "e13_lc"),
    ] {
        assert_eq!(hint(misspelt, names), format!(" (did you mean {meant}?)"), "{misspelt}");
    }
    for stranger in ["zebra", "x", "", "d10"] {
        assert_eq!(hint(stranger, names), "", "{stranger}");
    }
}
