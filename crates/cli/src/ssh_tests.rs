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
    assert_eq!(quoted("-oops"), "'./-oops'");
    assert_eq!(quoted("$(reboot)'; reboot"), r"'$(reboot)'\''; reboot'");
}

#[test]
fn a_ticket_is_found_behind_what_a_login_prints() {
    let key = whimbrel::secure::Identity::from_seed(&[1; 32]).public_key();
    let ticket = Ticket::new(key, 7878, Vec::new()).unwrap().to_string();
    for before in ["", "Welcome\n", "caf\u{e9} without end", "\u{1b}[0m", "whm1 is no ticket\n"] {
        assert_eq!(ticket_in(format!("{before}{ticket}\r\n").as_bytes()), Some(ticket.clone()), "{before}");
    }
    assert_eq!(ticket_in(&[b"\xff\xfe\n", ticket.as_bytes(), b"\n"].concat()), Some(ticket.clone()));
    // It may not be whole yet.
    assert_eq!(ticket_in(ticket.as_bytes()), None);
}
