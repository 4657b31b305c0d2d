use std::sync::{Arc, Mutex};

use super::*;

/// Notes what it is told, and wants nothing.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Policy for Notes {
    fn observe(&mut self, _: Instant, fact: &Fact, _: &View<'_>) -> Vec<Decision> {
        self.0.lock().unwrap().push(format!("{fact:?}"));
        Vec::new()
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

#[test]
fn the_policy_hears_nothing_while_the_network_decides_and_begins_anew_after_that() {
    let (control, notes) = (NetworkControl::default(), Notes::default());
    let mut gated = Gated::new(control.clone(), || notes.clone());
    let view = View { interfaces: &[], addresses: &[], paths: &[], remotes: &[], dynamic: true };
    let mut pass = |seconds: u64| {
        let now = Instant::ZERO + Duration::from_secs(seconds);
        gated.observe(now, &Fact::Deadline, &view);
        (gated.next_deadline(), std::mem::take(&mut *notes.0.lock().unwrap()))
    };
    // Beside a correspondent nothing ever closes the gate.
    assert_eq!(pass(1), (None, vec!["Begun".to_owned()]));
    assert_eq!(pass(2), (None, vec!["Deadline".to_owned()]));
    control.set(true);
    let (looks, heard) = pass(3);
    assert_eq!(looks, Some(Instant::ZERO + Duration::from_secs(3) + LOOK));
    assert!(heard.is_empty(), "{heard:?}");
    control.set(false);
    assert_eq!(pass(4), (None, vec!["Begun".to_owned()]));
}
