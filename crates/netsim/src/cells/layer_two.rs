use whimbrel_machine::Instant;

use super::{Cell, CellEvent, LayerTwo};

/// The link with one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Link {
    /// Not heard.
    Idle,
    /// Heard, but left for another: a host that turns back inside an overlap returns only when it must.
    Left,
    /// The layer-2 handover is under way until then.
    Attaching(Instant),
    /// Attached, and the address is there by then.
    Attached(Instant),
    Addressed,
}

type Events = Vec<(Instant, usize, CellEvent)>;

impl LayerTwo {
    /// Takes in which cells are heard at `now`. Steps that take a known time are told with the time at which they end,
    /// which lies between two samples.
    pub(super) fn advance(
        self,
        now: Instant,
        cells: &[Cell],
        heard: &[bool],
        links: &mut [Link],
        events: &mut Events,
    ) {
        for cell in 0..links.len() {
            if links[cell] != Link::Idle && !heard[cell] {
                lose(now, cell, links, events);
            }
        }
        match self {
            Self::Soft => {
                for cell in 0..links.len() {
                    if links[cell] == Link::Idle && heard[cell] {
                        links[cell] = Link::Attaching(now + cells[cell].acquisition.layer_two);
                    }
                }
            }
            Self::Hard => start_hard(now, cells, heard, links),
        }
        for cell in 0..links.len() {
            if let Link::Attaching(done) = links[cell]
                && done <= now
            {
                if self == Self::Hard {
                    leave_others(done, cell, links, events);
                }
                links[cell] = Link::Attached(done + cells[cell].acquisition.address);
                events.push((done, cell, CellEvent::Attached));
            }
            if let Link::Attached(done) = links[cell]
                && done <= now
            {
                links[cell] = Link::Addressed;
                events.push((done, cell, CellEvent::Addressed));
            }
        }
    }
}

fn lose(now: Instant, cell: usize, links: &mut [Link], events: &mut Events) {
    let was = core::mem::replace(&mut links[cell], Link::Idle);
    if matches!(was, Link::Attached(_) | Link::Addressed) {
        events.push((now, cell, CellEvent::Lost));
    }
}

/// One handover at a time.
fn start_hard(now: Instant, cells: &[Cell], heard: &[bool], links: &mut [Link]) {
    if links.iter().any(|link| matches!(link, Link::Attaching(_))) {
        return;
    }
    let attached = links.iter().any(|link| matches!(link, Link::Attached(_) | Link::Addressed));
    let find = |wanted: Link| (0..links.len()).find(|&cell| links[cell] == wanted && heard[cell]);
    if let Some(cell) = find(Link::Idle).or_else(|| find(Link::Left).filter(|_| !attached)) {
        links[cell] = Link::Attaching(now + cells[cell].acquisition.layer_two);
    }
}

fn leave_others(now: Instant, joined: usize, links: &mut [Link], events: &mut Events) {
    for cell in 0..links.len() {
        if cell != joined && links[cell] != Link::Idle {
            lose(now, cell, links, events);
            links[cell] = Link::Left;
        }
    }
}
