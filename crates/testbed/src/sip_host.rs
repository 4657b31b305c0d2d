//! A host that speaks SCTP and SIP, and whose SIP tells its SCTP where to go.

use whimbrel_machine::{Input, Instant, Links, Machine, Route, Sink};
use whimbrel_netsim::{App, Composite, Context, Offers, Parts, Told, Using, Voice};
use whimbrel_node::Node;
use whimbrel_proto::{Command, Event};
use whimbrel_ufa::sip::SIP_PORT;
use whimbrel_ufa::{Correspondent, Gateway, Terminal, TransportOrder};

use crate::{Record, User};

/// A host with SCTP and SIP.
pub type SipHost = Composite<SipParts>;

/// Who uses the SCTP of such a host, and keeps what its SIP says.
pub struct SipUser<R> {
    /// The user of SCTP; `None` on a gateway.
    user: Option<Using<Node, User<R>>>,
    /// What SIP has said, and when.
    pub heard: Vec<(Instant, whimbrel_ufa::Event)>,
}

impl<R> SipUser<R> {
    /// One that uses SCTP so.
    pub const fn new(user: User<R>) -> Self {
        Self { user: Some(Using::new(user)), heard: Vec::new() }
    }

    /// One that only listens to SIP.
    pub const fn listening() -> Self {
        Self { user: None, heard: Vec::new() }
    }

    /// The user of SCTP.
    pub fn user(&self) -> Option<&User<R>> {
        self.user.as_ref().map(|user| &user.app)
    }
}

impl<R: Record> App<SipHost> for SipUser<R> {
    fn on_start(&mut self, context: &mut Context<'_, SipCommand>) {
        if let Some(user) = &mut self.user {
            App::<SipHost>::on_start(user, context);
        }
    }

    fn on_event(&mut self, event: SipEvent, context: &mut Context<'_, SipCommand>) {
        match event {
            SipEvent::Sip(event) => self.heard.push((context.now(), event)),
            event => {
                if let Some(user) = &mut self.user {
                    App::<SipHost>::on_event(user, event, context);
                }
            }
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, SipCommand>) {
        if let Some(user) = &mut self.user {
            App::<SipHost>::on_wake(user, token, context);
        }
    }
}

/// The numbers of the machines.
const SCTP: usize = 0;
const SIP: usize = 1;

/// The machines of such a host. A gateway has no SCTP, and what is no SIP passes through its SIP's machine.
#[derive(Debug)]
pub struct SipParts {
    /// SCTP.
    pub sctp: Option<Node>,
    /// SIP.
    pub sip: SipRole,
}

/// What a host is to SIP.
#[derive(Debug)]
pub enum SipRole {
    /// Nothing: it has SCTP alone.
    None,
    /// A gateway.
    Gateway(Box<Gateway>),
    /// A terminal.
    Terminal(Box<Terminal>),
    /// A correspondent.
    Correspondent(Box<Correspondent>),
}

/// What the machines of a host tell each other.
#[derive(Clone, Debug)]
pub enum SipFact {
    /// SCTP says this.
    Said(Event),
    /// SCTP is to do this.
    Ordered(Command),
}

/// A command to one of them.
#[derive(Clone, Debug)]
pub enum SipCommand {
    /// To SCTP.
    Sctp(Command),
    /// To SIP.
    Sip(whimbrel_ufa::Command),
}

/// An event of one of them.
#[derive(Clone, Debug)]
pub enum SipEvent {
    /// Of SCTP.
    Sctp(Event),
    /// Of SIP.
    Sip(whimbrel_ufa::Event),
}

impl SipParts {
    /// SCTP alone.
    pub fn plain(node: Node) -> SipHost {
        Composite::new(Self { sctp: Some(node), sip: SipRole::None })
    }

    /// A gateway.
    pub fn gateway(gateway: Gateway) -> SipHost {
        Composite::new(Self { sctp: None, sip: SipRole::Gateway(Box::new(gateway)) })
    }

    /// A host with both.
    pub fn both(node: Node, sip: SipRole) -> SipHost {
        Composite::new(Self { sctp: Some(node), sip })
    }

