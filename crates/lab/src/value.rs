//! Values of axes.

use core::fmt;
use std::cmp::Ordering;

/// A value on an axis of an experiment: the number or the word that the paper's sweep has there.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A whole number, such as Path.Max.Retrans.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A word, such as the name of a traffic source.
    Word(String),
}

impl Value {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Word(_) => None,
        }
    }

    /// The word, if it is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Whether both mean the same: 2 is 2.0.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (None, None) => self == other,
            _ => false,
        }
    }

    /// As JSON, with a point in what is not a whole number by type: `2`, `2.0`, `"wlan"`.
    pub fn json(&self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            Self::Number(value) => format!("{value:?}"),
            Self::Word(word) => serde_json::Value::from(word.as_str()).to_string(),
        }
    }

    /// The value that `text` names, be it a number or a word.
    pub fn parse(text: &str) -> Self {
        if let Ok(value) = text.parse() {
            return Self::Integer(value);
        }
        text.parse().map_or_else(|_| Self::Word(text.to_owned()), Self::Number)
    }

    /// Numbers by size, before words by letters.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.word().cmp(&other.word()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}
