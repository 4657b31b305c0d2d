use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::Seed;

use super::*;
use crate::sip::{Contact, Dialog, Token, Transport, response};

const T1: Duration = Duration::from_millis(500);

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn contact() -> Contact {
    Contact { address: addresses()[0], transport: Transport::Udp }
}

fn addresses() -> [SocketAddr; 2] {
    ["10.0.0.1:5060".parse().unwrap(), "10.0.0.2:5060".parse().unwrap()]
}

/// Two ends, and a route from the first to the second.
struct Ends {
    client: Transactions,
    server: Transactions,
    dialog: Dialog,
    tag: Token,
    branches: whimbrel_machine::Rng,
}

impl Ends {
    fn new() -> Self {
        let mut rng = Seed::from_u64(1).stream("test", 0);
        let (call, tag) = (Token::random(&mut rng), Token::random(&mut rng));
        Self {
            client: Transactions::new(Timers::default()),
            server: Transactions::new(Timers::default()),
            dialog: Dialog::opening(
                &call,
                &tag,
                ["a", "b"],
                Contact { address: addresses()[1], ..contact() },
            ),
            tag: Token::random(&mut rng),
            branches: rng,
        }
    }

    fn route() -> Route {
        let [local, remote] = addresses();
        Route { local, remote }
    }

    fn ask(&mut self, method: &str) -> ClientId {
        let branch = Token::branch(&mut self.branches);
        let request = self.dialog.request(&method.into(), contact(), &branch).unwrap();
        self.client.request(at(0), Self::route(), &request).unwrap()
    }

    /// Datagrams of the client until then, and when each left.
    fn copies(&mut self, until: Instant) -> Vec<u64> {
        Self::sent(&mut self.client, until).into_iter().map(|(at, _)| at).collect()
    }

    fn sent(of: &mut Transactions, until: Instant) -> Vec<(u64, Vec<u8>)> {
        let (mut now, mut sent) = (Instant::ZERO, Vec::new());
        loop {
            of.handle_timeout(now);
            while let Some((_, bytes)) = of.poll_transmit() {
                sent.push((now.as_nanos() / 1_000_000, bytes));
            }
            match of.next_deadline().filter(|deadline| *deadline <= until) {
                Some(deadline) => now = deadline,
                None => return sent,
            }
        }
    }

