//! The users of the hosts: each sends as much as its end lets it, or nothing, and reads at once what comes.

use core::net::SocketAddr;

use bytes::Bytes;
use whimbrel_netsim::{App, Context};
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, Command, ConnectToken, Event, Message, StreamId};

use crate::testbed::NUMBERED;

/// The SCTP port of every host. Equal ports let addresses alone tell associations apart.
const PORT: u16 = 5001;
/// User data of a full packet.
const MESSAGE: usize = 1452;
/// Bytes that wait or are under way at any time: more than a window.
const AHEAD: usize = 128 * 1024;

static CONTENT: [u8; MESSAGE] = [0; MESSAGE];

/// A user.
pub(crate) struct Talker {
    /// Whom to connect to; nobody: waits to be called.
    peer: Option<SocketAddr>,
    sends: bool,
    pub(crate) association: Option<AssociationId>,
    queued: usize,
}

impl Talker {
    pub(crate) const fn calling(peer: SocketAddr, sends: bool) -> Self {
        Self { peer: Some(peer), sends, association: None, queued: 0 }
    }

    pub(crate) const fn called(sends: bool) -> Self {
        Self { peer: None, sends, association: None, queued: 0 }
    }

    fn send(&mut self, context: &mut Context<'_, Command>) {
        let Some(association) = self.association.filter(|_| self.sends) else { return };
        while self.queued < AHEAD {
            let mut message = Message::new(StreamId(0), Bytes::from_static(&CONTENT));
            message.ppid.0 = NUMBERED;
            self.queued += MESSAGE;
            context.command(Command::Send { association, message });
        }
    }
}

impl App<Node> for Talker {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        context.command(match self.peer {
            Some(peer) => Command::Connect {
                token: ConnectToken(0),
                remote: vec![peer],
                remote_port: PORT,
                local_port: Some(PORT),
            },
            None => Command::Listen { port: PORT },
        });
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match event {
            // The correspondent node talks to the first who calls.
            Event::Up { association, .. } if self.association.is_none() => {
                self.association = Some(association);
                self.send(context);
            }
            Event::Message { association, received } => {
                context.command(Command::Release { association, bytes: received.payload.len() });
            }
            Event::Sent { association, bytes, .. } if Some(association) == self.association => {
                self.queued = self.queued.saturating_sub(bytes);
                self.send(context);
            }
            _ => {}
        }
    }
}
