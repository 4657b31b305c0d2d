use whimbrel::secure::Identity;

use super::*;
use crate::settings::{GatewaySettings, HostSettings};

fn key() -> PublicKey {
    Identity::generate().unwrap().public_key()
}

fn settings(gateways: &[(&str, &str, PublicKey)], hosts: &[PublicKey]) -> Settings {
    let mut settings: Settings = toml::from_str(include_str!("../examples/north.toml")).unwrap();
    let gateway = |(name, address, key): &(&str, &str, PublicKey)| GatewaySettings {
        name: (*name).into(),
        address: address.parse().unwrap(),
        key: *key,
    };
    settings.gateways = gateways.iter().map(gateway).collect();
    settings.hosts = hosts.iter().map(|key| HostSettings { name: "host".into(), key: *key }).collect();
    settings
}

/// A file that is read anew takes the place of the one before.
#[test]
fn who_is_in_the_file_no_more_is_not_known_any_more() {
    let [north, south, east, robot, other] = [(); 5].map(|()| key());
    let known = Acquaintances::new(
        &settings(&[("north", "10.1.0.1", north), ("south", "10.2.0.1", south)], &[robot]),
        mpsc::unbounded_channel().0,
    );
    let south_at = "10.2.0.1:5061".parse().unwrap();
    assert_eq!(known.candidates(&["south".into()]), Ok(vec![south_at]));
    assert!(known.is_gateway(&south) && !known.is_gateway(&robot) && known.trusted().contains(&robot));
    assert!(known.may_answer(south_at, &south) && !known.may_answer(south_at, &north));

    known.learn(&settings(&[("north", "10.1.0.1", north), ("east", "10.2.0.1", east)], &[other]));
    assert_eq!(known.candidates(&["south".into()]), Err(OrderError::NoSuchGateway("south".into())));
    assert_eq!(known.candidates(&[]).map(|all| all.len()), Ok(2));
    assert_eq!(known.name(south_at), "east");
    assert!(
        !known.is_gateway(&south) && !known.trusted().contains(&south) && !known.trusted().contains(&robot)
    );
    assert!(known.trusted().contains(&other) && known.trusted().contains(&east));
    assert!(!known.may_answer(south_at, &south) && known.may_answer(south_at, &east));
}
