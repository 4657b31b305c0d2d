use super::*;

fn here() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// From any address.
fn to(remote: SocketAddr) -> Route {
    Route { local: "0.0.0.0:5061".parse().unwrap(), remote }
}

fn trusting(identities: &[&Identity]) -> Keyring {
    let keyring = Keyring::default();
    keyring.replace(identities.iter().map(|identity| identity.public_key()));
    keyring
}

/// Nothing is known of who is where.
struct Anywhere;

impl Peers for Anywhere {}

fn as_it_came() -> Box<dyn Peers> {
    Box::new(Anywhere)
}

fn message(body: &str) -> Vec<u8> {
    format!("OPTIONS sip:a SIP/2.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

async fn next(arrivals: &mut mpsc::Receiver<Arrival>) -> Option<Arrival> {
    timeout(Duration::from_secs(10), arrivals.recv()).await.ok().flatten()
}

/// A server that trusts these, and how it is reached.
async fn server(own: &Identity, trusted: &Keyring) -> (Connections, mpsc::Receiver<Arrival>, SocketAddr) {
    let (mut connections, arrivals) = Connections::new(own, trusted, as_it_came()).unwrap();
    let address = connections.listen(here(), own, trusted).await.unwrap();
    (connections, arrivals, address)
}

#[tokio::test]
async fn messages_go_both_ways_over_one_connection_and_say_whose_they_are() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let (at_alice, mut to_alice) = Connections::new(&alice, &trusting(&[&bob]), as_it_came()).unwrap();
    for text in ["one", "two"] {
        at_alice.send(to(address), message(text));
        let arrival = next(&mut to_bob).await.unwrap();
        assert_eq!((arrival.message, arrival.key), (message(text), alice.public_key()));
        at_bob.send(arrival.route, message("back"));
        let answer = next(&mut to_alice).await.unwrap();
        assert_eq!(
            (answer.message, answer.key, answer.route.remote),
            (message("back"), bob.public_key(), address)
        );
    }
    assert_eq!(at_bob.shared.open().len(), 1);
}

#[tokio::test]
async fn strangers_are_not_heard_on_either_side() {
    let [alice, bob, eve] = [(); 3].map(|()| Identity::generate().unwrap());
    let (_at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    // Eve is not known to Bob.
    let (at_eve, _) = Connections::new(&eve, &trusting(&[&bob]), as_it_came()).unwrap();
    at_eve.send(to(address), message("let me in"));
    // Who answers at that address is not who Alice trusts.
    let (at_alice, _) = Connections::new(&alice, &trusting(&[&eve]), as_it_came()).unwrap();
    at_alice.send(to(address), message("a secret"));
    assert!(timeout(Duration::from_millis(500), to_bob.recv()).await.is_err());
}

#[tokio::test]
async fn a_connection_that_broke_is_made_again() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let (at_alice, _to_alice) = Connections::new(&alice, &trusting(&[&bob]), as_it_came()).unwrap();
    at_alice.send(to(address), message("one"));
    let first = next(&mut to_bob).await.unwrap().route;
    at_bob.shared.open().clear();
    while !at_alice.shared.open().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    at_alice.send(to(address), message("two"));
    let second = next(&mut to_bob).await.unwrap();
    assert_eq!(second.message, message("two"));
    assert_ne!(second.route, first);
}

/// One peer cannot take all there is.
#[tokio::test]
async fn a_peer_has_so_many_connections_at_most() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let mut many = Vec::new();
    for _ in 0..OPEN_PER_PEER + 4 {
        let (connections, receiver) = Connections::new(&alice, &trusting(&[&bob]), as_it_came()).unwrap();
        connections.send(to(address), message("x"));
        many.push((connections, receiver));
    }
    for _ in 0..OPEN_PER_PEER {
        next(&mut to_bob).await.unwrap();
    }
    assert!(timeout(Duration::from_millis(500), to_bob.recv()).await.is_err());
    assert_eq!(at_bob.shared.open().len(), OPEN_PER_PEER);
}

