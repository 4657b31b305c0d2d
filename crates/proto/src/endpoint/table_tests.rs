use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::{Instant, Seed};

use crate::{Command, Config, ConnectToken, Endpoint, Event, Message, StreamId};

const PORT: u16 = 5001;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 0))
}

/// Carries packets at once until nobody has more to say; the events of both.
fn settle(now: Instant, ends: &mut [Endpoint; 2]) -> Vec<Event> {
    let (mut events, mut silent) = (Vec::new(), 0);
    while silent < 2 {
        let [from, to] = ends;
        let mut packet = Vec::new();
        silent += 1;
        from.handle_timeout(now);
        while let Some(transmit) = from.poll_transmit(now, 1, &mut packet) {
            to.handle_datagrams(now, transmit.route.reversed(), &packet, packet.len());
            packet.clear();
            silent = 0;
        }
        events.extend(core::iter::from_fn(|| from.poll_event()));
        ends.swap(0, 1);
    }
    events
}

/// Every other packet sets the timer of the delayed SACK and the next one stops it (RFC 9260 §6.2).
#[test]
fn a_timer_set_and_stopped_by_every_packet_leaves_one_deadline() {
    let end = |host| {
        let config = Arc::new(Config::rfc());
        Endpoint::new(config, Seed::from_u64(u64::from(host)), vec![address(host)])
    };
    let mut ends = [end(1), end(2)];
    let mut now = Instant::ZERO;
    ends[1].handle_command(now, Command::Listen { port: PORT });
    let (token, remote) = (ConnectToken(1), vec![address(2)]);
    ends[0].handle_command(now, Command::Connect { token, remote, remote_port: PORT, local_port: None });
    let up = settle(now, &mut ends);
    let association = up.iter().find_map(|event| match event {
        Event::Up { association, token: Some(_), .. } => Some(*association),
        _ => None,
    });
    let association = association.expect("nothing is lost");
    let mut received = 0;
    for _ in 0..1000 {
        now += Duration::from_millis(1);
        let message = Message::new(StreamId(0), Bytes::from_static(&[0; 1000]));
        // `settle` may have swapped the two; the client is who owns its address.
        let client = ends.iter().position(|end| end.locals.all() == [address(1)]).expect("one of the two");
        ends[client].handle_command(now, Command::Send { association, message });
        for event in settle(now, &mut ends) {
            received += u32::from(matches!(event, Event::Message { .. }));
        }
        for end in &mut ends {
            assert!(end.next_deadline().is_some());
            assert_eq!(end.table.deadlines.len(), 1);
        }
    }
    assert_eq!(received, 1000);
}
