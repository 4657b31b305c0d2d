use whimbrel::handover::{Decision, Reason};

use super::*;

fn record(name: &'static str, path: Option<u32>, value: RecordValue) -> Record {
    Record { name, subject: 7, path, value }
}

#[test]
fn quantities_have_qlogs_names_and_units() {
    let at = Duration::from_micros(1500);
    let srtt = of_record(at, record("srtt", Some(0), RecordValue::Amount(20_000_000)));
    let expected = json!({
        "time": 1.5, "name": "recovery:metrics_updated", "group_id": "7", "path": "0", "data": { "smoothed_rtt": 20.0 },
    });
    assert_eq!(srtt, expected);
    let state = of_record(at, record("state", None, RecordValue::State("cookie-wait")));
    assert_eq!(state["name"], "connectivity:connection_state_updated");
    assert_eq!((&state["data"]["new"], state.get("path")), (&json!("cookie_wait"), None));
    let phase = of_record(at, record("phase", Some(0), RecordValue::State("slow-start")));
    assert_eq!(
        (&phase["name"], &phase["data"]["new"]),
        (&json!("recovery:congestion_state_updated"), &json!("slow_start"))
    );
    let pace = of_record(at, record("pacing_rate", Some(0), RecordValue::Amount(125)));
    assert_eq!(pace["data"], json!({ "pacing_rate": 1000 }), "bits a second");
    let again = of_record(at, record("timeouts", Some(0), RecordValue::Amount(2)));
    assert_eq!((&again["name"], &again["data"]["total"]), (&json!("sctp:timeout"), &json!(2)));
}

#[test]
fn a_handover_says_what_and_why() {
    let decision =
        Decision { action: Action::DeleteAddress([192, 0, 2, 1].into()), reason: Reason::AddressLost };
    let event = of_event(Duration::ZERO, 7, &AssociationEvent::Decision(decision)).unwrap();
    assert_eq!(event["name"], "sctp:handover");
    let expected =
        json!({ "action": "delete_address", "address": "192.0.2.1", "reason": "the old address is gone" });
    assert_eq!(event["data"], expected);
    assert_eq!(of_event(Duration::ZERO, 7, &AssociationEvent::PeerShutdown), None);
}
