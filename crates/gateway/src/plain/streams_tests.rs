use super::*;

/// So small that a test gets there at once.
fn limits() -> Limits {
    Limits { all: 6, of_source: 4, strangers: 3, strangers_of_source: 2, queue: 4, ..Limits::default() }
}

async fn listen(limits: Limits) -> (Streams, SocketAddr) {
    // Another test may take the port meanwhile; a listener of port 0 does not say which one it has.
    loop {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        if let Ok(streams) = Streams::listen(free, limits).await {
            return (streams, free);
        }
    }
}

/// From one of the addresses of this host.
async fn connect(to: SocketAddr, from: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((from, 0))).unwrap();
    socket.connect(to).await.unwrap()
}

fn options(via: &str) -> Vec<u8> {
    format!(
        "OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP {via};branch=z9hG4bK1\r\nFrom: <sip:a@x>;tag=1\r\n\
         To: <sip:b@x>\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
    )
    .into_bytes()
}

fn answer(via: &str) -> Vec<u8> {
    let text = String::from_utf8(options(via)).unwrap();
    text.replace("OPTIONS sip:a@127.0.0.1 SIP/2.0", "SIP/2.0 200 OK").into_bytes()
}

/// Whether the other end closes it, and what it has sent before.
async fn rest(stream: &mut TcpStream) -> (bool, Vec<u8>) {
    let mut bytes = Vec::new();
    let closed = timeout(Duration::from_millis(300), stream.read_to_end(&mut bytes)).await;
    // What was sent to who had closed already resets the connection.
    (closed.is_ok(), bytes)
}

#[tokio::test]
async fn messages_come_and_answers_go_back() {
    let (mut streams, address) = listen(limits()).await;
    let mut stream = connect(address, [127, 0, 0, 1]).await;
    let message = options("127.0.0.1:5070");
    stream.write_all(&[b"\r\n\r\n".to_vec(), message.clone(), message[..9].to_vec()].concat()).await.unwrap();
    let (from, came) = streams.next().await;
    assert_eq!((from, came), (stream.local_addr().unwrap(), message.clone()));
    stream.write_all(&message[9..]).await.unwrap();
    assert_eq!(streams.next().await, (from, message.clone()));
    streams.answer(from, b"one");
    streams.send(from, b"two");
    // The first of it is the answer to two empty lines.
    assert_eq!(rest(&mut stream).await, (false, b"\r\nonetwo".to_vec()));
}

/// RFC 3261 §18.2.2: whose connection is gone is answered at the port in his Via, on the host that he is.
#[tokio::test]
async fn who_has_no_connection_any_more_is_answered_where_the_via_says() {
    let (mut streams, address) = listen(limits()).await;
    let there = TcpListener::bind("127.0.0.3:0").await.unwrap();
    let via = format!("192.0.2.1:{}", there.local_addr().unwrap().port());
    let mut stream = connect(address, [127, 0, 0, 3]).await;
    stream.write_all(&options(&via)).await.unwrap();
    let (from, _) = streams.next().await;
    drop(stream);
    while streams.count() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Who is not known is not called.
    streams.answer(from, &answer(&via));
    assert_eq!(streams.count(), 0);
    streams.send(from, &answer(&via));
    streams.send(from, b"behind it");
    let (mut back, _) = timeout(Duration::from_secs(5), there.accept()).await.unwrap().unwrap();
    let mut bytes = vec![0; answer(&via).len()];
    back.read_exact(&mut bytes).await.unwrap();
    assert_eq!(bytes, answer(&via));
    // And what he says by that is heard.
    back.write_all(&options(&via)).await.unwrap();
    assert_eq!(streams.next().await.0, there.local_addr().unwrap());
}

