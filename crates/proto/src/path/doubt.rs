//! What speaks against a path that nothing has shown to have failed.

use core::time::Duration;

use whimbrel_machine::Instant;

/// A path is not gone back to that has become so many times slower than another.
const MUCH_SLOWER: u32 = 3;

/// What speaks against a path while it counts as active.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    standing: Standing,
    /// When the path was suspected, and what almost no round trip had exceeded by then; until an answer comes that is no slower.
    usual: Option<(Instant, Duration)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Standing {
    /// Nothing does.
    #[default]
    Trusted,
    /// What was in flight is lost, and it is not known yet whether the path is, too: new data avoids it until a heartbeat is answered.
    /// Nobody is told before that has failed.
    Suspect,
    /// It has answered since, but so slowly that new data goes on avoiding it while another path works. A stall that is over looks the same, so
    /// that nobody is told before another answer says so.
    SlowOnce,
    /// More than one answer has said so.
    Slower,
}

impl Doubt {
    /// What was in flight is lost; hardly any round trip took longer than `usual`.
    pub(crate) fn suspect(&mut self, now: Instant, usual: Option<Duration>) {
        if self.standing == Standing::Trusted {
            self.usual = usual.map(|usual| (now, usual));
        }
        self.standing = Standing::Suspect;
    }

    /// The path has shown that it works, whether slowly or not. Returns whether it was suspect.
    pub(crate) fn clear(&mut self) -> bool {
        let suspect = self.is_suspect();
        if suspect {
            self.standing = Standing::Trusted;
        }
        suspect
    }

    /// It may be another path now, or is wanted as slow as it is.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// When the path was suspected of which the next answer has to be judged.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.usual.map(|(since, _)| since)
    }

    /// An answer `took` so long, and the `quickest` path of the others takes as long. One that takes longer than hardly any did before, and
    /// several times what another path takes, is no reason to go back.
    pub(crate) fn judge(&mut self, took: Duration, quickest: Option<Duration>) -> Verdict {
        let unusual = self.usual.is_some_and(|(_, usual)| took > usual);
        let slower = unusual && quickest.is_some_and(|other| took > other * MUCH_SLOWER);
        match (slower, self.standing) {
            (true, Standing::SlowOnce | Standing::Slower) => {
                self.standing = Standing::Slower;
                Verdict::StillSlow
            }
            (true, _) => {
                self.standing = Standing::SlowOnce;
                Verdict::Slow
            }
            (false, _) => {
                self.forget();
                Verdict::Good
            }
        }
    }

    /// Whether what was in flight is lost, and no answer has come since.
    pub(crate) fn is_suspect(&self) -> bool {
        self.standing == Standing::Suspect
    }

    /// Whether the path answers, but so slowly that another is better.
    pub(crate) fn is_slower(&self) -> bool {
        matches!(self.standing, Standing::SlowOnce | Standing::Slower)
    }

    /// Whether the next answer decides what the path is.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.standing, Standing::Suspect | Standing::SlowOnce)
    }

    /// Whether another path that works is better for new data.
    pub(crate) fn is_any(&self) -> bool {
        self.standing != Standing::Trusted
    }
}

/// What an answer says of a path that was suspected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It is as good as before, or no worse than others.
    Good,
    /// It is slower. A network may have kept back that one answer, and the next one tells.
    Slow,
    /// It is slower, and was so before.
    StillSlow,
}
