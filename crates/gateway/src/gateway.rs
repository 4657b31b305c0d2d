//! One gateway: SIP in and out, packets that wait, orders of whoever runs the network.

mod farewell;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use whimbrel::Route;
use whimbrel::secure::Identity;
use whimbrel_ufa::sip::{HardwareAddress, SIP_PORT};
use whimbrel_ufa::{Command, Event, Gateway as Machine};

use crate::acquaintances::Acquaintances;
use crate::authority::{Verdict, judge};
use crate::connections::{Arrival, Connections};
use crate::driver::{Driver, Said, seed};
use crate::hold::{Hold, PACKET_MAX};
use crate::kernel::{Kernel, Link};
use crate::news::GatewayNews;
use crate::numbers::GatewayNumbers;
use crate::order::{Order, OrderError};
use crate::plain::{Heard, PlainSip};
use crate::settings::Settings;
use crate::witness::Witness;

/// How often it is looked who is in the gateway's own network.
const LOOK: Duration = Duration::from_secs(1);

/// Why a gateway cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// There is no such interface.
    #[error("access.interface: there is no interface {0}")]
    NoInterface(String),
    /// Another program has the port, or the address is not on this host.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Address and port, of TCP or, for SIP in clear, of either.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// What the kernel does not let it do.
    #[error("{what}: {error}")]
    Kernel {
        /// What was to be done.
        what: &'static str,
        /// What the system says.
        error: io::Error,
    },
}

fn kernel(what: &'static str) -> impl Fn(io::Error) -> GatewayError {
    move |error| GatewayError::Kernel { what, error }
}

/// It cannot go on.
struct Over;

struct UnderWay {
    since: Instant,
    answer: oneshot::Sender<Result<String, OrderError>>,
}

/// A gateway that runs.
pub struct Gateway {
    driver: Driver<Machine>,
    connections: Connections,
    arrivals: mpsc::Receiver<Arrival>,
    kernel: Kernel,
    plain: Option<PlainSip>,
    hold: Hold,
    access: Link,
    pool: BTreeSet<IpAddr>,
    settings: Settings,
    known: Acquaintances,
    numbers: GatewayNumbers,
    under_way: BTreeMap<IpAddr, UnderWay>,
    expected: BTreeMap<IpAddr, Instant>,
    news: mpsc::UnboundedSender<GatewayNews>,
}

impl Gateway {
    /// Makes ready what the settings say, and listens.
    ///
    /// # Errors
    /// [`GatewayError`]; without the rights to change routes, for instance.
    pub async fn open(
        settings: &Settings,
        identity: &Identity,
        news: mpsc::UnboundedSender<GatewayNews>,
    ) -> Result<Self, GatewayError> {
        let interface = &settings.access.interface;
        let mac = hardware_address(interface).ok_or_else(|| GatewayError::NoInterface(interface.clone()))?;
        let config = settings.machine(mac, identity.public_key());
        let netlink = Kernel::connect().map_err(kernel("cannot talk to the kernel"))?;
        let access =
            netlink.link(interface).await.map_err(|_| GatewayError::NoInterface(interface.clone()))?;
        let known = Acquaintances::new(settings, news.clone());
        let (mut connections, arrivals) =
            Connections::new(identity, known.trusted(), Box::new(known.clone()))
                .map_err(|error| GatewayError::Listen { address: config.address, error })?;
        connections
            .listen(config.address, identity, known.trusted())
            .await
            .map_err(|error| GatewayError::Listen { address: config.address, error })?;
        let plain = listen_plain(settings, &known).await?;
        let hold = Hold::open(&netlink, config.address.is_ipv6()).await.map_err(kernel(
            "cannot make a device for packets that wait (needs root or CAP_NET_ADMIN, and /dev/net/tun)",
        ))?;
        let (address, pool) = (config.address, config.access.addresses.iter().copied().collect());
        let seed = seed().map_err(kernel("no randomness"))?;
        let driver = Driver::new(Machine::new(config, &seed));
        let gateway = Self {
            driver,
            connections,
            arrivals,
            plain,
            kernel: netlink,
            hold,
            access,
            pool,
            settings: settings.clone(),
            known,
            numbers: GatewayNumbers::default(),
            under_way: BTreeMap::new(),
            expected: BTreeMap::new(),
            news,
        };
        gateway.tell(GatewayNews::Listening { address });
        if gateway.plain.is_some() {
            gateway.tell(GatewayNews::ListeningInClear { address: (address.ip(), SIP_PORT).into() });
        }
        if !forwards(address.is_ipv6()) {
            let name = if address.is_ipv6() { "net.ipv6.conf.all.forwarding" } else { "net.ipv4.ip_forward" };
            gateway.tell(GatewayNews::Trouble {
                text: format!(
                    "this host forwards no packets, so that terminals reach nobody: sysctl {name}=1"
                ),
            });
        }
        Ok(gateway)
    }

