//! What sort of world a seed makes: whether its hosts move, and who attacks them.

use whimbrel_machine::Seed;

use crate::draw::Draw;

/// Which worlds to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Worlds {
    /// All sorts, as the seed decides.
    #[default]
    Mixed,
    /// Hosts keep their addresses, and nobody means them harm.
    Standing,
    /// Addresses come and go.
    Moving,
    /// Somebody in the network attacks; hosts stand or move.
    Attacked,
    /// One host moves, from behind one NAT to behind another.
    BehindNat,
    /// Users' profiles, and everything that networks do to them. Not among the mixed ones: seeds that once failed there would mean
    /// other worlds.
    Rough,
    /// Any sort, and hosts have any congestion controller, and perhaps buffers that follow the path. Not among the mixed ones, either.
    Controllers,
    /// Any sort, and hosts send on several paths at once, in whatever way, with any congestion controller. Not among the mixed ones, either.
    Multipath,
    /// Any sort, and packets are encrypted. Nobody crashes or comes back with the ports of before, as whoever has lost its keys is a stranger. Not among the
    /// mixed ones, either.
    Protected,
}

/// The sort of one world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) movement: Movement,
    pub(crate) attack: Attack,
    pub(crate) access: Access,
    pub(crate) control: Control,
    pub(crate) paths: Paths,
    pub(crate) packets: Packets,
}

/// Which congestion controllers hosts have, and which part of their buffers they use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// Those of their profile.
    Usual,
    /// Any.
    Any,
}

/// How many paths carry new data at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paths {
    /// One.
    One,
    /// All that work, for most hosts.
    Several,
}

/// What packets are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packets {
    /// In clear, with chunks authenticated or not.
    Clear,
    /// Encrypted and authenticated.
    Protected,
}

/// How the first host's interfaces are connected; the second one's are always reached directly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// By addresses that everybody knows.
    Direct,
    /// Each through a NAT box of its own. Then that host alone moves: nobody could find it otherwise.
    BehindNat,
}

/// How hosts move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Movement {
    /// Not at all.
    None,
    /// So that each host can always be found by the other: no association may be lost.
    Gentle,
    /// Anyhow, under any configuration. Hosts may lose each other for good, and must find that out.
    Wild,
    /// While networks fail in every way. No association may be lost, though each host may be without any network for long.
    Rough,
}

/// Who attacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attack {
    /// Nobody.
    None,
    /// Somebody who knows addresses and ports and sees nothing.
    OffPath,
    /// Somebody who sees every packet, and can change it.
    OnPath(Guard),
}

/// What protects an association from somebody on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    /// A shared key, and every chunk type that can be authenticated must be.
    Everything,
    /// A shared key, and whatever chunk types the hosts happen to demand.
    Addresses,
    /// Nothing: only the hosts themselves can be expected to survive.
    Nothing,
}

impl Kind {
    pub(crate) fn draw(seed: u64, worlds: Worlds) -> Self {
        let mut draw = Draw(Seed::from_u64(seed).stream("world", 0));
        let (control, paths) = match worlds {
            Worlds::Controllers => (Control::Any, Paths::One),
            Worlds::Multipath => (Control::Any, Paths::Several),
            _ => (Control::Usual, Paths::One),
        };
        let packets = if worlds == Worlds::Protected { Packets::Protected } else { Packets::Clear };
        let worlds = match worlds {
            Worlds::Controllers | Worlds::Multipath | Worlds::Protected => draw.one_of(&[
                Worlds::Standing,
                Worlds::Moving,
                Worlds::Attacked,
                Worlds::BehindNat,
                Worlds::Rough,
            ]),
            Worlds::Mixed => {
                let sort =
                    draw.one_of(&[Worlds::Standing, Worlds::Standing, Worlds::Moving, Worlds::Attacked]);
                // Drawn apart, so that the other worlds are what they were.
                let mut apart = Draw(Seed::from_u64(seed).stream("access", 0));
                if sort == Worlds::Moving && apart.chance(0.3) { Worlds::BehindNat } else { sort }
            }
            chosen => chosen,
        };
        let access = if worlds == Worlds::BehindNat { Access::BehindNat } else { Access::Direct };
        let moves = worlds == Worlds::Moving || worlds == Worlds::Attacked && draw.chance(0.4);
        let movement = match moves {
            false if worlds == Worlds::Rough => Movement::Rough,
            false if access == Access::BehindNat => Movement::Gentle,
            false => Movement::None,
            true if draw.chance(0.7) => Movement::Gentle,
            true => Movement::Wild,
        };
        let attack = match worlds {
            Worlds::Attacked if draw.chance(0.5) => Attack::OffPath,
            Worlds::Attacked => {
                let guards = [Guard::Everything, Guard::Everything, Guard::Addresses, Guard::Nothing];
                let guard = draw.one_of(&guards);
                Attack::OnPath(if packets == Packets::Protected { Guard::Everything } else { guard })
            }
            _ => Attack::None,
        };
        Self { movement, attack, access, control, paths, packets }
    }

    /// Whether somebody is in a position to change what is said.
    pub(crate) fn on_path(self) -> Option<Guard> {
        match self.attack {
            Attack::OnPath(guard) => Some(guard),
            Attack::None | Attack::OffPath => None,
        }
    }
}
