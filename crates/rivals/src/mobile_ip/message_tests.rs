use proptest::prelude::*;

use super::*;

#[test]
fn messages_survive_the_wire() {
    let [home, agent, care_of] = [1, 2, 3].map(|last| Ipv4Addr::new(10, 0, 0, last));
    for message in [
        Message::Packet { source: home, destination: agent, payload: b"segment" },
        Message::Request { home, agent, care_of, identification: u64::MAX - 1 },
        Message::Reply { code: 130, home, agent, identification: 7 },
    ] {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        assert_eq!(Message::read(&bytes), Some(message));
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Some(message) = Message::read(&bytes) {
            let mut again = Vec::new();
            message.write(&mut again);
            prop_assert_eq!(Message::read(&again), Some(message));
        }
    }
}
