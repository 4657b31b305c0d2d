//! Records and events of the library as events of qlog.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use whimbrel::handover::Action;
use whimbrel::{AddressChange, AssociationEvent, PeerAddressChange, Record, RecordValue};

/// What a file begins with.
pub(super) fn head(began: SystemTime) -> Value {
    let began = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "whimbrel",
        "trace": {
            "vantage_point": { "type": "unknown" },
            "common_fields": {
                "protocol_type": ["SCTP"], "time_format": "relative", "reference_time": began.as_millis() as u64,
            },
        },
    })
}

/// A record as an event; times are milliseconds, rates bits a second.
pub(super) fn of_record(at: Duration, record: Record) -> Value {
    let Record { name, subject, path, value } = record;
    let value = match value {
        RecordValue::Amount(nanos) if matches!(name, "rto" | "srtt") => json!(nanos as f64 / 1e6),
        RecordValue::Amount(bytes) if name == "pacing_rate" => json!(bytes.saturating_mul(8)),
        RecordValue::Amount(amount) => json!(amount),
        RecordValue::State(state) => json!(state.replace('-', "_")),
        RecordValue::Route(route) => json!({ "local": route.local, "remote": route.remote }),
    };
    let (kind, field) = match (name, path) {
        ("state", None) => ("connectivity:connection_state_updated", "new"),
        ("state", Some(_)) => ("sctp:path_state_updated", "new"),
        ("in_use", _) => ("sctp:path_use_updated", "in_use"),
        ("route", _) => ("sctp:path_assigned", "route"),
        ("phase", _) => ("recovery:congestion_state_updated", "new"),
        ("cwnd", _) => ("recovery:metrics_updated", "congestion_window"),
        ("flight_size", _) => ("recovery:metrics_updated", "bytes_in_flight"),
        ("srtt", _) => ("recovery:metrics_updated", "smoothed_rtt"),
        ("data_retransmitted", _) => ("sctp:data_retransmitted", "total"),
        ("fast_retransmits", _) => ("sctp:fast_retransmit", "total"),
        ("timeouts", _) => ("sctp:timeout", "total"),
        ("tail_probes", _) => ("sctp:tail_probe", "total"),
        (other, _) => ("recovery:metrics_updated", other),
    };
    let mut event = event(at, subject, kind, json!({ field: value }));
    if let Some(path) = path {
        event["path"] = json!(path.to_string());
    }
    event
}

/// What happens to addresses, and where an association moves and why; the rest is in records.
pub(super) fn of_event(at: Duration, subject: u64, happened: &AssociationEvent) -> Option<Value> {
    let (kind, data) = match happened {
        AssociationEvent::Decision(decision) => {
            let action = match decision.action {
                Action::AddAddress(address) => json!({ "action": "add_address", "address": address }),
                Action::DeleteAddress(ip) => json!({ "action": "delete_address", "address": ip }),
                Action::AskPrimary(ip) => json!({ "action": "ask_primary", "address": ip }),
                Action::UsePath(path) => json!({ "action": "use_path", "path": path.number().to_string() }),
                Action::ShapePath { path, .. } => {
                    json!({ "action": "shape_path", "path": path.number().to_string() })
                }
                Action::RetransmitLost(path) => {
                    json!({ "action": "retransmit_lost", "path": path.number().to_string() })
                }
            };
            let mut data = action;
            data["reason"] = json!(decision.reason.to_string());
            ("sctp:handover", data)
        }
        AssociationEvent::AddressChanged { change, outcome } => {
            let (change, address) = match change {
                AddressChange::Add(address) => ("add", json!(address)),
                AddressChange::Delete(ip) => ("delete", json!(ip)),
                AddressChange::SetPrimary(ip) => ("set_primary", json!(ip)),
            };
            let error = outcome.as_ref().err().map(ToString::to_string);
            ("sctp:address_changed", json!({ "change": change, "address": address, "error": error }))
        }
        AssociationEvent::PeerAddress { address, change } => {
            let change = match change {
                PeerAddressChange::Added => "added",
                PeerAddressChange::Deleted => "deleted",
                PeerAddressChange::MadePrimary => "made_primary",
            };
            ("sctp:peer_address", json!({ "change": change, "address": address }))
        }
        AssociationEvent::Restarted { undelivered, .. } => {
            ("sctp:restarted", json!({ "undelivered": undelivered }))
        }
        AssociationEvent::Closed { reason, undelivered } => (
            "connectivity:connection_closed",
            json!({ "reason": reason.to_string(), "undelivered": undelivered }),
        ),
        _ => return None,
    };
    Some(event(at, subject, kind, data))
}

fn event(at: Duration, subject: u64, name: &str, data: Value) -> Value {
    json!({ "time": at.as_nanos() as f64 / 1e6, "name": name, "group_id": subject.to_string(), "data": data })
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
