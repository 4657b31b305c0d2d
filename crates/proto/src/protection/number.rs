//! Record numbers: 64 bits, of which 16 are sent (RFC 9147 §4.2.2).

/// One more than the largest number of 16 bits.
pub(super) const TURN: u64 = 1 << 16;

/// The number with these `low` bits that is nearest to `expected`, the one after the highest that was authentic.
pub(super) fn nearest(expected: u64, low: u16) -> u64 {
    let same_turn = expected & !(TURN - 1) | u64::from(low);
    if same_turn + TURN / 2 < expected {
        same_turn + TURN
    } else if same_turn > expected + TURN / 2 {
        same_turn.checked_sub(TURN).unwrap_or(same_turn)
    } else {
        same_turn
    }
}

#[cfg(test)]
#[path = "number_tests.rs"]
mod tests;
