use super::*;
use crate::builder::Encapsulation;
use crate::interfaces::{Interface, InterfaceAddress, Interfaces};
use crate::locals::Wanted;
use crate::socket::Member;

/// A host with these addresses.
fn host(ips: &[&str]) -> Interfaces {
    let addresses = ips.iter().map(|ip| InterfaceAddress { ip: ip.parse().unwrap(), asked_for: true });
    let interface = Interface { up: Some(true), addresses: addresses.collect(), ..Interface::default() };
    Interfaces([("wlan0".to_owned(), interface)].into())
}

fn open(ip: &str) -> (Locals, SocketAddr) {
    let wanted = Wanted { named: vec![ip.parse().unwrap()], ..Wanted::default() };
    let locals = Locals::open(wanted, Encapsulation::Udp, Member::ALONE, &host(&[ip])).unwrap();
    let local = locals.addresses()[0];
    (locals, local)
}

fn follow(locals: &mut Locals, ips: &[&str]) {
    locals.follow(&host(ips), &mut Vec::new());
}

/// Who has the network again, with the address of before, is on the first port of a new socket.
#[tokio::test]
async fn an_address_that_comes_back_has_other_ports_again() {
    let ip = "127.0.0.51";
    let (mut locals, local) = open(ip);
    let mut silence = Silence::begins(Instant::ZERO);
    assert!(silence.change_port(Instant::ZERO, &mut locals, local));
    follow(&mut locals, &[]);
    follow(&mut locals, &[ip]);
    assert_eq!(locals.addresses(), [local]);
    for elsewhere in [true, false, true] {
        assert!(silence.change_port(silence.until, &mut locals, local));
        assert_eq!(silence.elsewhere, elsewhere);
    }
}

/// The waits grow for what fails, as for what does not help.
#[tokio::test]
async fn what_fails_is_tried_seldom() {
    let (mut locals, local) = open("127.0.0.52");
    follow(&mut locals, &[]);
    let mut silence = Silence::begins(Instant::ZERO);
    let mut waits = Vec::new();
    for _ in 0..5 {
        let now = silence.until;
        assert!(!silence.change_port(now, &mut locals, local));
        waits.push((silence.until - now).as_secs());
    }
    assert_eq!(waits, [8, 16, 32, 60, 60]);
}

/// Strangers who send to the first port without end cost a look a second, and a port that has changed has a second, too.
#[test]
fn who_is_heard_on_the_first_port_is_looked_at_once_a_second() {
    let mut heed = Heed::default();
    let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
    heed.note(ms(0), false);
    assert_eq!(heed.due, None);
    heed.rest(ms(0));
    let mut looks = Vec::new();
    for now in 1..5_000 {
        heed.note(ms(now), true);
        if heed.is_due(ms(now)) {
            looks.push(now);
            heed.rest(ms(now));
        }
    }
    assert_eq!(looks, [1_000, 2_000, 3_000, 4_000]);
}
