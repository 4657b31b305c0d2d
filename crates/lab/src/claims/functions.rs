//! What checks may call.

use super::closed_forms;
use super::environment::{Environment, Evaluated, Item, wrong};

/// Calls a function.
pub(super) fn call(
    environment: &mut Environment<'_>,
    function: &str,
    arguments: &[Item],
    at: &[(String, Item)],
) -> Evaluated<Item> {
    match (function, arguments) {
        ("v", [metric]) => Ok(Item::Number(environment.result(metric.text()?, at)?.0)),
        ("ci", [metric]) => Ok(Item::Number(environment.result(metric.text()?, at)?.1)),
        ("xs", [metric, axis]) => environment.axis(metric.text()?, axis.text()?).map(Item::List),
        ("ys", [metric, axis]) => along(environment, metric.text()?, axis.text()?, at),
        ("mono" | "monod", [list]) => steps(environment, list, 0.0, function == "mono"),
        ("mono" | "monod", [list, tolerance]) => {
            steps(environment, list, tolerance.number()?, function == "mono")
        }
        _ if !at.is_empty() => wrong(format!("{function} takes no values by name")),
        ("cross", [x, a, b]) => Ok(crossing(&numbers(x)?, &numbers(a)?, &numbers(b)?)),
        ("slope", [x, y]) => Ok(Item::Number(line(&numbers(x)?, &numbers(y)?).0)),
        ("r2", [x, y]) => Ok(Item::Number(determination(&numbers(x)?, &numbers(y)?))),
        _ => plain(function, arguments),
    }
}

/// Functions of their arguments alone.
fn plain(function: &str, arguments: &[Item]) -> Evaluated<Item> {
    let number = |at: usize| {
        arguments.get(at).map_or_else(|| wrong(format!("{function} lacks a number")), Item::number)
    };
    match (function, arguments) {
        ("all", [list]) => Ok(Item::Truth(list.list()?.iter().all(Item::is_true))),
        ("any", [list]) => Ok(Item::Truth(list.list()?.iter().any(Item::is_true))),
        ("sum", [list]) => Ok(Item::Number(numbers(list)?.iter().sum())),
        ("len", [list]) => Ok(Item::Number(list.list()?.len() as f64)),
        ("abs", [_]) => Ok(Item::Number(number(0)?.abs())),
        ("round", [_]) => Ok(Item::Number(number(0)?.round_ties_even())),
        ("round", [_, _]) => {
            let scale = 10_f64.powi(number(1)? as i32);
            Ok(Item::Number((number(0)? * scale).round_ties_even() / scale))
        }
        ("min" | "max", [Item::List(items)]) => extreme(function, items),
        ("min" | "max", items) => extreme(function, items),
        ("range", [_]) => Ok(range(0.0, number(0)?)),
        ("range", [_, _]) => Ok(range(number(0)?, number(1)?)),
        ("zip", [first, second]) => {
            let pairs =
                first.list()?.iter().zip(second.list()?).map(|(a, b)| Item::List(vec![a.clone(), b.clone()]));
            Ok(Item::List(pairs.collect()))
        }
        ("two_ray", [_, _]) => Ok(Item::Number(closed_forms::two_ray(number(0)?, number(1)?))),
        ("primary_th", [_, _, _]) => {
            Ok(Item::Number(closed_forms::primary_threshold(number(0)?, number(1)?, number(2)?)))
        }
        ("t_fail", [_, _]) => Ok(Item::Number(closed_forms::failover_time(number(0)?, number(1)? as i64))),
        ("t_fail_closed", [_, _]) => {
            Ok(Item::Number(closed_forms::failover_time_closed(number(0)?, number(1)? as i64)))
        }
        ("bdp", [_, _]) => Ok(Item::Number(closed_forms::bandwidth_delay_product(number(0)?, number(1)?))),
        _ => wrong(format!("there is no function {function} of {} values", arguments.len())),
    }
}

fn numbers(list: &Item) -> Evaluated<Vec<f64>> {
    list.list()?.iter().map(Item::number).collect()
}

fn range(from: f64, to: f64) -> Item {
    Item::List((from as i64..to as i64).map(|whole| Item::Number(whole as f64)).collect())
}

fn extreme(function: &str, items: &[Item]) -> Evaluated<Item> {
    let numbers = items.iter().map(Item::number).collect::<Evaluated<Vec<_>>>()?;
    let pick = if function == "min" { f64::min } else { f64::max };
    numbers
        .into_iter()
        .reduce(pick)
        .map_or_else(|| wrong(format!("{function} of nothing")), |n| Ok(Item::Number(n)))
}

fn along(
    environment: &mut Environment<'_>,
    metric: &str,
    axis: &str,
    at: &[(String, Item)],
) -> Evaluated<Item> {
    let mut items = Vec::new();
    for value in environment.axis(metric, axis)? {
        let mut place = at.to_vec();
        place.push((axis.to_owned(), value));
        items.push(Item::Number(environment.result(metric, &place)?.0));
    }
    Ok(Item::List(items))
}

/// Whether each number is at least (at most) the one before it, less (plus) a part of it.
fn steps(environment: &mut Environment<'_>, list: &Item, tolerance: f64, rising: bool) -> Evaluated<Item> {
    for pair in numbers(list)?.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let holds = if !rising {
            after <= before * (1.0 + tolerance)
        } else if before >= 0.0 {
            after >= before * (1.0 - tolerance)
        } else {
            after >= before * (1.0 + tolerance)
        };
        let allowed = if rising { before * (1.0 - tolerance) } else { before * (1.0 + tolerance) };
        environment.note(after, if rising { ">=" } else { "<=" }, allowed, holds);
        if !holds {
            return Ok(Item::Truth(false));
        }
    }
    Ok(Item::Truth(true))
}

/// Where a − b first changes sign, between two points in a straight line.
fn crossing(x: &[f64], a: &[f64], b: &[f64]) -> Item {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    for at in 0..difference.len().saturating_sub(1).min(x.len().saturating_sub(1)) {
        let (here, next) = (difference[at], difference[at + 1]);
        if here * next < 0.0 {
            return Item::Number(x[at] + (x[at + 1] - x[at]) * here / (here - next));
        }
    }
    Item::Nothing
}

/// Slope and height at zero of the least-squares line.
fn line(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let above = x.iter().zip(y).map(|(a, b)| (a - mean_x) * (b - mean_y)).sum::<f64>();
    let slope = above / x.iter().map(|a| (a - mean_x).powi(2)).sum::<f64>();
    (slope, mean_y - slope * mean_x)
}

fn determination(x: &[f64], y: &[f64]) -> f64 {
    let (slope, height) = line(x, y);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let total = y.iter().map(|b| (b - mean).powi(2)).sum::<f64>();
    let left = x.iter().zip(y).map(|(a, b)| (b - (slope * a + height)).powi(2)).sum::<f64>();
    if total == 0.0 { 1.0 } else { 1.0 - left / total }
}
