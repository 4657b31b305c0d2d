use whimbrel_proto::{Mobility, StaticReason};

use super::*;
use crate::transition::UfaPlusPlus;

const OLD: &str = "10.1.0.2:40000";

fn up() -> (Cross, Application) {
    let mut cross = Cross::new(Box::new(UfaPlusPlus));
    let bare = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 0);
    let event = Event::Up {
        association: AssociationId::from_number(7),
        token: None,
        outbound_streams: 1,
        inbound_streams: 1,
        local_port: 5001,
        remote_port: 40_000,
        primary: Route { local: bare("10.0.0.1"), remote: bare("10.1.0.2") },
        mobility: Mobility::Static(StaticReason::SwitchedOff),
        peer_adaptation: None,
        peer_key: None,
    };
    let change = cross.handle_transport(Instant::ZERO, &event, Side::Correspondent);
    let Some(Change::Up(application)) = change else { panic!("{change:?}") };
    assert_eq!(application.terminal, OLD.parse().unwrap());
    (cross, application)
}

fn to(add: &str, delete: &str) -> AppliConfig {
    AppliConfig { add: add.parse().unwrap(), delete: delete.parse().unwrap() }
}

/// Whatever a gateway says, a host does not send more than that to somebody who has not answered.
#[test]
fn a_gateway_vouches_for_a_mebibyte_at_most() {
    for (bdp, bytes) in [(None, 0), (Some(4500), 4500), (Some(u64::MAX), 1 << 20)] {
        let (mut cross, application) = up();
        cross.peer_moves(&application, &to("10.2.0.2", "10.1.0.2"), bdp);
        let text = format!("{:?}", cross.take_orders());
        assert!(
            text.contains(&format!("AddVouchedPeer {{ address: 10.2.0.2:0, bytes: {bytes} }}")),
            "{text}"
        );
    }
}

/// A terminal that was moved is named by where it is; one that could not be told by where it was; and another host may have the address of before.
#[test]
fn an_association_is_called_by_where_the_terminal_is() {
    let (mut cross, old) = up();
    cross.peer_moves(&old, &to("10.2.0.2", "10.1.0.2"), None);
    let new = old.at("10.2.0.2".parse().unwrap());
    assert_eq!((cross.name(new), cross.name(old)), (new, new));
    cross.peer_moves(&new, &to("10.1.0.2", "10.2.0.2"), None);
    assert_eq!((cross.name(new), cross.name(old)), (old, old), "the way back");
    cross.peer_moves(&old, &to("10.3.0.2", "10.1.0.2"), None);
    let elsewhere = old.at("10.9.0.9".parse().unwrap());
    assert_eq!(cross.name(elsewhere), elsewhere, "nobody has been there");
    let (mut cross, old) = up();
    cross.peer_moves(&old, &to("10.2.0.2", "10.1.0.2"), None);
    let (other, _) = up();
    cross.known.extend(other.known);
    assert_eq!(cross.name(old), old, "another one has its address");
}
