//! Letters that would do something to whoever shows them.

/// Whether a letter controls how others look and has no look of its own (Unicode Annexes 9 and 14).
pub(crate) fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