#[tokio::test]
async fn connections_are_limited_in_number() {
    let (mut streams, address) = listen(limits()).await;
    let mut known = Vec::new();
    // Strangers of one source, and of all.
    let (mut one, mut two) = (connect(address, [127, 0, 0, 1]).await, connect(address, [127, 0, 0, 1]).await);
    let mut three = connect(address, [127, 0, 0, 1]).await;
    assert!(rest(&mut three).await.0, "a third one of a source");
    let mut other = connect(address, [127, 0, 0, 2]).await;
    let mut third = connect(address, [127, 0, 0, 3]).await;
    assert!(rest(&mut third).await.0, "a fourth one of all");
    for stream in [&mut one, &mut two, &mut other] {
        stream.write_all(&options("127.0.0.1")).await.unwrap();
        let (from, _) = streams.next().await;
        streams.vouch(from, "alice");
        known.push(from);
    }
    // Those who are known leave room to strangers, up to all that a source may have.
    let (_five, _six) = (connect(address, [127, 0, 0, 1]).await, connect(address, [127, 0, 0, 1]).await);
    let mut seven = connect(address, [127, 0, 0, 1]).await;
    assert!(rest(&mut seven).await.0, "a fifth one of a source");
    let _sixth = connect(address, [127, 0, 0, 4]).await;
    let mut seventh = connect(address, [127, 0, 0, 5]).await;
    assert!(rest(&mut seventh).await.0, "a seventh one of all");
    assert_eq!(streams.count(), 6);
    // Nor is one made.
    streams.send("127.0.0.9:5060".parse().unwrap(), b"a message");
    assert_eq!(streams.count(), 6);
    assert!(!rest(&mut one).await.0);
}

