use clap::Parser;
use whimbrel::secure::Identity;

use super::*;
use crate::args::{Cli, Command};
use crate::transfer::protocol::SCTP_PORT;

fn ticket() -> Ticket {
    let key = Identity::from_seed(&[1; 32]).public_key();
    Ticket::new(key, 99, vec!["192.0.2.7:9999".parse().unwrap()]).unwrap()
}

fn receiver(to: &str) -> Result<Receiver, String> {
    let cli =
        Cli::try_parse_from(["whimbrel", "send", "file", "--to", to]).map_err(|error| error.to_string())?;
    let Command::Send(args) = cli.command else { panic!("send") };
    Receiver::of(&args.to, None, args.sctp_port, SCTP_PORT, false).map_err(|failure| format!("{failure:?}"))
}

#[test]
fn a_ticket_says_all() {
    let ticket = ticket();
    let read = receiver(&ticket.to_string()).unwrap();
    assert_eq!((read.sctp_port, read.addresses.len()), (99, 1));
    assert_eq!(read.pin, Pin::Ticket(ticket.clone()));
    let large = receiver(&ticket.to_string().to_uppercase()).unwrap();
    assert_eq!(large.pin, Pin::Ticket(ticket));
}

#[test]
fn addresses_come_before_those_of_the_ticket() {
    let read = receiver(&format!("198.51.100.1,{}", ticket())).unwrap();
    // The ticket's UDP port goes for what is typed without one.
    assert_eq!(read.addresses[0], addresses::of_peer("198.51.100.1:9999").unwrap());
    assert_eq!(read.addresses.len(), 2);
}

#[test]
fn without_a_ticket_it_is_as_before() {
    let read = receiver("192.0.2.7").unwrap();
    assert_eq!(read.sctp_port, SCTP_PORT);
    assert!(
        matches!(read.pin, Pin::Acquaintance(host) if host.key().is_none()),
        "whose key it is has to be asked"
    );
}

#[test]
fn slips_are_told() {
    let text = ticket().to_string();
    let error = receiver(&text[..text.len() - 3]).unwrap_err();
    assert!(error.contains("copy all of it"), "{error}");
    assert!(receiver(&format!("{text},{}", ticket())).unwrap_err().contains("several hosts"));
    let nowhere = ticket().at(Vec::new());
    assert!(receiver(&nowhere.to_string()).unwrap_err().contains("add one"));
    assert_eq!(receiver(&format!("{nowhere},192.0.2.8")).unwrap().addresses.len(), 1);
}
