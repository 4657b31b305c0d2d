//! What a gateway can be told.

use std::net::IpAddr;

use tokio::sync::oneshot;
use whimbrel_ufa::SessionView;

use crate::numbers::GatewayNumbers;
use crate::settings::Settings;

/// What whoever runs the network wants.
#[derive(Debug)]
pub enum Order {
    /// A terminal is to go to one of these gateways, by their names: the one that has most for it. Any of all that there are, if none is named.
    Move {
        /// Its address here.
        terminal: IpAddr,
        /// Names of gateways.
        to: Vec<String>,
        /// Whose name it has gone to.
        answer: oneshot::Sender<Result<String, OrderError>>,
    },
    /// What sessions there are.
    Sessions(oneshot::Sender<Vec<SessionView>>),
    /// What it has done so far.
    Numbers(oneshot::Sender<GatewayNumbers>),
    /// The file has been read anew. Gateways and hosts are known by it from now on; what else has changed waits until the gateway is started anew.
    Reread(Box<Settings>),
    /// To end: nothing new begins, handovers that are under way have two seconds, and the ends of all sessions are told.
    End,
}

/// Why an order was not carried out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OrderError {
    /// The file names no such gateway.
    #[error("no gateway is called {0}")]
    NoSuchGateway(String),
    /// The same terminal is being moved.
    #[error("it is on its way already")]
    UnderWay,
    /// It stays where it is.
    #[error("it stays here: {0}")]
    Stays(String),
    /// Nobody knows where it is.
    #[error("it is lost on its way: {0}")]
    Astray(String),
}
