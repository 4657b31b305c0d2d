use core::net::SocketAddr;

use super::*;

fn route(port: u16) -> Route {
    Route { local: SocketAddr::from(([10, 0, 0, 1], 9899)), remote: SocketAddr::from(([10, 0, 0, 2], port)) }
}

fn popped(replies: &mut Replies) -> Option<(Route, Vec<u8>)> {
    replies.pop().map(|reply| (reply.route, reply.chunks))
}

/// RFC 9260 §6.4: each answer to where the question came from, in the order of the questions.
#[test]
fn answers_go_back_where_the_questions_came_from() {
    let mut replies = Replies::default();
    replies.push_raw(route(1), First::Other, &[1; 4]);
    replies.push_raw(route(2), First::Other, &[2; 4]);
    replies.push_raw(route(1), First::Other, &[3; 4]);
    assert_eq!(popped(&mut replies), Some((route(1), vec![1, 1, 1, 1, 3, 3, 3, 3])));
    assert_eq!(popped(&mut replies), Some((route(2), vec![2; 4])));
    assert_eq!(popped(&mut replies), None);
}

/// RFC 9260 §5.1 D: COOKIE ACK is the first chunk of its packet; a second one is the same answer.
#[test]
fn cookie_ack_comes_first() {
    let mut replies = Replies::default();
    replies.push_raw(route(2), First::Other, &[2; 4]);
    replies.push_raw(route(1), First::Other, &[1; 4]);
    replies.cookie_ack(route(1));
    replies.cookie_ack(route(1));
    replies.cookie_ack(route(3));
    let cookie_ack = [whimbrel_wire::chunk_type::COOKIE_ACK, 0, 0, 4];
    assert_eq!(popped(&mut replies), Some((route(3), cookie_ack.to_vec())));
    assert_eq!(popped(&mut replies), Some((route(2), vec![2; 4])));
    assert_eq!(popped(&mut replies), Some((route(1), [&cookie_ack[..], &[1; 4]].concat())));
}

/// RFC 5062 §8: one packet of questions, one packet of answers.
#[test]
fn answers_fit_one_packet() {
    let mut replies = Replies::default();
    let taken = (0..1000).filter(|_| replies.push_raw(route(1), First::Other, &[0; 12])).count();
    assert_eq!(taken, MAX_BYTES / 12);
    replies.cookie_ack(route(1));
    let Reply { chunks, .. } = replies.pop().unwrap();
    assert!(chunks.len() > 1000 && chunks.len() <= MAX_BYTES + 4);
    assert_eq!(popped(&mut replies), None);
}

/// RFC 9260 §8.3: a long HEARTBEAT is answered, one at a time and with nothing beside it.
#[test]
fn a_long_answer_goes_alone() {
    let mut replies = Replies::default();
    assert!(!replies.push_raw(route(1), First::Other, &[0; LONGEST_ALONE + 4]), "too long for any packet");
    assert!(replies.push_raw(route(1), First::Other, &[0; LONGEST_ALONE]));
    assert!(!replies.push_raw(route(1), First::Other, &[0; 4]));
    assert!(!replies.push_raw(route(2), First::Other, &[0; MAX_BYTES + 4]), "a second one");
    assert!(replies.push_raw(route(2), First::Other, &[0; MAX_BYTES]));
    assert_eq!(replies.pop().unwrap().chunks.len(), LONGEST_ALONE);
    assert!(replies.push_raw(route(1), First::Other, &[0; MAX_BYTES + 4]));
    assert!(!replies.push_raw(route(2), First::Other, &[0; 4]));
}

#[test]
fn routes_are_bounded() {
    let mut replies = Replies::default();
    let taken = (1..1000).filter(|&port| replies.push_raw(route(port), First::Other, &[0; 4])).count();
    assert_eq!(taken, MAX_ROUTES);
    assert_eq!(core::iter::from_fn(|| replies.pop()).count(), MAX_ROUTES);
    (1..1000).for_each(|port| assert!(replies.cookie_ack(route(port))));
    assert_eq!(core::iter::from_fn(|| replies.pop()).count(), MAX_ROUTES);
}
