use core::time::Duration;
use std::io::Write as _;

use super::*;

fn parse_change(line: &str) -> anyhow::Result<(Direction, Change)> {
    match parse(line)? {
        (direction, Order::Change(change)) => Ok((direction, change)),
        (_, other) => bail!("{other:?}"),
    }
}

#[test]
fn a_pattern_is_read_from_its_file() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"packet 3 drop\n").unwrap();
    let line = format!("back pattern {}", file.path().display());
    let expected = Arc::new(Pattern::parse("packet 3 drop").unwrap());
    assert_eq!(parse(&line).unwrap(), (Direction::Downlink, Order::Follow(expected)));
    file.write_all(b"packet x drop\n").unwrap();
    let error = format!("{:#}", parse(&line).unwrap_err());
    assert!(error.ends_with("line 2: 'x' is no position"), "{error}");
    assert!(parse("pattern /nowhere").is_err());
}

#[test]
fn commands_say_what_changes_where() {
    let parse = parse_change;
    let ms = Duration::from_millis;
    assert_eq!(parse("cut").unwrap(), (Direction::Both, Change::Down(InFlight::Lost)));
    assert_eq!(parse(" back mend ").unwrap(), (Direction::Downlink, Change::Up));
    assert_eq!(parse("forth rate 2.5mbit").unwrap(), (Direction::Uplink, Change::Rate(Some(2_500_000))));
    assert_eq!(parse("rate none").unwrap(), (Direction::Both, Change::Rate(None)));
    assert_eq!(parse("delay 30ms").unwrap(), (Direction::Both, Change::Delay(ms(30))));
    assert_eq!(parse("loss 2%").unwrap(), (Direction::Both, Change::Loss(Loss::Bernoulli(0.02))));
    assert_eq!(parse("back mtu 1280").unwrap(), (Direction::Downlink, Change::Mtu(1280)));
    assert_eq!(parse("queue 7").unwrap(), (Direction::Both, Change::Queue(QueueLimit::packets(7))));
    assert_eq!(
        parse("queue 225000bytes").unwrap(),
        (Direction::Both, Change::Queue(QueueLimit::bytes(225_000)))
    );
    assert_eq!(parse("loss 0").unwrap(), (Direction::Both, Change::Loss(Loss::None)));
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    for line in [
        "",
        "forth",
        "rate",
        "rate fast",
        "rate 3mb",
        "delay 3",
        "loss 3",
        "cut now",
        "mtu small",
        "mtu -1",
        "queue 1.5",
        "queue 3bits",
        "pattern",
        "explode",
        "delay 1e999s",
    ] {
        assert!(!parse(line).unwrap_err().to_string().is_empty(), "{line}");
    }
}
