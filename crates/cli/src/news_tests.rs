use std::sync::Mutex;

use serde_json::Value;
use whimbrel::handover::Reason;
use whimbrel::interfaces::{Interface, InterfaceAddress};

use super::*;

/// Keeps the sentences.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl News for Notes {
    fn event(&self, _kind: &str, _fields: Value) {}

    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.into());
    }

    fn warn(&self, text: &str) {
        self.note(text);
    }
}

fn told(action: Action, reason: Reason, paths: &[PathView]) -> String {
    let ip = "127.0.0.1".parse().unwrap();
    let interface =
        Interface { addresses: vec![InterfaceAddress { ip, asked_for: true }], ..Interface::default() };
    let interfaces = Interfaces([("wlan0".to_owned(), interface)].into());
    let notes = Notes::default();
    tell_decision(&Decision { action, reason }, paths, &interfaces, &notes);
    notes.0.into_inner().unwrap().remove(0)
}

#[tokio::test]
async fn a_move_is_told_by_addresses_and_interface() {
    let server = Endpoint::bind(["127.0.0.1:0".parse().unwrap()]).await.unwrap();
    let listener = server.listen(5001).unwrap();
    let client = Endpoint::bind(["127.0.0.1:0".parse().unwrap()]).await.unwrap();
    let remote = server.local_addresses();
    let (association, _accepted) = tokio::join!(client.connect(&remote, 5001), listener.accept());
    let paths = association.unwrap().paths().await;
    let moving = told(Action::UsePath(paths[0].id), Reason::GoingDown, &paths);
    assert_eq!(moving, "moving to 127.0.0.1 (wlan0) → 127.0.0.1: the link will soon go down");
    let gone = told(Action::UsePath(paths[0].id), Reason::GoingDown, &[]);
    assert!(gone.starts_with("moving to path "), "{gone}");
}

#[test]
fn what_is_asked_of_the_peer_says_why() {
    let text = told(Action::AskPrimary("127.0.0.1".parse().unwrap()), Reason::BothWays, &[]);
    assert_eq!(text, "asking to be sent to 127.0.0.1 (wlan0): it is where this host sends from");
}
