use super::*;

/// RFC 9260 §16, to the letter.
#[test]
fn the_rfc_profile_is_the_rfc() {
    let config = Config::rfc();
    let seconds = Duration::from_secs;
    assert_eq!((config.rto.initial, config.rto.min, config.rto.max), (seconds(1), seconds(1), seconds(60)));
    assert_eq!(config.failure.association, AssociationFailure::Errors(10));
    assert_eq!(config.failure.path_max_retrans, 5);
    assert_eq!(config.failure.max_init_retransmits, 8);
    assert_eq!(config.heartbeat.interval, Some(seconds(30)));
    assert_eq!(config.heartbeat.max_burst, 1);
    assert_eq!(config.cookie.lifetime, seconds(60));
    assert_eq!(config.congestion.burst, BurstLimit::Packets(4));
    assert_eq!(config.sack.delay, Duration::from_millis(200));
    // RFC 7829 is an option.
    assert_eq!(config.failure.potentially_failed_max_retrans, None);
}

#[test]
fn profiles_are_valid() {
    assert_eq!(Config::rfc().validate(), Ok(()));
    assert_eq!(Config::mobile().validate(), Ok(()));
}

/// Who omits it can be made to send to anybody.
#[test]
fn profiles_have_paths_verified() {
    for config in [Config::rfc(), Config::mobile()] {
        assert_eq!(config.verification, PathVerification::Required);
    }
}

fn spacing(soon: u64, later: u64) -> Option<ProbeSpacing> {
    let [soon, soon_for, later] = [soon, 1, later].map(Duration::from_secs);
    Some(ProbeSpacing { soon, soon_for, later })
}

fn fresh(rto: Duration) -> Vec<FreshPath> {
    let address = core::net::Ipv4Addr::LOCALHOST.into();
    vec![FreshPath { address, initial_window: None, ssthresh: None, rto_initial: Some(rto) }]
}

/// Each rule refuses a configuration that breaks it and nothing else.
#[test]
fn nonsense_is_refused() {
    let milliseconds = Duration::from_millis;
    type Change = fn(&mut Config);
    let changes: [(Change, &str); 28] = [
        (|c| c.heartbeat.silent_peer = spacing(0, 5), "silent peer"),
        (|c| c.heartbeat.silent_peer = spacing(5, 0), "silent peer"),
        (|c| c.rto.min = Duration::ZERO, "RTO.Min"),
        (|c| c.rto.min = c.rto.max + Duration::from_secs(1), "RTO.Min"),
        (|c| c.rto.initial = c.rto.max * 2, "RTO.Initial"),
        (|c| c.rto.initial = c.rto.min / 2, "RTO.Initial"),
        (|c| c.fresh_paths = fresh(c.rto.max * 2), "fresh path"),
        (|c| c.fresh_paths = fresh(c.rto.min / 2), "fresh path"),
        (|c| c.sack.delay = Duration::from_millis(501), "SACK.Delay"),
        (|c| c.sack.packets = 0, "SACK"),
        (|c| c.streams.outbound = 0, "stream"),
        (|c| c.streams.inbound_max = 0, "stream"),
        (|c| c.pmtu.base = 511, "base"),
        (|c| c.pmtu.max = c.pmtu.base - 1, "largest"),
        (|c| c.pmtu.max = 65_488, "largest"),
        (|c| c.limits.receive_buffer = 4095, "receive buffer"),
        (|c| c.limits.sizing = BufferSizing::Measured { least: 4095 }, "follow the path"),
        (|c| c.limits.receive_buffer = (1 << 30) + 1, "receive buffer"),
        (|c| c.limits.send_buffer = 4095, "send buffer"),
        (|c| c.limits.paths = 0, "path"),
        (|c| c.limits.peer_addresses = 0, "path"),
        // RFC 7829 §5: without PF, PSMR must not be below PMR.
        (|c| c.failure.primary_switchover_max_retrans = Some(4), "Primary.Switchover"),
        (
            |c| {
                c.failure.potentially_failed_max_retrans = Some(2);
                c.failure.primary_switchover_max_retrans = Some(1);
            },
            "Primary.Switchover",
        ),
        (|c| c.congestion.controller = Arc::new(RenoParameters { slow_start_limit: 0 }), "slow start"),
        (|c| c.retransmission.loss = LossDetection::MissIndications(0), "not lost"),
        (|c| c.pmtu.base = 60_000, "largest"),
        (|c| c.cookie.lifetime = Duration::from_secs(3596), "longer than a cookie"),
        // 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 + 60 seconds.
        (|c| c.cookie.key_period = Duration::from_millis(242_999), "T1-cookie"),
    ];
    for (number, (change, about)) in changes.into_iter().enumerate() {
        let mut config = Config::rfc();
        change(&mut config);
        let error = config.validate().expect_err(about).to_string();
        assert!(error.contains(about), "{number}: {error}");
    }
    let mut edge = Config::rfc();
    edge.sack.delay = milliseconds(500);
    edge.failure.primary_switchover_max_retrans = Some(5);
    edge.cookie.key_period = Duration::from_secs(243);
    edge.fresh_paths = fresh(edge.rto.max);
    assert_eq!(edge.validate(), Ok(()));
}
