use super::*;
use crate::experiment::{Outcome, Watch};
use crate::plot::{Plot, Quantity};
use crate::scenario::Scenario;

const ATTACK: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

/// An experiment whose every word was written by an attacker.
struct Hostile(Scenario);

impl Experiment for Hostile {
    fn name(&self) -> &str {
        ATTACK
    }
    fn scenario(&self) -> &Scenario {
        &self.0
    }
    fn axes(&self) -> Vec<Name> {
        vec!["axis".into()]
    }
    fn metrics(&self) -> Vec<Name> {
        vec!["metric".into()]
    }
    fn cells(&self) -> Vec<Cell> {
        vec![Cell::paper(vec![("axis".into(), Value::from(ATTACK))])]
    }
    fn run(&self, _: &Cell, _: u64, _: Watch) -> Outcome {
        Outcome::default()
    }
    fn series(&self) -> Vec<(Name, &'static str)> {
        vec![(ATTACK.into(), ATTACK)]
    }
    fn plots(&self) -> Vec<Plot> {
        let line = Line { label: ATTACK.to_owned(), series: PAPER.into(), at: Axes::new() };
        let (x, y) = (Quantity::axis("axis", ATTACK), Quantity::metric("metric", ATTACK));
        vec![Plot { figure: ATTACK, title: ATTACK.to_owned(), x, y, lines: vec![line] }]
    }
}

#[test]
fn hostile_names_stay_text() {
    let leaf = format!("{{ v = '''{ATTACK}''', u = '''{ATTACK}''', src = '''{ATTACK}''' }}");
    let assumed = format!("{{ v = '''{ATTACK}''', why = '''{ATTACK}''' }}");
    let text = format!(
        "[scenario.h]\npaper = '''{ATTACK}'''\ntitle = '''{ATTACK}'''\nfigures = ['''{ATTACK}''']\n\
         [scenario.h.topology]\na = {leaf}\nb = {assumed}\n[scenario.h.metrics]\nmetric = '''{ATTACK}'''\n"
    );
    let papers = Papers::parse(&text).unwrap();
    let field = |name: &str| format!("{name} = '''{ATTACK}'''\n");
    let names =
        ["id", "paper", "where", "kind", "origin", "statement", "tolerance", "confidence", "note", "remark"];
    let fields: String = names.into_iter().map(field).collect();
    let check = "check = '1 < 2 and \"</script><script>alert(1)\" == \"<img\"'";
    let claims = Claims::parse(&format!("[constants]\n[[claim]]\n{fields}{check}\n")).unwrap();
    let row = Row {
        series: PAPER.into(),
        axes: vec![("axis".into(), Value::from(ATTACK))],
        repetition: 0,
        seed: 1,
        metrics: vec![("metric".into(), 1.0)],
    };
    let experiment = Box::new(Hostile(papers.scenario("h").unwrap()));
    let page = rendered(
        &papers,
        &claims,
        &[Measured { experiment, rows: vec![row], versions: [ATTACK.to_owned()].into() }],
    )
    .unwrap();
    let page = own_words(&page);
    assert_eq!(page.matches("<script").count(), 3, "the data and two scripts");
    assert_eq!(page.matches("</script").count(), 3);
    assert!(!page.contains("<img") && !page.contains("\"'>"));
    assert!(page.contains("\\u003c/script\\u003e") && page.contains("onerror=alert"));
}
