use super::*;
use crate::plain::uses::NONCE_LIVES;

pub(super) const NOW: Duration = Duration::from_secs(1000);

fn digests() -> Digests {
    Digests::new("10.1.0.1".into(), vec![DigestAlgorithm::Sha256, DigestAlgorithm::Md5], [7; 32])
}

fn from() -> SocketAddr {
    "10.1.0.50:5060".parse().unwrap()
}

/// One that was sent to where requests are from.
fn nonce(digests: &Digests, made: Duration, number: u32) -> String {
    digests.nonce(NonceName { made, number }, from().ip())
}

fn prove(
    digests: &mut Digests,
    now: Duration,
    request: &Message,
    password: impl Fn(&str) -> Option<String>,
) -> Proof {
    let datagram = request.to_bytes();
    digests.prove(now, Come { from: from(), datagram: &datagram, request }, password)
}

/// A request of alice, with more header lines.
fn request(method: &str, branch: &str, more: &str) -> Message {
    let text = format!(
        "{method} sip:10.1.0.1:5060 SIP/2.0\r\nVia: SIP/2.0/UDP 10.1.0.50:5060;branch=z9hG4bK{branch}\r\n\
         From: <sip:alice@10.1.0.50>;tag=a\r\nTo: <sip:bob@10.1.0.1>\r\nCall-ID: call\r\nCSeq: 1 {method}\r\n{more}\r\n"
    );
    Message::parse(text.as_bytes()).unwrap()
}

/// The line with which a client answers.
fn answer(nonce: &str, count: u32, password: &str, algorithm: DigestAlgorithm) -> String {
    answer_for("sip:10.1.0.1:5060", nonce, count, password, algorithm)
}

fn answer_for(uri: &str, nonce: &str, count: u32, password: &str, algorithm: DigestAlgorithm) -> String {
    let hash = |words: &[&str]| algorithm.hash(&words.join(":"));
    let count = format!("{count:08x}");
    let who = hash(&["alice", "10.1.0.1", password]);
    let response = hash(&[&who, nonce, &count, "c", "auth", &hash(&["INVITE", uri])]);
    format!(
        "Authorization: Digest username=\"alice\", realm=\"10.1.0.1\", nonce=\"{nonce}\", uri=\"{uri}\", \
         response=\"{response}\", algorithm={}, cnonce=\"c\", qop=auth, nc={count}\r\n",
        algorithm.algorithm()
    )
}

fn password(user: &str) -> Option<String> {
    (user == "alice").then(|| "secret".to_owned())
}

