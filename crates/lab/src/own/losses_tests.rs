use super::*;

fn plan(text: &str) -> (LossPlan, Option<f64>) {
    #[derive(Deserialize)]
    struct Table {
        loss: LossPlan,
        burst: Option<f64>,
    }
    let Table { loss, burst } = toml::from_str(text).unwrap();
    (loss, burst)
}

#[test]
fn a_number_is_a_mean_and_a_burst_its_length() {
    let model = |text: &str| {
        let (loss, burst) = plan(text);
        loss.model(burst)
    };
    assert_eq!(model("loss = 0"), Loss::None);
    assert_eq!(model("loss = 0.25"), Loss::Bernoulli(0.25));
    let Loss::GilbertElliott(chain) = model("loss = 0.25\nburst = 4") else { panic!("no chain") };
    assert!(
        (chain.mean_loss() - 0.25).abs() < 1e-12 && (chain.bad_to_good - 0.25).abs() < 1e-12,
        "{chain:?}"
    );
}

/// The letters are those of the literature and of netem: h and k are what passes, not what is lost.
#[test]
fn a_chain_has_the_letters_of_gilbert_and_elliott() {
    let chain = |text: &str| match plan(text).0.model(None) {
        Loss::GilbertElliott(GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }) => {
            [good_to_bad, bad_to_good, loss_bad, loss_good]
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(chain("loss = { p = 0.01, r = 0.25 }"), [0.01, 0.25, 1.0, 0.0], "all and nothing");
    assert_eq!(chain("loss = { p = 0.5, r = 0.25, h = 0.75, k = 0.5 }"), [0.5, 0.25, 0.25, 0.5]);
}

#[test]
fn what_no_chain_can_do_is_said() {
    for (text, expected) in [
        ("loss = 2", "network.n.loss is 2.0"),
        ("loss = 0.9\nburst = 2", "in bursts of 2 packets at most 0.666 can be lost"),
        ("loss = { p = 2, r = 0.1 }", "network.n.loss.p is 2.0"),
        ("loss = { p = 0.1, r = 0.1, h = -1 }", "network.n.loss.h is -1.0"),
        ("loss = { p = 0.1, r = 0.1 }\nburst = 5", "network.n.burst belongs to a loss that is a number"),
    ] {
        let (loss, burst) = plan(text);
        let error = loss.check("network.n", burst).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let error =
        toml::from_str::<std::collections::BTreeMap<String, LossPlan>>("loss = { p = 0.1 }").unwrap_err();
    assert!(error.to_string().contains("a table with p, r and perhaps h and k"), "{error}");
    let (loss, burst) = plan("loss = 0.6\nburst = 2");
    assert_eq!(loss.check("network.n", burst), Ok(()));
}
