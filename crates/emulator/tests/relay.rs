//! A relay between sockets on loopback.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these tests live in real time")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::net::UdpSocket;
use tokio::time::timeout;
use whimbrel_emulator::{Direction, Relay, RelayConfig};
use whimbrel_netsim::{Change, DropReason, LinkConfig};
use whimbrel_testbed::Memory;

/// What is to come comes within this time even on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(150);

fn any(address: &str) -> SocketAddr {
    format!("{address}:0").parse().unwrap()
}

fn delay(ms: u64) -> LinkConfig {
    LinkConfig { delay: Duration::from_millis(ms), ..LinkConfig::default() }
}

async fn client() -> UdpSocket {
    UdpSocket::bind(any("127.0.0.1")).await.unwrap()
}

/// A server that has bound its socket, and a relay towards it.
async fn setup(adjust: impl FnOnce(&mut RelayConfig)) -> (UdpSocket, Relay) {
    let server = client().await;
    let mut config = RelayConfig::new(any("127.0.0.1"), server.local_addr().unwrap(), any("127.0.0.1"));
    adjust(&mut config);
    let relay = Relay::bind(config).unwrap();
    (server, relay)
}

async fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = vec![0; 65_535];
    let (length, from) =
        timeout(LONG, socket.recv_from(&mut buffer)).await.expect("something comes").unwrap();
    buffer.truncate(length);
    (buffer, from)
}

/// Waits until the relay has got so far.
async fn until(mut reached: impl FnMut() -> bool) {
    let wait = async {
        while !reached() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, wait).await.expect("it gets there");
}

async fn is_silent(socket: &UdpSocket) -> bool {
    timeout(SHORT, socket.recv_from(&mut [0; 10])).await.is_err()
}

#[tokio::test]
async fn both_ways_take_their_delay() {
    let (server, relay) = setup(|config| (config.uplink, config.downlink) = (delay(20), delay(30))).await;
    let echo = tokio::spawn(async move {
        loop {
            let (bytes, from) = receive(&server).await;
            server.send_to(&bytes, from).await.unwrap();
        }
    });
    let client = client().await;
    let mut times = Vec::new();
    for number in 0..20_u8 {
        let begin = Instant::now();
        client.send_to(&[number], relay.handle().local_addr()).await.unwrap();
        let (bytes, from) = receive(&client).await;
        times.push(begin.elapsed());
        assert_eq!((bytes, from), (vec![number], relay.handle().local_addr()));
    }
    times.sort();
    println!("50 ms take {:?} (least), {:?} (median)", times[0], times[10]);
    // Nothing makes it shorter; how much longer is the machine's business.
    assert!(times[0] >= Duration::from_millis(50));
    let stats = relay.handle().stats();
    assert_eq!((stats.uplink.delivered_packets, stats.downlink.delivered_packets), (20, 20));
    assert_eq!((stats.clients, stats.unsent, stats.in_flight), (1, 0, 0));
    echo.abort();
}

/// 972 bytes and 28 of headers are 1,000 s at the first rate, longer than anyone waits here, and 10 ms at the second.
/// Few enough to fit a socket's buffer if nobody reads.
#[tokio::test]
async fn the_bottleneck_has_its_rate_and_can_change() {
    let stuck = LinkConfig { rate_bps: Some(8), ..LinkConfig::default() };
    let (server, relay) = setup(|config| config.uplink = stuck).await;
    let client = client().await;
    for _ in 0..40 {
        client.send_to(&[7; 972], relay.handle().local_addr()).await.unwrap();
    }
    until(|| relay.handle().stats().in_flight == 40).await;
    let change = Instant::now();
    relay.handle().set(Direction::Uplink, Change::Rate(Some(800_000)));
    for _ in 0..40 {
        receive(&server).await;
    }
    // Of the first packet a little had been sent before the change.
    assert!(change.elapsed() >= Duration::from_millis(390));
}

#[tokio::test]
async fn a_cut_is_silent_and_loses_what_is_under_way() {
    let (server, relay) = setup(|config| config.uplink = delay(3_600_000)).await;
    let client = client().await;
    // Connected, so that an ICMP error would show as an error of the next call.
    client.connect(relay.handle().local_addr()).await.unwrap();
    client.send(b"under way").await.unwrap();
    until(|| relay.handle().stats().in_flight == 1).await;
    relay.handle().down();
    client.send(b"too late").await.unwrap();
    until(|| relay.handle().stats().uplink.dropped_for(DropReason::Down) == 1).await;
    assert_eq!(relay.handle().stats().uplink.dropped_for(DropReason::Cut), 1);
    assert!(is_silent(&server).await);
    relay.handle().set(Direction::Uplink, Change::Delay(Duration::ZERO));
    relay.handle().up();
    client.send(b"again").await.unwrap();
    assert_eq!(receive(&server).await.0, b"again");
}

/// The server is gone: its host would say so by ICMP, the relay passes nothing of that on.
#[tokio::test]
async fn a_server_that_is_gone_is_silent() {
    let (server, relay) = setup(|_| ()).await;
    drop(server);
    let client = client().await;
    client.connect(relay.handle().local_addr()).await.unwrap();
    for _ in 0..3 {
        client.send(b"anybody?").await.unwrap();
        assert!(is_silent(&client).await);
    }
    until(|| relay.handle().stats().uplink.delivered_packets == 3).await;
}