/// Who says nothing, or who says half of something, has ten seconds, and who is known ten minutes.
#[tokio::test(start_paused = true)]
async fn connections_are_limited_in_time() {
    let limits = Limits { strangers_of_source: 8, ..limits() };
    let (mut streams, address) = listen(limits).await;
    let message = options("127.0.0.1");
    let mut silent = connect(address, [127, 0, 0, 1]).await;
    let begun = Instant::now();
    assert_eq!(silent.read(&mut [0; 9]).await.unwrap(), 0);
    assert!(begun.elapsed().abs_diff(limits.patience) < Duration::from_secs(1), "{:?}", begun.elapsed());

    let mut known = connect(address, [127, 0, 0, 1]).await;
    known.write_all(&message).await.unwrap();
    let (from, _) = streams.next().await;
    streams.vouch(from, "alice");
    let begun = Instant::now();
    assert_eq!(known.read(&mut [0; 9]).await.unwrap(), 0);
    assert!(begun.elapsed().abs_diff(limits.idle) < Duration::from_secs(1), "{:?}", begun.elapsed());

    let mut slow = connect(address, [127, 0, 0, 1]).await;
    slow.write_all(&message).await.unwrap();
    let (from, _) = streams.next().await;
    streams.vouch(from, "alice");
    let begun = Instant::now();
    let (mut reader, mut writer) = slow.split();
    // A byte now and then does not help.
    let drip = async {
        for byte in &message {
            let _ = writer.write_all(&[*byte]).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let mut byte = [0; 9];
    tokio::select! {
        read = reader.read(&mut byte) => assert!(matches!(read, Ok(0) | Err(_)), "{read:?}"),
        () = drip => panic!("it was heard to its end"),
    }
    assert!(begun.elapsed().abs_diff(limits.patience) < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// What is no SIP, has no length, or is too long ends a connection at once, and nothing of it is kept.
#[tokio::test]
async fn what_is_no_message_ends_a_connection() {
    let (_streams, address) = listen(limits()).await;
    for bad in [
        vec![b'x'; MESSAGE_MAX + 1],
        b"OPTIONS sip:a SIP/2.0\r\nCall-ID: 1\r\n\r\n".to_vec(),
        b"OPTIONS sip:a SIP/2.0\r\nContent-Length: 4096\r\n\r\n".to_vec(),
    ] {
        let mut stream = connect(address, [127, 0, 0, 1]).await;
        stream.write_all(&bad).await.unwrap();
        assert!(rest(&mut stream).await.0, "{:?}", String::from_utf8_lossy(&bad[..20]));
    }
}

/// Who asks and does not read has no more kept for him than this, and is given up.
#[tokio::test]
async fn what_waits_is_limited_in_bytes() {
    let limits = Limits {
        queue: 1 << 20,
        bytes: 1 << 16,
        strangers_bytes: 1 << 16,
        setup: Duration::from_millis(500),
        ..limits()
    };
    let (mut streams, address) = listen(limits).await;
    let mut stream = connect(address, [127, 0, 0, 1]).await;
    stream.write_all(&options("127.0.0.1")).await.unwrap();
    let (from, _) = streams.next().await;
    // More than the kernel takes.
    for _ in 0..20_000 {
        streams.answer(from, &[b'x'; 1000]);
        tokio::task::yield_now().await;
    }
    assert!(streams.shared.strangers_bytes.available_permits() < 2000, "all that may wait waits");
    let waits = streams.shared.open()[&from].messages.capacity();
    assert!((1 << 20) - waits <= 65, "{waits}");
    // Others have theirs.
    assert_eq!(streams.shared.bytes.available_permits(), 1 << 16);
    timeout(Duration::from_secs(10), async {
        while streams.count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(streams.shared.strangers_bytes.available_permits(), 1 << 16);
}

/// A connection that says something, and from where.
async fn speaks(streams: &mut Streams, to: SocketAddr, from: [u8; 4]) -> (TcpStream, SocketAddr) {
    let mut stream = connect(to, from).await;
    stream.write_all(&options("127.0.0.1")).await.unwrap();
    let (from, _) = streams.next().await;
    (stream, from)
}

/// One user leaves room to the others, from however many addresses.
#[tokio::test]
async fn a_user_has_so_many_connections() {
    let (mut streams, address) = listen(Limits { of_user: 2, ..limits() }).await;
    let mut all = Vec::new();
    for host in 1..4 {
        let (stream, from) = speaks(&mut streams, address, [127, 0, 0, host]).await;
        streams.vouch(from, "alice");
        streams.vouch(from, "alice");
        all.push(stream);
    }
    assert!(rest(&mut all[2]).await.0 && !rest(&mut all[0]).await.0 && !rest(&mut all[1]).await.0);
    let (mut other, from) = speaks(&mut streams, address, [127, 0, 0, 4]).await;
    streams.vouch(from, "bob");
    assert!(!rest(&mut other).await.0);
}

/// Somebody has the address now that a user had, and hears nothing that is for the user but answers to himself.
#[tokio::test]
async fn requests_go_to_nobody_who_is_not_known() {
    let (mut streams, address) = listen(limits()).await;
    let (mut stranger, from) = speaks(&mut streams, address, [127, 0, 0, 1]).await;
    streams.send(from, &options("127.0.0.1"));
    streams.send(from, &answer("127.0.0.1"));
    assert_eq!(rest(&mut stranger).await, (false, answer("127.0.0.1")));
    streams.vouch(from, "alice");
    streams.send(from, &options("127.0.0.1"));
    assert_eq!(rest(&mut stranger).await, (false, options("127.0.0.1")));
}

/// An answer to somebody who has gone makes nobody known: it needs room among the strangers.
#[tokio::test]
async fn an_answer_makes_no_place_among_those_who_are_known() {
    let (streams, _) = listen(limits()).await;
    for port in 1..5 {
        streams.send(SocketAddr::from(([127, 0, 0, 9], 9)), &answer(&format!("127.0.0.9:{port}")));
    }
    assert_eq!(streams.count(), limits().strangers_of_source);
}

/// Nobody takes the place of a connection that was made to where he calls from.
#[tokio::test]
async fn a_connection_that_is_known_is_not_replaced() {
    let (streams, address) = listen(limits()).await;
    let there = TcpListener::bind("127.0.0.5:0").await.unwrap();
    let at = there.local_addr().unwrap();
    streams.send(at, &options("127.0.0.5"));
    let (mut called, _) = there.accept().await.unwrap();
    drop(there);
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(at).unwrap();
    let mut stranger = socket.connect(address).await.unwrap();
    assert!(rest(&mut stranger).await.0);
    assert_eq!(rest(&mut called).await, (false, options("127.0.0.5")));
    assert_eq!(streams.count(), 1);
}
