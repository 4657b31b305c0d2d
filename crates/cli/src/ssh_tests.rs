use super::*;

#[test]
fn targets_are_as_for_scp() {
    let parse = |text| Target::parse(text).map(|target| (target.host, target.directory));
    let expect = |host: &str, directory: &str| Ok((host.to_owned(), directory.to_owned()));
    assert_eq!(parse("robot"), expect("robot", "."));
    assert_eq!(parse("me@robot:"), expect("me@robot", "."));
    assert_eq!(parse("me@robot:films/new: ones"), expect("me@robot", "films/new: ones"));
    assert_eq!(parse("[2001:db8::1]:films"), expect("2001:db8::1", "films"));
    // Nothing that ssh would take for an option.
    for wrong in ["", ":films", "-oProxyCommand=x", "a b"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_shell_takes_a_directory_for_one_word() {
    assert_eq!(quoted("my films"), "'my films'");
    assert_eq!(quoted("~/my films"), "~/'my films'");
    assert_eq!(quoted("$(reboot)'; reboot"), r"'$(reboot)'\''; reboot'");
}