    /// The request as the server gets it.
    fn arrive(&mut self, now: Instant) -> (ServerId, Message) {
        let (_, bytes) = self.client.poll_transmit().unwrap();
        self.server.handle_datagram(now, Self::route().reversed(), &bytes);
        match self.server.poll() {
            Some(Happening::Request { transaction, message, .. }) => (transaction, message),
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, now: Instant, transaction: ServerId, request: &Message, status: u16) {
        let answer = response(request, status, &self.tag).unwrap();
        self.server.respond(now, transaction, &answer);
    }

    fn answer_arrives(&mut self, now: Instant) -> Option<Happening> {
        let (_, bytes) = self.server.poll_transmit().unwrap();
        self.client.handle_datagram(now, Self::route(), &bytes);
        self.client.poll()
    }
}

/// RFC 3261 Table 4: A doubles, B is 64 T1.
#[test]
fn an_invite_is_sent_seven_times_and_then_given_up() {
    let mut ends = Ends::new();
    let id = ends.ask("INVITE");
    assert_eq!(ends.copies(at(40_000)), [0, 500, 1500, 3500, 7500, 15_500, 31_500]);
    assert!(matches!(ends.client.poll(), Some(Happening::TimedOut(timed_out)) if timed_out == id));
    assert!(ends.client.is_empty());
}

/// E doubles up to T2, F is 64 T1.
#[test]
fn another_request_is_sent_every_four_seconds_at_last() {
    let mut ends = Ends::new();
    ends.ask("OPTIONS");
    let expected = [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500];
    assert_eq!(ends.copies(at(40_000)), expected);
    assert!(matches!(ends.client.poll(), Some(Happening::TimedOut(_))));
}

#[test]
fn a_provisional_response_stops_the_copies_of_an_invite() {
    let mut ends = Ends::new();
    ends.ask("INVITE");
    let (transaction, request) = ends.arrive(at(10));
    ends.answer(at(10), transaction, &request, 100);
    assert!(ends.answer_arrives(at(20)).is_none(), "nobody is told of it");
    assert_eq!(ends.copies(at(60_000)), [0; 0]);
    assert!(matches!(ends.client.poll(), Some(Happening::TimedOut(_))), "patience has an end, too");
}

#[test]
fn a_request_that_comes_twice_is_told_once_and_answered_twice() {
    for method in ["INVITE", "OPTIONS"] {
        let mut ends = Ends::new();
        ends.ask(method);
        let (_, copy) = ends.client.output[0].clone();
        let (transaction, request) = ends.arrive(at(10));
        ends.server.handle_datagram(at(11), Ends::route().reversed(), &copy);
        assert!(ends.server.poll().is_none(), "{method}");
        ends.answer(at(12), transaction, &request, 200);
        ends.server.handle_datagram(at(13), Ends::route().reversed(), &copy);
        assert!(ends.server.poll().is_none(), "{method}");
        assert_eq!(ends.server.output.len(), 2, "{method}");
        assert_eq!(ends.server.output[0], ends.server.output[1]);
    }
}

/// RFC 3261 §13.3.1.4, and §13.2.2.4 for the ACKs.
#[test]
fn a_2xx_is_sent_until_its_ack_comes_and_each_is_acknowledged() {
    let mut ends = Ends::new();
    let id = ends.ask("INVITE");
    let (transaction, request) = ends.arrive(at(10));
    ends.answer(at(10), transaction, &request, 200);
    let Some(Happening::Response { message, .. }) = ends.answer_arrives(at(20)) else { panic!() };
    ends.dialog.confirm(&message);
    let branch = Token::branch(&mut ends.branches);
    let ack = ends.dialog.ack(message.cseq(), contact(), &branch).unwrap();
    ends.client.acknowledge(id, Ends::route(), &ack);
    // It is lost; the 2xx comes again, and so does the ACK.
    let (_, lost) = ends.client.poll_transmit().unwrap();
    ends.server.handle_timeout(at(10) + T1);
    assert!(ends.answer_arrives(at(520)).is_none(), "it is told once");
    let (_, again) = ends.client.poll_transmit().unwrap();
    assert_eq!(again, lost);
    ends.server.handle_datagram(at(530), Ends::route().reversed(), &again);
    assert!(matches!(ends.server.poll(), Some(Happening::Acknowledged(done)) if done == transaction));
    // A third ACK is nobody's news.
    ends.server.handle_datagram(at(531), Ends::route().reversed(), &again);
    assert!(ends.server.poll().is_none());
    assert_eq!(Ends::sent(&mut ends.server, at(100_000)), []);
    assert!(ends.server.is_empty());
}

#[test]
fn a_2xx_that_nobody_acknowledges_is_given_up() {
    let mut ends = Ends::new();
    ends.ask("INVITE");
    let (transaction, request) = ends.arrive(at(0));
    ends.answer(at(0), transaction, &request, 200);
    let times: Vec<u64> = Ends::sent(&mut ends.server, at(40_000)).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
    assert!(matches!(ends.server.poll(), Some(Happening::NeverAcknowledged(lost)) if lost == transaction));
    assert!(ends.server.is_empty());
}

/// RFC 3261 §17.1.1.3: the transaction itself acknowledges what is no 2xx, with the branch of the INVITE.
#[test]
fn a_refusal_is_acknowledged_by_the_transaction() {
    let mut ends = Ends::new();
    ends.ask("INVITE");
    let (transaction, request) = ends.arrive(at(0));
    ends.answer(at(0), transaction, &request, 486);
    assert!(
        matches!(ends.answer_arrives(at(10)), Some(Happening::Response { message, .. }) if message.status() == 486)
    );
    let (_, ack) = ends.client.poll_transmit().unwrap();
    let parsed = Message::parse(&ack).unwrap();
    assert_eq!((parsed.branch(), parsed.to_tag()), (request.branch(), Some(ends.tag.as_str())));
    ends.server.handle_datagram(at(20), Ends::route().reversed(), &ack);
    assert!(ends.server.poll().is_none());
    assert_eq!(Ends::sent(&mut ends.server, at(100_000)), []);
}

#[test]
fn an_ack_of_nothing_and_an_answer_of_nothing_are_not_heard() {
    let mut ends = Ends::new();
    let branch = Token::branch(&mut ends.branches);
    let ack = ends.dialog.ack(1, contact(), &branch).unwrap();
    ends.server.handle_datagram(at(0), Ends::route().reversed(), &ack.to_bytes());
    assert!(ends.server.poll().is_none() && ends.server.is_empty());
    ends.ask("OPTIONS");
    let (_, request) = ends.arrive(at(0));
    let answer = response(&request, 200, &ends.tag).unwrap().to_bytes();
    let stray = String::from_utf8(answer).unwrap().replace("z9hG4bK", "z9hG4bKx");
    ends.client.handle_datagram(at(10), Ends::route(), stray.as_bytes());
    assert!(ends.client.poll().is_none());
}

#[test]
fn there_are_only_so_many_transactions() {
    let mut ends = Ends::new();
    for _ in 0..TRANSACTIONS_MAX {
        ends.ask("OPTIONS");
    }
    let branch = Token::branch(&mut ends.branches);
    let request = ends.dialog.request(&"OPTIONS".into(), contact(), &branch).unwrap();
    assert_eq!(ends.client.request(at(0), Ends::route(), &request), None);
    while let Some((_, bytes)) = ends.client.poll_transmit() {
        ends.server.handle_datagram(at(0), Ends::route().reversed(), &bytes);
    }
    ends.server.handle_datagram(at(0), Ends::route().reversed(), &request.to_bytes());
    assert_eq!(ends.server.len(), PER_PEER_MAX, "of one peer");
}

/// A request that comes again by another connection is the same one, and answered by that.
#[test]
fn a_repeated_request_may_come_by_another_connection() {
    let mut ends = Ends::new();
    ends.ask("INVITE");
    let (_, request) = ends.client.poll_transmit().unwrap();
    let route = Ends::route().reversed();
    ends.server.handle_datagram(at(0), route, &request);
    let Some(Happening::Request { transaction, message, .. }) = ends.server.poll() else { panic!() };
    let tag = Token::random(&mut ends.branches);
    ends.server.respond(at(1), transaction, &response(&message, 200, &tag).unwrap());
    assert_eq!(ends.server.poll_transmit().unwrap().0, route);
    let other = Route { remote: core::net::SocketAddr::new(route.remote.ip(), 40_000), ..route };
    ends.server.handle_datagram(at(2), other, &request);
    assert!(ends.server.poll().is_none(), "it is no new request");
    assert_eq!(ends.server.poll_transmit().unwrap().0, other);
}

/// What nobody answers is forgotten, in the end.
#[test]
fn a_request_that_is_never_answered_does_not_stay() {
    let mut ends = Ends::new();
    for method in ["INVITE", "OPTIONS"] {
        ends.ask(method);
        let (_, request) = ends.client.poll_transmit().unwrap();
        ends.server.handle_datagram(at(0), Ends::route().reversed(), &request);
    }
    assert_eq!(ends.server.len(), 2);
    ends.server.handle_timeout(at(200_000));
    assert_eq!((ends.server.len(), ends.server.next_deadline()), (0, None));
}
