//! The papers' claims, checked on results.
//!
//! A check is an expression in a subset of Python: numbers, words, lists, arithmetic, comparisons (chained ones, too),
//! `and`, `or`, `not`, calls, comprehensions. `functions` says what may be called. There is no way to change anything.

mod answer;
mod closed_forms;
mod draws;
mod environment;
mod evaluate;
mod functions;
mod judgement;
mod lexer;
mod list;
mod parser;
mod results;

pub use answer::Answer;
pub use draws::{Draws, Share};
pub(crate) use environment::digits;
pub use judgement::{Class, Judgement, Standing};
pub(crate) use list::constants;
pub use list::{Claim, Claims, Earlier, Verdict};
pub use results::{Results, Runs};

#[cfg(test)]
#[path = "../claims_tests.rs"]
mod tests;