#[tokio::test]
async fn each_client_gets_its_own_answers_and_the_table_is_bounded() {
    let (server, relay) = setup(|config| config.clients_max = 2).await;
    let (one, two, three) = (client().await, client().await, client().await);
    let mut exits = Vec::new();
    for client in [&one, &two, &three] {
        client.send_to(b"hello", relay.handle().local_addr()).await.unwrap();
    }
    for _ in 0..2 {
        exits.push(receive(&server).await.1);
    }
    assert_ne!(exits[0], exits[1]);
    assert!(is_silent(&server).await, "there is no room for the third");
    server.send_to(b"second", exits[1]).await.unwrap();
    server.send_to(b"first", exits[0]).await.unwrap();
    assert_eq!(receive(&one).await.0, b"first");
    assert_eq!(receive(&two).await.0, b"second");
    until(|| relay.handle().stats().refused == 1).await;
    assert_eq!(relay.handle().stats().clients, 2);
    // A stranger's datagrams to an exit go nowhere.
    three.send_to(b"forged", exits[0]).await.unwrap();
    assert!(is_silent(&one).await);
}

#[tokio::test]
async fn the_exit_is_the_one_asked_for() {
    let exit: SocketAddr = {
        let free = std::net::UdpSocket::bind("127.0.0.7:0").unwrap();
        free.local_addr().unwrap()
    };
    let (server, relay) = setup(|config| config.exit = exit).await;
    let (one, two) = (client().await, client().await);
    one.send_to(b"one", relay.handle().local_addr()).await.unwrap();
    assert_eq!(receive(&server).await.1, exit);
    two.send_to(b"two", relay.handle().local_addr()).await.unwrap();
    let other = receive(&server).await.1;
    assert_eq!(other.ip(), exit.ip());
    assert_ne!(other.port(), exit.port());
}

#[tokio::test]
async fn mixed_families_are_refused_and_ipv6_works() {
    let mixed = RelayConfig::new(any("127.0.0.1"), any("[::1]"), any("127.0.0.1"));
    assert_eq!(Relay::bind(mixed).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    let Ok(server) = UdpSocket::bind(any("[::1]")).await else {
        eprintln!("no IPv6 here");
        return;
    };
    let relay =
        Relay::bind(RelayConfig::new(any("[::1]"), server.local_addr().unwrap(), any("[::1]"))).unwrap();
    let client = UdpSocket::bind(any("[::1]")).await.unwrap();
    client.send_to(b"six", relay.handle().local_addr()).await.unwrap();
    assert_eq!(receive(&server).await.0, b"six");
}

#[tokio::test]
async fn a_dropped_relay_lets_go_of_its_sockets() {
    let (server, relay) = setup(|_| ()).await;
    let client = client().await;
    client.send_to(b"x", relay.handle().local_addr()).await.unwrap();
    let exit = receive(&server).await.1;
    let listen = relay.handle().local_addr();
    drop(relay);
    for address in [listen, exit] {
        until(|| std::net::UdpSocket::bind(address).is_ok()).await;
    }
}

#[tokio::test]
async fn the_capture_is_the_client_s_view() {
    let out = Memory::default();
    let (server, relay) = setup(|config| config.capture = Some(Box::new(out.clone()))).await;
    let client = client().await;
    client.send_to(b"question", relay.handle().local_addr()).await.unwrap();
    let (_, exit) = receive(&server).await;
    server.send_to(b"answer", exit).await.unwrap();
    receive(&client).await;
    relay.handle().down();
    client.send_to(b"into the void", relay.handle().local_addr()).await.unwrap();
    until(|| relay.handle().stats().uplink.dropped_for(DropReason::Down) == 1).await;
    relay.handle().flush_capture().unwrap();

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("relay.pcapng");
    std::fs::write(&path, out.bytes()).unwrap();
    let fields = ["udp.srcport", "udp.dstport", "udp.length", "frame.comment"];
    let mut tshark = std::process::Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-T", "fields"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let Ok(output) = tshark.output() else {
        eprintln!("tshark is not installed: the capture is not checked");
        return;
    };
    let (c, r) = (client.local_addr().unwrap().port(), relay.handle().local_addr().port());
    let expected = format!("{c}\t{r}\t16\t\n{r}\t{c}\t14\t\n{c}\t{r}\t21\tdropped: down\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

/// 200 Mbit/s for a second, from one thread through the relay's to another.
#[test]
#[ignore = "a measurement that needs two idle cores; CONTRIBUTING.md has the command"]
fn two_hundred_megabits_pass() {
    const PAYLOAD: usize = 1452;
    const PACKETS: u64 = 200_000_000 / 8 / (PAYLOAD as u64 + 28);
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let towards = server.local_addr().unwrap();
    let (tell, listen) = std::sync::mpsc::channel();
    let relay = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut config = RelayConfig::new(any("127.0.0.1"), towards, any("127.0.0.1"));
            config.uplink = LinkConfig { rate_bps: Some(250_000_000), ..delay(10) };
            let relay = Relay::bind(config).unwrap();
            tell.send(relay.handle().clone()).unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
        });
    });
    let handle = listen.recv().unwrap();
    let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let begin = Instant::now();
    let sender = std::thread::spawn(move || {
        for number in 0..PACKETS {
            let due = Duration::from_secs(1).mul_f64(number as f64 / PACKETS as f64);
            if let Some(early) = due.checked_sub(begin.elapsed()) {
                std::thread::sleep(early);
            }
            client.send_to(&[0; PAYLOAD], handle.local_addr()).unwrap();
        }
        handle
    });
    let (mut received, mut last) = (0_u64, begin);
    while received < PACKETS && server.recv_from(&mut [0; 2000]).is_ok() {
        received += 1;
        last = Instant::now();
    }
    let handle = sender.join().unwrap();
    println!("{received} of {PACKETS} in {:?}; {:?}", last - begin, handle.stats());
    relay.join().unwrap();
    assert!(received >= PACKETS * 999 / 1000);
}