    fn sctp_turn<'a, S: Sink<SipEvent>>(
        &mut self,
        now: Instant,
        told: impl IntoIterator<Item = Told<'a, SipCommand, SipFact>>,
        voice: &mut Voice<'_, S, SipFact>,
    ) -> Option<Instant> {
        let node = self.sctp.as_mut()?;
        let hears = !matches!(self.sip, SipRole::None);
        let inputs = told.into_iter().filter_map(|told| match told {
            Told::Input(input) => input_of(input, |command| match command {
                SipCommand::Sctp(command) => Some(command),
                SipCommand::Sip(_) => None,
            }),
            Told::Fact(SipFact::Ordered(command)) => Some(Input::Command(command)),
            Told::Fact(SipFact::Said(_)) => None,
        });
        let mut hearing = voice.hearing(|event: Event, sink: &mut S, facts: &mut Vec<SipFact>| {
            if hears && matters(&event) {
                facts.push(SipFact::Said(event.clone()));
            }
            sink.event(SipEvent::Sctp(event));
        });
        node.step(now, inputs, &mut hearing)
    }

    fn sip_turn<'a, S: Sink<SipEvent>>(
        &mut self,
        now: Instant,
        told: impl IntoIterator<Item = Told<'a, SipCommand, SipFact>>,
        voice: &mut Voice<'_, S, SipFact>,
    ) -> Option<Instant> {
        let inputs = told.into_iter().filter_map(|told| match told {
            Told::Input(input) => input_of(input, |command| match command {
                SipCommand::Sip(command) => Some(command),
                SipCommand::Sctp(_) => None,
            }),
            Told::Fact(SipFact::Said(event)) => Some(Input::Command(whimbrel_ufa::Command::Transport(event))),
            Told::Fact(SipFact::Ordered(_)) => None,
        });
        let mut hearing = voice.hearing(|event, sink: &mut S, facts: &mut Vec<SipFact>| match event {
            whimbrel_ufa::Event::Transport(TransportOrder(order)) => facts.push(SipFact::Ordered(order)),
            event => sink.event(SipEvent::Sip(event)),
        });
        match &mut self.sip {
            SipRole::None => None,
            SipRole::Gateway(gateway) => gateway.step(now, inputs, &mut hearing),
            SipRole::Terminal(terminal) => terminal.step(now, inputs, &mut hearing),
            SipRole::Correspondent(correspondent) => correspondent.step(now, inputs, &mut hearing),
        }
    }
}

/// What SIP wants to know of SCTP: that associations and paths come and go.
const fn matters(event: &Event) -> bool {
    matches!(event, Event::Up { .. } | Event::Path { .. } | Event::PathGone { .. } | Event::Closed { .. })
}

/// An input for a machine whose commands `unwrap` finds.
fn input_of<'a, C, D>(input: Input<'a, C>, unwrap: impl Fn(C) -> Option<D>) -> Option<Input<'a, D>> {
    Some(match input {
        Input::Datagrams { route, ecn, bytes, segment } => Input::Datagrams { route, ecn, bytes, segment },
        Input::Unreachable { route, reason, quoted } => Input::Unreachable { route, reason, quoted },
        Input::Timeout => Input::Timeout,
        Input::Links(links) => Input::Links(links),
        Input::Command(command) => Input::Command(unwrap(command)?),
    })
}

impl Parts for SipParts {
    type Fact = SipFact;
    type Command = SipCommand;
    type Event = SipEvent;

    fn count(&self) -> usize {
        2
    }

    fn owner(&self, route: Route) -> usize {
        match self.sip {
            SipRole::Gateway(_) => SIP,
            _ if route.local.port() == SIP_PORT => SIP,
            _ => SCTP,
        }
    }

    fn addressee(&self, command: &SipCommand) -> usize {
        match command {
            SipCommand::Sctp(_) => SCTP,
            SipCommand::Sip(_) => SIP,
        }
    }

    fn turn<'a, S: Sink<SipEvent>>(
        &mut self,
        part: usize,
        now: Instant,
        told: impl IntoIterator<Item = Told<'a, SipCommand, SipFact>>,
        voice: &mut Voice<'_, S, SipFact>,
    ) -> Option<Instant> {
        match part {
            SCTP => self.sctp_turn(now, told, voice),
            _ => self.sip_turn(now, told, voice),
        }
    }

    fn links(&self) -> Links {
        self.sctp.as_ref().map(Node::links).unwrap_or_default()
    }
}

impl Offers<Node> for SipParts {
    fn wrap(command: Command) -> SipCommand {
        SipCommand::Sctp(command)
    }

    fn unwrap(event: SipEvent) -> Option<Event> {
        match event {
            SipEvent::Sctp(event) => Some(event),
            SipEvent::Sip(_) => None,
        }
    }
}