    /// Has `witness` read every message of SIP from now on. What is refused at the door, for want of a password, say, it does not see.
    pub fn witness(&mut self, witness: Box<dyn Witness>) {
        self.driver.witness = Some(witness);
    }

    /// Runs until it is told to end, or nobody can tell it anything any more.
    pub async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut buffer = vec![0; PACKET_MAX];
        loop {
            let said = tokio::select! {
                said = self.next(&mut buffer) => match said {
                    Ok(Some(said)) => said,
                    Ok(None) => continue,
                    Err(Over) => break,
                },
                order = orders.recv() => match order {
                    Some(Order::End) | None => {
                        self.take_leave().await;
                        break;
                    }
                    Some(order) => self.obey(order),
                },
                _ = look.tick() => {
                    self.look_around().await;
                    continue;
                }
            };
            self.carry_out(said).await;
        }
        self.hold.close().await;
    }

    /// What the machine says to what happens next: a message, a packet, or that it is time. Nothing is lost if somebody ceases to wait for it.
    async fn next(&mut self, buffer: &mut [u8]) -> Result<Option<Said>, Over> {
        let said = tokio::select! {
            arrival = self.arrivals.recv() => self.take(&arrival.ok_or(Over)?),
            heard = heard_in_clear(self.plain.as_mut(), &self.driver.machine) => match heard {
                Heard::Message(route, message) => self.driver.datagram(route, &message),
                Heard::Trouble(text) => {
                    self.tell(GatewayNews::Trouble { text });
                    return Ok(None);
                }
                Heard::Nothing => return Ok(None),
            },
            packet = self.hold.next(buffer) => match packet {
                Ok((length, Some((to, from)))) if self.pool.contains(&to) => {
                    let route = Route { local: SocketAddr::new(to, 0), remote: SocketAddr::new(from, 0) };
                    self.driver.datagram(route, &buffer[..length])
                }
                // What the kernel says to all that are there.
                Ok(_) => return Ok(None),
                Err(error) => {
                    self.tell(GatewayNews::Trouble { text: format!("packets cannot wait any more: {error}") });
                    return Err(Over);
                }
            },
            () = self.driver.due() => self.driver.time(),
        };
        Ok(Some(said))
    }

    fn tell(&self, news: GatewayNews) {
        // Whoever does not listen need not be told.
        let _ = self.news.send(news);
    }

    /// A SIP message, of somebody who may say it.
    fn take(&mut self, arrival: &Arrival) -> Said {
        match judge(&self.known, arrival) {
            Verdict::Heard => self.driver.datagram(arrival.route, &arrival.message),
            Verdict::Dropped => Said::default(),
            Verdict::Refused(text) => {
                self.tell(GatewayNews::Trouble { text });
                Said::default()
            }
        }
    }

    fn obey(&mut self, order: Order) -> Said {
        match order {
            Order::Move { terminal, to, answer } => return self.send_away(terminal, &to, answer),
            // Whoever has asked may have gone.
            Order::Sessions(answer) => drop(answer.send(self.driver.machine.sessions().collect())),
            Order::Numbers(answer) => drop(answer.send(self.numbers.of(&self.driver.machine))),
            Order::Reread(settings) => self.learn(&settings),
            Order::End => {}
        }
        Said::default()
    }

    fn send_away(
        &mut self,
        terminal: IpAddr,
        to: &[String],
        answer: oneshot::Sender<Result<String, OrderError>>,
    ) -> Said {
        let refusal = match self.known.candidates(to) {
            Err(error) => error,
            Ok(_) if self.under_way.contains_key(&terminal) => OrderError::UnderWay,
            Ok(candidates) => {
                self.under_way.insert(terminal, UnderWay { since: Instant::now(), answer });
                return self.driver.command(Command::HandOver { terminal, candidates });
            }
        };
        let _ = answer.send(Err(refusal));
        Said::default()
    }

    /// Others are known from now on. Who is not has no connection any more.
    fn learn(&mut self, settings: &Settings) {
        self.known.learn(settings);
        self.connections.review();
        self.tell(GatewayNews::Reread {
            gateways: settings.gateways.len(),
            hosts: settings.hosts.len(),
            users: settings.plain_sip.as_ref().map_or(0, |plain| plain.users.len()),
            not_yet: settings.differs(&self.settings),
        });
    }

    /// Addresses of our network that somebody has without having been given them are given to nobody.
    async fn look_around(&mut self) {
        for address in self.kernel.neighbours(self.access).await.unwrap_or_default() {
            if self.pool.contains(&address) {
                let said = self.driver.command(Command::Heard(address));
                self.carry_out(said).await;
            }
        }
    }

    /// What the machine has said, in the order in which it must happen: what has waited goes out before anything that comes later, and an address is
    /// held before anybody is told of it.
    async fn carry_out(&mut self, mut said: Said) {
        for packet in &said.packets {
            // The kernel drops what has no place any more, as any router does.
            let _ = self.hold.send(packet).await;
        }
        let expected: BTreeSet<IpAddr> = self.driver.machine.expected().collect();
        if let Err(error) = self.hold.set(&expected).await {
            self.tell(GatewayNews::Trouble {
                text: format!("the kernel does not let packets wait: {error}"),
            });
        }
        self.send(&mut said);
        for address in &expected {
            if !self.expected.contains_key(address) {
                self.expected.insert(*address, Instant::now());
                self.tell(GatewayNews::Expected { terminal: *address });
            }
        }
        let waited = said.packets.len();
        for event in said.events {
            self.happened(event, waited);
        }
        self.expected.retain(|address, _| expected.contains(address));
    }

    /// Each message in the way that its sender has of speaking SIP.
    fn send(&self, said: &mut Said) {
        if let Some(plain) = &self.plain {
            for (route, message) in said.sip.extract_if(.., |(route, _)| PlainSip::carries(*route)) {
                plain.send(route, &message);
            }
        }
        said.send(&self.connections);
    }

    fn happened(&mut self, event: Event, waited: usize) {
        let news = match event {
            Event::Established(application) => GatewayNews::SessionUp(application.into()),
            Event::Refused(application, failure) => {
                GatewayNews::SessionRefused { session: application.into(), reason: failure.to_string() }
            }
            Event::Ended(application) => GatewayNews::SessionEnded(application.into()),
            Event::HandedOver { terminal, target } => {
                let to = self.known.name(target);
                let after = self.answer(terminal, Ok(to.clone()));
                GatewayNews::HandedOver { terminal, to, after }
            }
            Event::Stays { terminal, failure } => {
                self.answer(terminal, Err(OrderError::Stays(failure.to_string())));
                GatewayNews::Stays { terminal, reason: failure.to_string() }
            }
            Event::Astray { terminal, failure } => {
                self.answer(terminal, Err(OrderError::Astray(failure.to_string())));
                GatewayNews::Astray { terminal, reason: failure.to_string() }
            }
            Event::Arrived(terminal) => {
                let after = self.expected.get(&terminal).map_or(Duration::ZERO, Instant::elapsed);
                GatewayNews::Arrived {
                    terminal,
                    after,
                    waited: waited + self.driver.machine.waiting(terminal),
                }
            }
            Event::Lost(terminal, _) => GatewayNews::NotCome { terminal },
            // Those of terminals and correspondents.
            Event::Transport(_) | Event::Move(..) | Event::GatewaySilent | Event::GatewayBack => return,
        };
        self.numbers.count(&news);
        self.tell(news);
    }

    /// Answers an order; returns how long it took.
    fn answer(&mut self, terminal: IpAddr, outcome: Result<String, OrderError>) -> Duration {
        let Some(order) = self.under_way.remove(&terminal) else { return Duration::ZERO };
        // Whoever has ordered it may have gone.
        let _ = order.answer.send(outcome);
        order.since.elapsed()
    }
}

