use super::super::file::File;
use super::*;

/// What may stand in a table: the reader names it where it finds something else.
fn fields(table: &str, beside: &str) -> Vec<String> {
    let text = format!(
        "title = \"t\"\nduration = 1\npolicies = []\n[network.n]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n[{table}]\n{beside}\nzzz = 1\n"
    );
    // Two tables of one name are no TOML.
    let text = if table == "network.n" {
        text.replacen("[network.n]\nrate = 1\ndelay = 1\nkind = \"wlan\"\n", "", 1)
    } else {
        text
    };
    let error =
        toml::from_str::<File>(&text.replace("[event.0]", "[[event]]")).unwrap_err().message().to_owned();
    let listed = error.split_once("expected ").unwrap_or_else(|| panic!("{error}")).1;
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A quantity that is added to the language needs a unit for those who read rows.
#[test]
fn everything_that_can_be_swept_is_defined() {
    // What stands in no table that is asked below.
    let others = [
        "duration",
        "network.n.buffer.packets",
        "network.n.loss.p",
        "network.n.loss.r",
        "network.n.loss.h",
        "network.n.loss.k",
        "policy.p.kind",
    ];
    assert!(others.iter().all(|place| !at(place).definition.is_empty()));
    let mut known = others.len();
    for (table, beside, fewest) in [
        ("network.n", "", 13),
        ("network.n.cell", "at = [0, 0]", 7),
        ("radio.r", "", 1),
        ("correspondent", "", 1),
        ("traffic", "kind = \"bulk\"\nsize = 1", 9),
        ("host.h", "", 5),
        ("event.0", "at = 1\nnetwork = \"n\"\nwhat = \"warn\"", 6),
        ("motion", "kind = \"line\"", 3),
        ("motion", "kind = \"path\"", 2),
        ("motion", "kind = \"waypoint\"", 4),
        ("motion", "kind = \"standing\"", 1),
    ] {
        let fields = fields(table, beside);
        assert!(fields.len() >= fewest, "{table}: {fields:?}");
        // Tables have no unit; what stands in them has.
        for field in
            fields.iter().filter(|field| !["cell", "motion", "profile", "traffic"].contains(&field.as_str()))
        {
            assert!(!at(&format!("{table}.{field}")).definition.is_empty(), "{table}.{field}");
            known += 1;
        }
    }
    assert!(known >= PLACES.len(), "{known}: something is defined that there is not");
}

#[test]
fn names_of_users_are_no_tables() {
    let unit = |path: &str| at(path).unit;
    assert_eq!(unit("duration"), "s");
    assert_eq!(unit("network.traffic.rate"), "Mbit/s");
    assert_eq!(unit("network.wifi.cell.radius"), "m");
    assert_eq!((unit("event.0.at"), unit("motion.at.0")), ("s".to_owned(), "m".to_owned()));
    assert_eq!((unit("host.motion.traffic.size"), unit("traffic.size")), ("B".to_owned(), "B".to_owned()));
    assert_eq!(at("network.host.kind").definition, "kind of the network");
    assert_eq!(at("host.x"), Meaning::default());
    assert_eq!(unit("policy.mine.low_below"), "dBm");
    for place in ["profile", "host.x.profile", "policy.x.profile", "network.x.profile"] {
        assert_eq!(unit(&format!("{place}.RTO.Initial")), "s", "{place}");
    }
}
