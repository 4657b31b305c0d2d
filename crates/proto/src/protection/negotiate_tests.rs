use super::*;

const CLIENT: KeyRoles = KeyRoles { client: true, server: false };
const SERVER: KeyRoles = KeyRoles { client: false, server: true };
const BOTH: KeyRoles = KeyRoles { client: true, server: true };

fn parameter(tie_breaker: u32, roles: KeyRoles, methods: &[u8]) -> Vec<u8> {
    KeyManagement { tie_breaker, roles, restart: false, methods }.to_bytes()
}

fn role(own: (u32, KeyRoles), peer: (u32, KeyRoles)) -> Result<KeyRole, Refusal> {
    let (own, peer) = (parameter(own.0, own.1, &[192]), parameter(peer.0, peer.1, &[192]));
    agree(&own, Some(&peer)).map(|(role, _)| role)
}

#[test]
fn roles_complement_each_other() {
    assert_eq!(role((1, CLIENT), (2, SERVER)), Ok(KeyRole::Client));
    assert_eq!(role((1, SERVER), (2, CLIENT)), Ok(KeyRole::Server));
    assert_eq!(role((1, BOTH), (2, SERVER)), Ok(KeyRole::Client));
    assert_eq!(role((2, BOTH), (1, CLIENT)), Ok(KeyRole::Server));
    assert_eq!(role((1, BOTH), (2, BOTH)), Ok(KeyRole::Client), "the larger number is the server");
    assert_eq!(role((2, BOTH), (1, BOTH)), Ok(KeyRole::Server));
    assert_eq!(role((2, BOTH), (2, BOTH)), Err(Refusal::TieBreaker));
    assert_eq!(role((1, CLIENT), (2, CLIENT)), Err(Refusal::Roles));
    assert_eq!(role((1, SERVER), (2, SERVER)), Err(Refusal::Roles));
}

#[test]
fn both_ends_see_the_same() {
    let (a, b) = (parameter(7, CLIENT, &[192]), parameter(9, SERVER, &[3, 192]));
    let (of_a, of_b) = (agree(&a, Some(&b)).expect("agreed"), agree(&b, Some(&a)).expect("agreed"));
    assert_eq!((of_a.0, of_b.0), (KeyRole::Client, KeyRole::Server));
    assert_eq!(of_a.1, of_b.1);
    assert_eq!(of_a.1, KeyContext { client: a, server: b });
}

#[test]
fn what_cannot_be_is_refused() {
    let own = parameter(7, CLIENT, &[192]);
    assert_eq!(agree(&own, None), Err(Refusal::Missing));
    assert_eq!(agree(&own, Some(&[0x80, 6, 0, 4])), Err(Refusal::Missing));
    assert_eq!(agree(&own, Some(&parameter(1, SERVER, &[1, 2]))), Err(Refusal::NoCommonMethod));
    assert_eq!(agree(&own, Some(&parameter(1, SERVER, &[192; 200]))), Err(Refusal::Missing));
}
