//! Tokens to expressions.

use super::lexer::Token;

/// Brackets inside brackets, at most: parsing is recursive, and checks are written by people.
const DEEPEST: u32 = 60;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expression {
    Number(f64),
    Text(String),
    Name(String),
    List(Vec<Expression>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `a < b <= c`
    Compare(Box<Expression>, Vec<(&'static str, Expression)>),
    Call {
        function: String,
        arguments: Vec<Expression>,
        named: Vec<(String, Expression)>,
    },
    /// `[element for names in list if condition …]`, as a list.
    Comprehension {
        element: Box<Expression>,
        loops: Vec<Loop>,
    },
}

/// `for names in list if conditions`
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Loop {
    pub(super) names: Vec<String>,
    pub(super) list: Expression,
    pub(super) conditions: Vec<Expression>,
}

type Parsed<T> = Result<T, String>;

/// Reads one expression.
pub(super) fn parse(tokens: &[Token]) -> Parsed<Expression> {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expression = parser.expression()?;
    if parser.at == tokens.len() {
        Ok(expression)
    } else {
        Err(format!("unexpected {:?}", tokens[parser.at]))
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn expression(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too deep".to_owned());
        }
        let expression = self.or();
        self.depth -= 1;
        expression
    }

    fn or(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.and()?];
        while self.takes_name("or") {
            parts.push(self.and()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Or(parts) })
    }

    fn and(&mut self) -> Parsed<Expression> {
        let mut parts = vec![self.not()?];
        while self.takes_name("and") {
            parts.push(self.not()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::And(parts) })
    }

    fn not(&mut self) -> Parsed<Expression> {
        if !self.takes_name("not") {
            return self.comparison();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too deep".to_owned());
        }
        let inner = self.not();
        self.depth -= 1;
        Ok(Expression::Not(Box::new(inner?)))
    }

    fn comparison(&mut self) -> Parsed<Expression> {
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Some(mark) = self.takes_one_of(&["<=", ">=", "==", "!=", "<", ">"]) {
            rest.push((mark, self.sum()?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
    }

    fn sum(&mut self) -> Parsed<Expression> {
        let mut left = self.product()?;
        while let Some(mark) = self.takes_one_of(&["+", "-"]) {
            left = Expression::Binary(mark, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Parsed<Expression> {
        let mut left = self.unary()?;
        while let Some(mark) = self.takes_one_of(&["//", "*", "/", "%"]) {
            left = Expression::Binary(mark, Box::new(left), Box::new(self.unary()?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        if self.takes_one_of(&["-"]).is_none() {
            return self.power();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("too deep".to_owned());
        }
        let inner = self.unary();
        self.depth -= 1;
        Ok(Expression::Negative(Box::new(inner?)))
    }

    /// Binds more tightly than a minus before it, less than one behind it, and to the right.
    fn power(&mut self) -> Parsed<Expression> {
        let base = self.atom()?;
        if self.takes_one_of(&["**"]).is_none() {
            return Ok(base);
        }
        Ok(Expression::Binary("**", Box::new(base), Box::new(self.unary()?)))
    }

    fn atom(&mut self) -> Parsed<Expression> {
        let token = self.tokens.get(self.at).ok_or("the end comes too early")?.clone();
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Expression::Number(number)),
            Token::Text(text) => Ok(Expression::Text(text)),
            Token::Name(name) if self.takes_one_of(&["("]).is_some() => self.call(name),
            Token::Name(name) => Ok(Expression::Name(name)),
            Token::Mark("(") => self.bracket(")"),
            Token::Mark("[") => self.bracket("]"),
            other => Err(format!("unexpected {other:?}")),
        }
    }

    /// What is in brackets that have been opened: a tuple, a list, a comprehension, or just an expression.
    fn bracket(&mut self, close: &'static str) -> Parsed<Expression> {
        if self.takes_one_of(&[close]).is_some() {
            return Ok(Expression::List(Vec::new()));
        }
        let first = self.expression()?;
        if self.next_is_name("for") {
            let comprehension = self.comprehension(first)?;
            self.expect(close)?;
            return Ok(comprehension);
        }
        let mut parts = vec![first];
        let mut tuple = close == "]";
        while self.takes_one_of(&[","]).is_some() {
            tuple = true;
            if self.next_is(close) {
                break;
            }
            parts.push(self.expression()?);
        }
        self.expect(close)?;
        Ok(if tuple { Expression::List(parts) } else { parts.remove(0) })
    }

    fn call(&mut self, function: String) -> Parsed<Expression> {
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        while !self.next_is(")") {
            let name = match (self.tokens.get(self.at), self.tokens.get(self.at + 1)) {
                (Some(Token::Name(name)), Some(Token::Mark("="))) => Some(name.clone()),
                (Some(Token::Mark("**")), _) => Some("**".to_owned()),
                _ => None,
            };
            match name {
                Some(name) if name == "**" => return Err("** is not understood here".to_owned()),
                Some(name) => {
                    self.at += 2;
                    named.push((name, self.expression()?));
                }
                None => {
                    let argument = self.expression()?;
                    let comprehension = self.next_is_name("for");
                    arguments.push(if comprehension { self.comprehension(argument)? } else { argument });
                }
            }
            if self.takes_one_of(&[","]).is_none() {
                break;
            }
        }
        self.expect(")")?;
        Ok(Expression::Call { function, arguments, named })
    }

    fn comprehension(&mut self, element: Expression) -> Parsed<Expression> {
        let mut loops = Vec::new();
        while self.takes_name("for") {
            let bracket = self.takes_one_of(&["("]).is_some();
            let mut names = vec![self.name()?];
            while self.takes_one_of(&[","]).is_some() {
                names.push(self.name()?);
            }
            if bracket {
                self.expect(")")?;
            }
            if !self.takes_name("in") {
                return Err("a loop lacks its list".to_owned());
            }
            let list = self.or()?;
            let mut conditions = Vec::new();
            while self.takes_name("if") {
                conditions.push(self.or()?);
            }
            loops.push(Loop { names, list, conditions });
        }
        Ok(Expression::Comprehension { element: Box::new(element), loops })
    }

    fn name(&mut self) -> Parsed<String> {
        match self.tokens.get(self.at) {
            Some(Token::Name(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            other => Err(format!("a name was expected, not {other:?}")),
        }
    }

    fn next_is(&self, mark: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Mark(next)) if *next == mark)
    }

    fn next_is_name(&self, name: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Name(next)) if next == name)
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let is = self.next_is_name(name);
        self.at += usize::from(is);
        is
    }

    fn takes_one_of(&mut self, marks: &[&'static str]) -> Option<&'static str> {
        let found = marks.iter().copied().find(|mark| self.next_is(mark))?;
        self.at += 1;
        Some(found)
    }

    fn expect(&mut self, mark: &'static str) -> Parsed<()> {
        let found = self.tokens.get(self.at);
        self.takes_one_of(&[mark]).map(|_| ()).ok_or_else(|| format!("{mark} was expected, not {found:?}"))
    }
}
