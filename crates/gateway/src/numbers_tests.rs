use super::*;

#[test]
fn what_happens_is_counted_and_told_in_the_form_that_prometheus_reads() {
    let mut numbers = GatewayNumbers::default();
    let terminal = "10.1.0.50".parse().unwrap();
    for milliseconds in [30, 50] {
        let after = Duration::from_millis(milliseconds);
        numbers.count(&GatewayNews::HandedOver { terminal, to: "south".into(), after });
    }
    numbers.count(&GatewayNews::Stays { terminal, reason: "no answer".into() });
    numbers.count(&GatewayNews::Arrived { terminal, after: Duration::ZERO, waited: 7 });
    numbers.count(&GatewayNews::Trouble { text: "none".into() });
    let text = numbers.prometheus();
    for line in [
        "whimbrel_gateway_handovers_total{end=\"gone\"} 2",
        "whimbrel_gateway_handovers_total{end=\"stayed\"} 1",
        "whimbrel_gateway_packets_held_total{end=\"delivered\"} 7",
        "whimbrel_gateway_handover_agreement_seconds_total 0.08",
        "whimbrel_gateway_sessions 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
}
