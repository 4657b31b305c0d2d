use whimbrel_wire::chunk_type;

use super::*;

#[test]
fn both_ways_to_begin_are_valid() {
    AuthConfig::off().validate().unwrap();
    AuthConfig::offered().validate().unwrap();
}

/// RFC 4895 §6.1: SHA-1 MUST be supported and included.
#[test]
fn sha1_is_mandatory() {
    let mut config = AuthConfig::offered();
    config.algorithms = vec![HmacAlgorithm::Sha256];
    config.validate().unwrap_err();
}

/// RFC 4895 §3.2, RFC 6458 §8.3.2.
#[test]
fn four_chunk_types_cannot_be_required() {
    for chunk_type in
        [chunk_type::INIT, chunk_type::INIT_ACK, chunk_type::SHUTDOWN_COMPLETE, chunk_type::AUTH]
    {
        let mut config = AuthConfig::offered();
        config.required = vec![chunk_type::DATA, chunk_type];
        config.validate().unwrap_err();
    }
}

#[test]
fn nothing_can_be_required_where_nothing_is_offered() {
    let mut config = AuthConfig::off();
    config.required = vec![chunk_type::DATA];
    config.validate().unwrap_err();
    config.support = AuthSupport::Offered;
    config.validate().unwrap();
    config.required = vec![chunk_type::DATA; 33];
    config.validate().unwrap_err();
}
