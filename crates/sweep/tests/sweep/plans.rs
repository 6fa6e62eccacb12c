//! What points a plan has.

use rocelab_sweep::{MAX_POINTS, Sweep};

use crate::{SMALL, points, sweep};

#[test]
fn a_grid_is_every_value_with_every_other_in_the_order_of_the_file() {
    let text =
        "[sweep.grid]\n\"workload.incast.senders\" = [1, 2]\n\"switch.alpha\" = [\"1/4\", \"1\"]\n";
    let expected = [
        "workload.incast.senders=1 switch.alpha=1/4",
        "workload.incast.senders=1 switch.alpha=1",
        "workload.incast.senders=2 switch.alpha=1/4",
        "workload.incast.senders=2 switch.alpha=1",
    ];
    assert_eq!(points(text), expected);
    // Keys need no quotes.
    assert_eq!(
        points(&text.replace('"', "").replace("1/4", "\"1/4\"").replace(" 1]", " \"1\"]"))[0],
        expected[0]
    );
    assert_eq!(sweep(text).unwrap().keys(), ["workload.incast.senders", "switch.alpha"]);
}

#[test]
fn zipped_lists_go_together() {
    let text = "[[sweep.zip]]\nswitch.ecn.kmin = [\"10KB\", \"20KB\"]\nswitch.ecn.kmax = [\"40KB\", \"80KB\"]\n\
         [sweep]\nseeds = [7, 3]\n";
    let expected = [
        "switch.ecn.kmin=10KB switch.ecn.kmax=40KB seed=7",
        "switch.ecn.kmin=10KB switch.ecn.kmax=40KB seed=3",
        "switch.ecn.kmin=20KB switch.ecn.kmax=80KB seed=7",
        "switch.ecn.kmin=20KB switch.ecn.kmax=80KB seed=3",
    ];
    assert_eq!(points(text), expected);
}

#[test]
fn points_may_set_different_keys() {
    let text = "[sweep]\nseeds = 2\n[[sweep.points]]\ncongestion_control.timely = {}\n\
         [[sweep.points]]\ncongestion_control.hpcc.eta = 0.9\nstop = \"1ms\"\n";
    let expected = [
        "congestion_control.timely={} seed=1",
        "congestion_control.timely={} seed=2",
        "congestion_control.hpcc.eta=0.9 stop=1ms seed=1",
        "congestion_control.hpcc.eta=0.9 stop=1ms seed=2",
    ];
    assert_eq!(points(text), expected);
    for point in sweep(text).unwrap().points() {
        let scenario = sweep(text).unwrap();
        assert_eq!(point.overrides().last().unwrap().0, "seed");
        assert_eq!(scenario.keys()[0], "congestion_control.timely");
    }
}

#[test]
fn draws_are_the_same_each_time_and_do_not_depend_on_other_keys() {
    let drawn = |more: &str| {
        points(&format!(
            "[sweep.random]\ndraws = 20\n[sweep.random.keys]\n\
             switch.ecn.kmin = {{ from = \"10KB\", to = \"400KB\", scale = \"log\" }}\n{more}"
        ))
    };
    let alone = drawn("");
    assert_eq!(alone, drawn(""));
    let more = drawn("workload.incast.senders = [1, 2]\nhost.pause = { from = 0.25, to = 0.5 }\n");
    for (one, more) in alone.iter().zip(&more) {
        assert!(more.starts_with(&format!("{one} workload.incast.senders=")), "{more}");
        let kmin: f64 =
            one.trim_start_matches("switch.ecn.kmin=").trim_end_matches("KB").parse().unwrap();
        assert!((10.0..=400.0).contains(&kmin) && kmin.fract() == 0.0);
    }
    let low = alone.iter().filter(|one| one.len() == "switch.ecn.kmin=10KB".len()).count();
    assert!((6..=18).contains(&low), "half of them are below 63 KB: {low}");
}

#[test]
fn a_plan_may_name_its_scenario() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, "[sweep]\nscenario = \"small.toml\"\nseeds = 3\n").unwrap();
    let overrides = [("sweep.seeds", "2"), ("workload.incast.senders", "1")];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let sweep = Sweep::load(&plan, &overrides).unwrap();
    assert_eq!(sweep.points().len(), 2);
    let scenario = sweep.load_point(&sweep.points()[1]).unwrap();
    assert_eq!((scenario.seed, scenario.name()), (2, "small".to_owned()));
    assert!(scenario.to_toml().unwrap().contains("senders = 1\n"));
}

#[test]
fn there_are_at_most_a_million_points() {
    assert_eq!(points("[sweep]\nseeds = 1000\n").len(), 1000);
    let text =
        "[sweep]\nseeds = 2000\n[sweep.random]\ndraws = 1000\nkeys = { switch.alpha = [\"1\"] }\n";
    let error = sweep(text).unwrap_err();
    assert!(error.to_string().contains(&format!("more than {MAX_POINTS} points")), "{error}");
}

#[test]
fn a_swept_key_cannot_be_set_for_all_points() {
    let text =
        format!("{SMALL}[sweep]\nseeds = 2\n[sweep.grid]\nworkload.incast.senders = [1, 2]\n");
    for key in ["seed", "workload.incast.senders", "workload.incast[0].senders"] {
        let set = [(key.to_owned(), "1".to_owned())];
        let error = Sweep::parse(&text, "plan.toml".as_ref(), &set).unwrap_err().to_string();
        assert!(error.contains(&format!(": {key}")) && error.contains("is swept"), "{error}");
    }
    let set = [("workload.incast.bytes".to_owned(), "1KB".to_owned())];
    assert_eq!(Sweep::parse(&text, "plan.toml".as_ref(), &set).unwrap().points().len(), 4);
}

#[test]
fn keys_that_end_like_a_range_are_keys() {
    let text = "[sweep.grid]\nworkload.multicast.from = [\"host-0\", \"host-1\"]\n";
    assert_eq!(sweep(text).unwrap().keys(), ["workload.multicast.from"]);
    assert_eq!(points(text)[1], "workload.multicast.from=host-1");
}
