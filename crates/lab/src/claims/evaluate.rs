//! Expressions to items.

use super::environment::{Environment, Evaluated, Item, wrong};
use super::functions;
use super::parser::{Expression, Loop};

impl Environment<'_> {
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Evaluated<Item> {
        match expression {
            Expression::Number(number) => Ok(Item::Number(*number)),
            Expression::Text(text) => Ok(Item::Text(text.clone())),
            Expression::Name(name) => self.name(name),
            Expression::List(parts) => {
                parts.iter().map(|part| self.evaluate(part)).collect::<Evaluated<_>>().map(Item::List)
            }
            Expression::Not(inner) => Ok(Item::Truth(!self.evaluate(inner)?.is_true())),
            Expression::Negative(inner) => Ok(Item::Number(-self.evaluate(inner)?.number()?)),
            Expression::And(parts) => self.first(parts, false),
            Expression::Or(parts) => self.first(parts, true),
            Expression::Binary(mark, left, right) => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                match (*mark, left, right) {
                    ("+", Item::List(left), Item::List(right)) => Ok(Item::List([left, right].concat())),
                    (mark, left, right) => {
                        arithmetic(mark, left.number()?, right.number()?).map(Item::Number)
                    }
                }
            }
            Expression::Compare(first, rest) => self.compare(first, rest),
            Expression::Call { function, arguments, named } => self.call(function, arguments, named),
            Expression::Comprehension { element, loops } => {
                let mut items = Vec::new();
                self.each(element, loops, &mut |item| {
                    items.push(item);
                    true
                })?;
                Ok(Item::List(items))
            }
        }
    }

    /// The first part whose truth is `wanted`, or else the last one: `or` and `and`.
    fn first(&mut self, parts: &[Expression], wanted: bool) -> Evaluated<Item> {
        let mut last = Item::Nothing;
        for part in parts {
            last = self.evaluate(part)?;
            if last.is_true() == wanted {
                break;
            }
        }
        Ok(last)
    }

    fn compare(&mut self, first: &Expression, rest: &[(&'static str, Expression)]) -> Evaluated<Item> {
        let mut left = self.evaluate(first)?;
        for (mark, right) in rest {
            let right = self.evaluate(right)?;
            let holds = match (*mark, &left, &right) {
                ("==", Item::Text(_) | Item::List(_) | Item::Nothing, _) => left == right,
                ("!=", Item::Text(_) | Item::List(_) | Item::Nothing, _) => left != right,
                _ => {
                    let (a, b) = (left.number()?, right.number()?);
                    let holds = compares(mark, a, b);
                    // A condition on what a loop runs over decides nothing about the claim.
                    if matches!(left, Item::Number(_)) {
                        self.note(a, mark, b, holds);
                    }
                    holds
                }
            };
            if !holds {
                return Ok(Item::Truth(false));
            }
            left = right;
        }
        Ok(Item::Truth(true))
    }

    fn call(
        &mut self,
        function: &str,
        arguments: &[Expression],
        named: &[(String, Expression)],
    ) -> Evaluated<Item> {
        // These two stop as soon as they know.
        if let ("all" | "any", [Expression::Comprehension { element, loops }]) = (function, arguments) {
            let stops = function == "any";
            let mut stopped = false;
            self.each(element, loops, &mut |item| {
                stopped = item.is_true() == stops;
                !stopped
            })?;
            return Ok(Item::Truth(stopped == stops));
        }
        let arguments = arguments.iter().map(|part| self.evaluate(part)).collect::<Evaluated<Vec<_>>>()?;
        let mut at = Vec::new();
        for (name, expression) in named {
            at.push((name.clone(), self.evaluate(expression)?));
        }
        functions::call(self, function, &arguments, &at)
    }

    /// Evaluates `element` for every turn of the loops, until `take` is answered with false. Returns whether it went through.
    fn each(
        &mut self,
        element: &Expression,
        loops: &[Loop],
        take: &mut dyn FnMut(Item) -> bool,
    ) -> Evaluated<bool> {
        let Some((this, inner)) = loops.split_first() else { return Ok(take(self.evaluate(element)?)) };
        let list = self.evaluate(&this.list)?;
        for item in list.list()? {
            let depth = self.bound.len();
            self.bind(&this.names, item)?;
            let goes_on = self.turn(element, this, inner, take);
            self.bound.truncate(depth);
            if !goes_on? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn turn(
        &mut self,
        element: &Expression,
        this: &Loop,
        inner: &[Loop],
        take: &mut dyn FnMut(Item) -> bool,
    ) -> Evaluated<bool> {
        for condition in &this.conditions {
            let decisive = self.decisive.clone();
            let holds = self.evaluate(condition)?.is_true();
            self.decisive = decisive;
            if !holds {
                return Ok(true);
            }
        }
        self.each(element, inner, take)
    }

    fn bind(&mut self, names: &[String], item: &Item) -> Evaluated<()> {
        if let [name] = names {
            self.bound.push((name.clone(), item.clone()));
            return Ok(());
        }
        let parts = item.list()?;
        if parts.len() != names.len() {
            return wrong(format!("{} names for {} values", names.len(), parts.len()));
        }
        self.bound.extend(names.iter().cloned().zip(parts.iter().cloned()));
        Ok(())
    }
}

fn arithmetic(mark: &str, left: f64, right: f64) -> Evaluated<f64> {
    match mark {
        "+" => Ok(left + right),
        "-" => Ok(left - right),
        "*" => Ok(left * right),
        "**" => Ok(left.powf(right)),
        "/" | "//" | "%" if right == 0.0 => wrong("division by zero"),
        "/" => Ok(left / right),
        "//" => Ok((left / right).floor()),
        "%" => Ok(left - right * (left / right).floor()),
        _ => wrong(format!("{mark} is unknown")),
    }
}

fn compares(mark: &str, left: f64, right: f64) -> bool {
    match mark {
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        ">=" => left >= right,
        "==" => left == right,
        _ => left != right,
    }
}
