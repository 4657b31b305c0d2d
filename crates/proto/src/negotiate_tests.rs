use super::*;
use crate::auth::AuthConfig;

#[test]
fn of_a_peers_list_the_known_ones_count() {
    let all: Vec<u8> = (0..=255).chain(0..=255).collect();
    assert_eq!(Extensions::known(&all).list()[..], KNOWN);
    assert!(Extensions::known(&[]).list().is_empty());
    let one = Extensions::known(&[chunk_type::ASCONF, 0x40]);
    assert!(
        one.include(&[chunk_type::ASCONF]) && !one.include(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK])
    );
    assert!(!one.include(&[0x40]), "nothing is known of it");
}

/// RFC 5061 §4.2.7: AUTH and ASCONF are listed where they are in use; ASCONF never to a peer that cannot authenticate.
#[test]
fn own_extensions_follow_the_configuration() {
    let list = |config: &Config| Extensions::own(config).list();
    assert!(list(&Config::rfc()).is_empty());
    assert_eq!(supported_extensions(&list(&Config::rfc())), None);
    let auth = Config { auth: AuthConfig::offered(), ..Config::rfc() };
    assert_eq!(list(&auth)[..], [chunk_type::AUTH]);
    let dynamic = [chunk_type::AUTH, chunk_type::ASCONF, chunk_type::ASCONF_ACK];
    assert_eq!(list(&Config::mobile())[..], dynamic);
    let mut all = Config::mobile();
    all.sack.form = SackForm::NonRenegable;
    assert_eq!(list(&all)[..], KNOWN);
    assert!(Extensions::own(&Config::mobile()).with(false).list().is_empty());
}

/// RFC 5061 §4.2.7: what an extension needs of authentication is its own business; the list goes without.
#[test]
fn the_list_is_sent_without_authentication_too() {
    let list = [chunk_type::FORWARD_TSN];
    let parameters = crate::association::own_parameters(&Config::rfc(), &[], None, &list);
    assert_eq!(parameters, [Parameter::SupportedExtensions(&list)]);
}
