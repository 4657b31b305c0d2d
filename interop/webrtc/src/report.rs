use std::time::Instant;

use serde_json::{Value, json};

use crate::assorted::Totals;

/// One JSON object per line: `t`, `event`, then the members of `fields`.
#[derive(Debug)]
pub(crate) struct Reporter {
    pub(crate) started: Instant,
}

impl Reporter {
    pub(crate) fn say(&self, event: &str, fields: Value) {
        let mut line = json!({"t": self.started.elapsed().as_secs_f64(), "event": event});
        if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), fields) {
            line.extend(fields);
        }
        println!("{line}");
    }

    pub(crate) fn say_received(&self, totals: &Totals) {
        self.say(
            "received",
            json!({"messages": totals.messages, "bytes": totals.bytes, "bad": totals.bad, "ok": totals.ok(),
                "streams_seen": totals.streams_seen()}),
        );
    }
}