/// A host that has two addresses is heard with the one that it names.
#[tokio::test]
async fn each_address_of_ours_has_its_own_connection() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (_at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let (at_alice, _to_alice) = Connections::new(&alice, &trusting(&[&bob]), as_it_came()).unwrap();
    for own in ["127.0.0.1", "127.0.0.2"] {
        let local = SocketAddr::new(own.parse().unwrap(), 5061);
        at_alice.send(Route { local, remote: address }, message(own));
        let arrival = next(&mut to_bob).await.unwrap();
        assert_eq!((arrival.route.remote.ip(), arrival.message), (local.ip(), message(own)));
    }
}

/// Both sides say so when keys do not fit, once.
#[tokio::test]
async fn keys_that_do_not_fit_are_told_of() {
    struct Listening(mpsc::UnboundedSender<String>);
    impl Peers for Listening {
        fn complain(&self, text: String) {
            self.0.send(text).unwrap();
        }
    }
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (at_bob, mut bob_hears) = mpsc::unbounded_channel();
    let (mut bobs, _arrivals) = Connections::new(&bob, &trusting(&[]), Box::new(Listening(at_bob))).unwrap();
    let address = bobs.listen(here(), &bob, &trusting(&[])).await.unwrap();
    let (at_alice, mut alice_hears) = mpsc::unbounded_channel();
    let (alices, _arrivals) =
        Connections::new(&alice, &trusting(&[&bob]), Box::new(Listening(at_alice))).unwrap();
    for _ in 0..3 {
        alices.send(to(address), message("let me in"));
        while !alices.shared.open().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    for heard in [&mut bob_hears, &mut alice_hears] {
        assert!(heard.recv().await.unwrap().contains("127.0.0.1"));
        assert!(heard.try_recv().is_err());
    }
}

/// Who is trusted elsewhere is not who is called.
#[tokio::test]
async fn a_peer_answers_at_its_own_place() {
    struct Elsewhere;
    impl Peers for Elsewhere {
        fn may_answer(&self, _: SocketAddr, _: &PublicKey) -> bool {
            false
        }
    }
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (_at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let (at_alice, _to_alice) = Connections::new(&alice, &trusting(&[&bob]), Box::new(Elsewhere)).unwrap();
    at_alice.send(to(address), message("a secret"));
    assert!(timeout(Duration::from_millis(500), to_bob.recv()).await.is_err());
}

/// Who connects and says nothing takes no place from others for long, and from one address not many.
#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let (_at_bob, mut to_bob, address) = server(&bob, &trusting(&[&alice])).await;
    let mut silent = Vec::new();
    for _ in 0..HANDSHAKES * 2 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.1.9:0".parse().unwrap()).unwrap();
        silent.push(socket.connect(address).await.unwrap());
    }
    let (at_alice, _to_alice) = Connections::new(&alice, &trusting(&[&bob]), as_it_came()).unwrap();
    at_alice.send(to(address), message("one"));
    let first = timeout(Duration::from_secs(2), to_bob.recv()).await;
    assert!(first.is_ok());
}

