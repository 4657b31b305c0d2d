use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_ticket_goes_through_a_file_for_its_owner_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ticket");
    std::fs::write(&path, "open to all").unwrap();
    let key = Identity::from_seed(&[1; 32]).public_key();
    let ticket = Ticket::new(key, 7, vec!["192.0.2.7:9899".parse().unwrap()]).unwrap();
    write_ticket(&path, &ticket).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(read_ticket(&path).unwrap(), ticket);
    std::fs::write(&path, "whm1abc").unwrap();
    let error = format!("{:#}", read_ticket(&path).unwrap_err());
    assert!(error.contains("--ticket-file") && error.contains("copy all of it"), "{error}");
}

/// A script that waits for the file may read it as soon as it is there.
#[test]
fn a_ticket_is_never_there_in_part() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ticket");
    let key = Identity::from_seed(&[1; 32]).public_key();
    let ticket = Ticket::new(key, 7, vec!["192.0.2.7:9899".parse().unwrap()]).unwrap();
    write_ticket(&path, &ticket).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..500).for_each(|_| write_ticket(&path, &ticket).unwrap()));
        while !writer.is_finished() {
            assert_eq!(read_ticket(&path).unwrap(), ticket);
        }
    });
}