/// RFC 7616 §3.9.1: what it computes for both algorithms.
#[test]
fn the_answers_of_the_rfc_are_expected() {
    for (name, algorithm, response) in [
        ("MD5", DigestAlgorithm::Md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (
            "SHA-256",
            DigestAlgorithm::Sha256,
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
        ),
    ] {
        let line = format!(
            "Authorization: Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", algorithm={name}, \
             nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, \
             cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, response=\"{response}\"\r\n"
        );
        let request = request("GET", "1", &line);
        let Ok(AuthResponse::Digest(answer)) = request.headers().get(Name::AUTHORIZATION) else { panic!() };
        let digests = Digests::new("http-auth@example.org".into(), vec![algorithm], [7; 32]);
        assert_eq!(digests.expected(&answer, algorithm, &request, "Circle of Life"), response);
    }
}

#[test]
fn who_knows_the_password_is_known() {
    for algorithm in [DigestAlgorithm::Sha256, DigestAlgorithm::Md5] {
        let mut digests = digests();
        let own = nonce(&digests, NOW, 1);
        for (word, proof) in [("guess", Proof::Wrong("alice".into())), ("secret", Proof::Of("alice".into()))]
        {
            let request = request("INVITE", "1", &answer(&own, 1, word, algorithm));
            assert_eq!(prove(&mut digests, NOW, &request, password), proof);
        }
        // A user that there is not is no easier than a wrong password: the empty one is none.
        let request = request("INVITE", "2", &answer(&own, 2, "", algorithm));
        assert_eq!(prove(&mut digests, NOW, &request, |_| None), Proof::Wrong("alice".into()));
    }
}

#[test]
fn a_way_that_was_not_asked_for_is_no_proof() {
    let mut digests = Digests::new("10.1.0.1".into(), vec![DigestAlgorithm::Sha256], [7; 32]);
    let line = answer(&nonce(&digests, NOW, 1), 1, "secret", DigestAlgorithm::Md5);
    let request = request("INVITE", "1", &line);
    assert_eq!(prove(&mut digests, NOW, &request, password), Proof::Nothing { stale: false });
}

/// Who has heard an answer has nothing by it: it counts for one request from one place, which may come again as it was.
#[test]
fn an_answer_counts_once() {
    let mut digests = digests();
    let own = nonce(&digests, NOW, 1);
    let mut proof = |count, more: &str, from: &str| {
        let line = answer(&own, count, "secret", DigestAlgorithm::Sha256);
        let request = request("INVITE", "1", &(line + more));
        let (from, datagram) = (from.parse().unwrap(), request.to_bytes());
        digests.prove(NOW, Come { from, datagram: &datagram, request: &request }, password)
    };
    let (of_alice, stale) = (Proof::Of("alice".into()), Proof::Nothing { stale: true });
    let own = "10.1.0.50:5060";
    assert_eq!(proof(1, "", own), of_alice);
    assert_eq!(proof(1, "", own), of_alice);
    // The same branch and Call-ID.
    assert_eq!(proof(1, "UFA_Application: sctp 10.1.0.50:1 10.0.0.9:2\r\n", own), stale);
    assert_eq!(proof(1, "", "10.1.0.50:5061"), stale);
    assert_eq!(proof(2, "", own), of_alice);
    assert_eq!(proof(1, "", own), of_alice, "it comes again after a later one");
}

/// Whoever says that it is somewhere else has not been asked there.
#[test]
fn a_nonce_is_for_one_address() {
    let mut digests = digests();
    let line = answer(&nonce(&digests, NOW, 1), 1, "secret", DigestAlgorithm::Sha256);
    let request = request("INVITE", "1", &line);
    let datagram = request.to_bytes();
    let mut proof = |from: &str| {
        let come = Come { from: from.parse().unwrap(), datagram: &datagram, request: &request };
        digests.prove(NOW, come, password)
    };
    assert_eq!(proof("10.1.0.51:5060"), Proof::Nothing { stale: true });
    assert_eq!(proof("10.1.0.50:40000"), Proof::Of("alice".into()));
}

/// RFC 7235 §2.1 and RFC 3261 §19.1.4 have no regard to case there, and an agent may answer in several ways.
#[test]
fn answers_are_read_as_agents_write_them() {
    let of_alice = Proof::Of("alice".into());
    let good = |uri| answer_for(uri, &nonce(&digests(), NOW, 1), 1, "secret", DigestAlgorithm::Sha256);
    let (line, wrong) = (good("sip:10.1.0.1:5060"), answer("x", 1, "guess", DigestAlgorithm::Md5));
    for line in [
        line.replace("Digest", "digest"),
        line.replace("Digest", "DIGEST"),
        format!("{wrong}{line}"),
        format!("{line}{wrong}"),
        good("SIP:10.1.0.1:5060"),
        good("sips:10.1.0.1:5060"),
        good("Sip:bob@10.1.0.1:5060"),
    ] {
        let proof = prove(&mut digests(), NOW, &request("INVITE", "1", &line), password);
        assert_eq!(proof, of_alice, "{line}");
    }
}

#[test]
fn nonces_are_of_here_and_young() {
    let mut digests = digests();
    let own = nonce(&digests, NOW, 1);
    let other = Digests::new("10.1.0.1".into(), vec![DigestAlgorithm::Sha256], [8; 32]);
    let other = nonce(&other, NOW, 1);
    let mut proof = |now, nonce: &str| {
        let line = answer(nonce, 1, "secret", DigestAlgorithm::Sha256);
        prove(&mut digests, now, &request("INVITE", "1", &line), password)
    };
    for (now, nonce) in [(NOW, other.as_str()), (NOW, "x"), (NOW + NONCE_LIVES * 2, own.as_str())] {
        assert_eq!(proof(now, nonce), Proof::Nothing { stale: true }, "{nonce}");
    }
    assert_eq!(proof(NOW + NONCE_LIVES, &own), Proof::Of("alice".into()));
}

/// An answer is for the method and the host that it was made for.
#[test]
fn an_answer_is_for_its_request() {
    let mut digests = digests();
    let own = nonce(&digests, NOW, 1);
    let line = answer(&own, 1, "secret", DigestAlgorithm::Sha256);
    assert_eq!(prove(&mut digests, NOW, &request("BYE", "1", &line), password), Proof::Wrong("alice".into()));
    let elsewhere = line.replace("uri=\"sip:10.1.0.1", "uri=\"sip:10.2.0.1");
    let proof = prove(&mut digests, NOW, &request("INVITE", "1", &elsewhere), password);
    assert_eq!(proof, Proof::Nothing { stale: false });
}

#[test]
fn a_challenge_for_each_way() {
    let mut digests = digests();
    let challenge = digests.challenge(NOW, from().ip(), &request("INVITE", "1", ""), true).unwrap();
    let text = String::from_utf8(challenge.to_bytes()).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("WWW-Authenticate: Digest")).collect();
    assert_eq!((challenge.status(), lines.len()), (401, 2), "{text}");
    for (line, name) in lines.iter().zip(["SHA-256", "MD5"]) {
        assert!(line.contains(&format!("algorithm={name}, qop=\"auth\"")), "{line}");
        assert!(line.contains("realm=\"10.1.0.1\"") && line.contains("stale=true"), "{line}");
    }
    // RFC 3261 §8.2.7.
    let again = digests.challenge(NOW, from().ip(), &request("INVITE", "1", ""), true).unwrap();
    assert_eq!(challenge.to_tag(), again.to_tag());
    let other = digests.challenge(NOW, from().ip(), &request("INVITE", "2", ""), true).unwrap();
    assert_ne!(challenge.to_tag(), other.to_tag());
}

/// Two agents that ask in the same instant have nothing in common.
#[test]
fn each_challenge_is_another_one() {
    let mut digests = digests();
    let mut asked = |branch| {
        let challenge = digests.challenge(NOW, from().ip(), &request("INVITE", branch, ""), false).unwrap();
        let text = challenge.header("WWW-Authenticate").unwrap().to_owned();
        text.split("nonce=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let nonces = [asked("1"), asked("2")];
    assert_ne!(nonces[0], nonces[1]);
    for (nonce, branch) in nonces.iter().zip(["3", "4"]) {
        let line = answer(nonce, 1, "secret", DigestAlgorithm::Sha256);
        let proof = prove(&mut digests, NOW, &request("INVITE", branch, &line), password);
        assert_eq!(proof, Proof::Of("alice".into()));
    }
}
