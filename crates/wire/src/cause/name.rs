/// The name of a cause code (RFC 9260 §3.3.10 and extensions).
pub const fn cause_name(code: u16) -> &'static str {
    use super::cause_code as c;
    use crate::draft;
    match code {
        c::INVALID_STREAM_IDENTIFIER => "Invalid Stream Identifier",
        c::MISSING_MANDATORY_PARAMETER => "Missing Mandatory Parameter",
        c::STALE_COOKIE => "Stale Cookie",
        c::OUT_OF_RESOURCE => "Out of Resource",
        c::UNRESOLVABLE_ADDRESS => "Unresolvable Address",
        c::UNRECOGNIZED_CHUNK_TYPE => "Unrecognized Chunk Type",
        c::INVALID_MANDATORY_PARAMETER => "Invalid Mandatory Parameter",
        c::UNRECOGNIZED_PARAMETERS => "Unrecognized Parameters",
        c::NO_USER_DATA => "No User Data",
        c::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN => "Cookie Received While Shutting Down",
        c::RESTART_WITH_NEW_ADDRESSES => "Restart of an Association with New Addresses",
        c::USER_INITIATED_ABORT => "User-Initiated Abort",
        c::PROTOCOL_VIOLATION => "Protocol Violation",
        c::DELETE_LAST_ADDRESS => "Request to Delete Last Remaining IP Address",
        c::RESOURCE_SHORTAGE => "Operation Refused Due to Resource Shortage",
        c::DELETE_SOURCE_ADDRESS => "Request to Delete Source IP Address",
        c::ILLEGAL_ASCONF_ACK => "Association Aborted Due to Illegal ASCONF-ACK",
        c::NO_AUTHORIZATION => "Request Refused - No Authorization",
        c::UNSUPPORTED_HMAC_IDENTIFIER => "Unsupported HMAC Identifier",
        draft::CAUSE_MISSING_STATE => "Missing State",
        draft::CAUSE_MISSING_SUPPORT => "Missing DTLS Chunk Support",
        draft::CAUSE_NO_COMMON_METHOD => "No Common DTLS Key Management Method",
        draft::CAUSE_TIE_BREAKER_COLLISION => "DTLS Key Management Tie Breaker Collision",
        draft::CAUSE_INCOMPATIBLE_ROLES => "Incompatible DTLS Key Management Roles",
        _ => "unknown",
    }
}
