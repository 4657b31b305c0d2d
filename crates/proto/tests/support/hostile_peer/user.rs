//! What the victim's user does.

use bytes::Bytes;
use whimbrel_proto::{Command, ConnectToken, Delivery, Message, StreamId};

use super::super::script::Script;
use super::{Attack, PAYLOAD, PEER_PORT, VICTIM_PORT, peer_address};

impl Attack {
    pub(super) fn connect(&mut self) {
        self.call();
        self.learn();
    }

    pub(crate) fn call(&mut self) {
        self.connects += 1;
        self.victim.command(Command::Connect {
            token: ConnectToken(self.connects),
            remote: vec![peer_address(1)],
            remote_port: PEER_PORT,
            local_port: Some(VICTIM_PORT),
        });
    }

    pub(super) fn command(&mut self, script: &mut Script<'_>) {
        let Some(association) = self.victim.association() else { return };
        let size = usize::from(script.byte()) * script.pick(&[1, 1, 16, 64]);
        let message = Message {
            delivery: if script.one_in(3) { Delivery::Unordered } else { Delivery::Ordered },
            ..Message::new(StreamId(script.below(5) as u16), vec![1; size])
        };
        self.victim.command(Command::Send { association, message });
    }

    pub(super) fn user(&mut self, script: &mut Script<'_>) {
        let choice = script.byte();
        match (choice & 15, self.victim.association()) {
            (0, _) => self.connect(),
            (1, _) => {
                let token = ConnectToken(self.connects);
                self.victim.command(Command::CancelConnect { token });
            }
            (2, _) => self.victim.command(Command::StopListening { port: VICTIM_PORT }),
            (3, _) => self.victim.command(Command::Listen { port: VICTIM_PORT }),
            (4, Some(association)) => self.victim.command(Command::Shutdown { association }),
            (5, Some(association)) if choice > 200 => {
                self.victim.command(Command::Abort { association, reason: Bytes::from_static(&PAYLOAD) });
            }
            (6 | 7, Some(association)) => {
                let paths = self.victim.paths();
                let path = paths[script.below(paths.len())].id;
                self.victim.command(if choice & 1 == 0 {
                    Command::SetPrimary { association, path }
                } else {
                    Command::RequestHeartbeat { association, path }
                });
            }
            (_, Some(association)) => {
                let bytes = self.victim.unreleased.remove(&association).unwrap_or(0);
                let kept = if choice & 128 == 0 { 0 } else { bytes / 2 };
                self.victim.unreleased.insert(association, kept);
                self.victim.command(Command::Release { association, bytes: bytes - kept });
            }
            (_, None) => {}
        }
    }
}
