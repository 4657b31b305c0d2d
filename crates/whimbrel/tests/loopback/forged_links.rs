//! Somebody gets at the socket for link facts and lies (an attack, or a modem manager gone wild).

use std::time::{Duration, Instant};

use tokio::net::UnixDatagram;
use whimbrel::handover::{Action, Pace, Seamless};
use whimbrel::interfaces::FactSocket;
use whimbrel::{AssociationEvent, Endpoint, EndpointEvent};

use crate::support::*;

/// Lies told.
const LIES: usize = 3000;

fn lie(n: usize) -> String {
    let own = if n.is_multiple_of(2) { "a" } else { "b" };
    match n % 8 {
        // Not this host's.
        0 => format!(r#"{{"interface": "c", "up": true, "addresses": ["192.0.2.{}"]}}"#, n % 20 + 1),
        1 => r#"{"interface": "a", "going_down": true}"#.into(),
        2 => format!(r#"{{"interface": "{own}", "signal_dbm": {}}}"#, -100 + (n % 50) as i32),
        3 => format!(r#"{{"interface": "{own}", "selected": true, "handover_complete": true}}"#),
        4 => format!(r#"{{"interface": "{own}", "rank": {}, "metered": {}}}"#, n % 250, n.is_multiple_of(3)),
        5 => format!(r#"{{"interface": "x{n}", "up": true}}"#),
        6 => format!(r#"{{"interface": "{own}", "up": {}}}"#, n.is_multiple_of(3)),
        _ => r#"{"interface": "a", "addresses": ["224.0.0.1"]}"#.into(),
    }
}

/// No more moves and requests than the pace allows in this time.
fn assert_in_measure(decided: &[Action], seconds: f64, pace: Pace) {
    let within = |burst: u32, every: Duration| burst as usize + (seconds / every.as_secs_f64()) as usize + 2;
    let moves = decided.iter().filter(|action| matches!(action, Action::UsePath(_))).count();
    assert!(moves <= within(pace.moves, pace.move_every), "{moves} moves in {seconds} s");
    let requests = |action: &&Action| {
        matches!(action, Action::AddAddress(_) | Action::DeleteAddress(_) | Action::AskPrimary(_))
    };
    let requests = decided.iter().filter(requests).count();
    assert!(requests <= 4 * within(pace.requests, pace.request_every), "{requests} requests in {seconds} s");
}

/// What arrives is what was sent; the peer never hears of addresses that this host has not got; and the moves and requests
/// that the lies cause stay within the policy's limits.
#[tokio::test]
async fn forged_facts_cost_moves_and_nothing_else() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("links.sock");
    let truth =
        |name: &str, ip: &str| format!(r#"{{"interface": "{name}", "up": true, "addresses": ["{ip}"]}}"#);
    let pace = Pace::MOBILE;
    let client = Endpoint::builder()
        .addresses([local("127.0.0.57:0"), local("127.0.0.58:0")])
        .link_source(FactSocket::bind(&path).unwrap())
        .policy(move || Seamless::policy(pace))
        .bind()
        .await
        .unwrap();
    let liar = UnixDatagram::unbound().unwrap();
    let tell = async |line: String| liar.send_to(line.as_bytes(), &path).await.unwrap();
    tell(truth("a", "127.0.0.57")).await;
    tell(truth("b", "127.0.0.58")).await;
    let server = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let (near, far) = connect(&client, &server, &listener).await;
    let (mut news, mut events) = (client.events(), near.events());
    let begun = Instant::now();

    let lies = async {
        for n in 0..LIES {
            tell(lie(n)).await;
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        // In the end the truth again.
        for (name, ip) in [("a", "127.0.0.57"), ("b", "127.0.0.58")] {
            tell(format!(r#"{{"interface": "{name}", "gone": true}}"#)).await;
            tell(truth(name, ip)).await;
        }
    };
    let traffic = async {
        for n in 0..300 {
            near.send(message(0, content(n, 2000))).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let arrivals = async {
        for n in 0..300 {
            assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(n, 2000), "message {n}");
        }
    };
    let mut decided = Vec::new();
    let watch = async {
        while let Some(event) = events.recv().await {
            decided.extend(match event {
                AssociationEvent::Decision(decision) => Some(decision.action),
                _ => None,
            });
        }
    };
    tokio::select! {
        _ = async { tokio::join!(lies, traffic, arrivals) } => {}
        () = watch => panic!("the association has ended: {:?}", near.close_reason()),
    }

    let seconds = begun.elapsed().as_secs_f64();
    assert_in_measure(&decided, seconds, pace);
    assert!(client.local_addresses().iter().all(|address| address.ip().is_loopback()));
    assert!(far.paths().await.iter().all(|path| path.route.remote.ip().is_loopback()));
    let mut complaints = 0;
    while let Some(event) = news.try_recv() {
        complaints += usize::from(matches!(event, EndpointEvent::LinkSource { .. }));
    }
    assert!((1..=18 + seconds as usize).contains(&complaints), "{complaints} complaints in {seconds} s");
}