/// Who is not known any more has no connection any more, and gets none.
#[tokio::test]
async fn who_may_not_stay_is_shown_out() {
    let [alice, bob, carol] = [(); 3].map(|()| Identity::generate().unwrap());
    let trusted = trusting(&[&alice, &carol]);
    let (at_bob, mut to_bob, address) = server(&bob, &trusted).await;
    let both = [&alice, &carol]
        .map(|identity| Connections::new(identity, &trusting(&[&bob]), as_it_came()).unwrap());
    for (connections, _) in &both {
        connections.send(to(address), message("hello"));
        next(&mut to_bob).await.unwrap();
    }
    trusted.replace([carol.public_key()]);
    at_bob.review();
    assert_eq!(at_bob.shared.open().len(), 1);
    let [(at_alice, _), (at_carol, _)] = &both;
    for _ in 0..20 {
        at_alice.send(to(address), message("again"));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    at_carol.send(to(address), message("still here"));
    let arrival = next(&mut to_bob).await.unwrap();
    assert_eq!((arrival.key, arrival.message), (carol.public_key(), message("still here")));
}

/// A handshake that was under way when its key was taken back leads to no connection.
#[tokio::test]
async fn who_is_trusted_no_more_is_not_admitted() {
    let [alice, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let trusted = trusting(&[&alice]);
    let (at_bob, _to_bob, address) = server(&bob, &trusted).await;
    assert!(at_bob.shared.admit(to(address), address, alice.public_key()).is_some());
    trusted.replace([]);
    assert!(at_bob.shared.admit(to(address), address, alice.public_key()).is_none());
}

/// Two hosts that say something to each other at the same moment, and have no connection, begin one each.
mod at_once {
    use super::*;

    /// The other one can be called there.
    struct At(Arc<std::sync::OnceLock<SocketAddr>>);

    impl Peers for At {
        fn place(&self, _: SocketAddr, _: &PublicKey) -> SocketAddr {
            *self.0.get().unwrap()
        }
    }

    struct Side {
        connections: Connections,
        arrivals: mpsc::Receiver<Arrival>,
        other: Arc<std::sync::OnceLock<SocketAddr>>,
        at: SocketAddr,
    }

    impl Side {
        async fn new(own: &Identity, other: &Identity) -> Self {
            let trusted = trusting(&[other]);
            let place = Arc::default();
            let peers = Box::new(At(Arc::clone(&place)));
            let (mut connections, arrivals) = Connections::new(own, &trusted, peers).unwrap();
            let at = connections.listen(here(), own, &trusted).await.unwrap();
            Self { connections, arrivals, other: place, at }
        }

        fn says(&self, text: &str) {
            let route = Route { local: here(), remote: *self.other.get().unwrap() };
            self.connections.send(route, message(text));
        }

        fn open(&self) -> Vec<bool> {
            self.connections.shared.open().values().map(|open| open.dialled.is_some()).collect()
        }
    }

    async fn both(lower: &Identity, higher: &Identity, later: Duration) {
        let mut sides = [Side::new(lower, higher).await, Side::new(higher, lower).await];
        sides[0].other.set(sides[1].at).unwrap();
        sides[1].other.set(sides[0].at).unwrap();
        for number in 0..3 {
            sides[0].says(&number.to_string());
        }
        tokio::time::sleep(later).await;
        for number in 0..3 {
            sides[1].says(&number.to_string());
        }
        for side in &mut sides {
            for number in 0..3 {
                let arrival = next(&mut side.arrivals).await.expect("what waited is said");
                assert_eq!(arrival.message, message(&number.to_string()));
            }
        }
        // One stays, which both know: that of the lower key, if there were two.
        while [0, 1].iter().any(|side| sides[*side].open().len() > 1) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!([sides[0].open(), sides[1].open()], [[true], [false]]);
        for _ in 0..2 {
            sides.reverse();
            sides[0].says("more");
            assert_eq!(next(&mut sides[1].arrivals).await.unwrap().message, message("more"));
        }
        assert_eq!([sides[0].open().len(), sides[1].open().len()], [1, 1]);
    }

    #[tokio::test]
    async fn one_of_two_connections_stays_and_nothing_is_lost() {
        for round in 0..100 {
            let mut identities = [(); 2].map(|()| Identity::generate().unwrap());
            identities.sort_by_key(Identity::public_key);
            let [lower, higher] = &identities;
            // As the one that is dialled second comes up later and later, too.
            let later = Duration::from_micros(round * 20);
            timeout(Duration::from_secs(20), both(lower, higher, later)).await.expect("two connections stay");
        }
    }
}