/// SIP in clear, if the file wants it.
async fn listen_plain(settings: &Settings, known: &Acquaintances) -> Result<Option<PlainSip>, GatewayError> {
    let Some(plain) = &settings.plain_sip else { return Ok(None) };
    let address = SocketAddr::new(settings.address, SIP_PORT);
    let socket = PlainSip::bind(address, plain.digests.clone(), known.passwords()).await;
    socket.map(Some).map_err(|error| GatewayError::Listen { address, error })
}

/// What somebody says in clear; never, if nobody may.
async fn heard_in_clear(plain: Option<&mut PlainSip>, machine: &Machine) -> Heard {
    match plain {
        Some(plain) => plain.next(|request, route, to| machine.is_of_correspondent(request, route, to)).await,
        None => std::future::pending().await,
    }
}

/// The address of an interface on layer 2; zero where it has none.
fn hardware_address(interface: &str) -> Option<HardwareAddress> {
    // Such names would lead elsewhere.
    let plain = !interface.contains('/') && !["", ".", ".."].contains(&interface);
    let text =
        plain.then(|| std::fs::read_to_string(format!("/sys/class/net/{interface}/address")).ok())??;
    Some(text.trim().parse().unwrap_or(HardwareAddress([0; 6])))
}

fn forwards(v6: bool) -> bool {
    let file = if v6 { "/proc/sys/net/ipv6/conf/all/forwarding" } else { "/proc/sys/net/ipv4/ip_forward" };
    std::fs::read_to_string(file).is_ok_and(|text| text.trim() != "0")
}
