//! Records on the wire: number and the pace in the head, a pattern in the rest.

use std::time::Duration;

use anyhow::{bail, ensure};

use crate::Direction;
use crate::pace::Pace;

/// Bytes of a record's head.
pub(crate) const HEAD: usize = 24;

/// Number of the last record, which only says that there are no more.
pub(crate) const END: u64 = u64::MAX;

/// Number of the first record, which only tells the server which way the records go.
pub(crate) const fn order(direction: Direction) -> u64 {
    match direction {
        Direction::Up => END - 1,
        Direction::Down => END - 2,
        Direction::Both => END - 3,
    }
}

/// What the first record's number says.
pub(crate) fn direction(order: u64) -> anyhow::Result<Direction> {
    match END - order {
        1 => Ok(Direction::Up),
        2 => Ok(Direction::Down),
        3 => Ok(Direction::Both),
        _ => bail!("record {order} instead of an order"),
    }
}

/// A record.
pub(crate) fn encode(number: u64, pace: Pace) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pace.size as usize);
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&pace.size.to_be_bytes());
    bytes.extend_from_slice(&pace.rate.to_be_bytes());
    bytes.extend_from_slice(&(pace.duration.as_micros() as u64).to_be_bytes());
    bytes.extend((HEAD as u64..u64::from(pace.size)).map(|at| (at ^ number) as u8));
    bytes
}

/// Number and pace, once content and size are seen to be right.
pub(crate) fn decode(bytes: &[u8]) -> anyhow::Result<(u64, Pace)> {
    ensure!(bytes.len() >= HEAD, "a record of {} bytes", bytes.len());
    let number = |range: std::ops::Range<usize>| {
        bytes[range].iter().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let pace = Pace {
        size: number(8..12) as u32,
        rate: number(12..16) as u32,
        duration: Duration::from_micros(number(16..24)),
    };
    let which = number(0..8);
    ensure!(bytes == encode(which, pace), "record {which} is damaged");
    Ok((which, pace))
}

/// Size of the record that begins with `head`.
pub(crate) fn size(head: &[u8; HEAD]) -> usize {
    u32::from_be_bytes([head[8], head[9], head[10], head[11]]) as usize
}
