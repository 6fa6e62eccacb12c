//! What every registered algorithm must do, whatever it is.

use proptest::prelude::*;
use rocelab_units::{Bandwidth, Duration, SimTime};

use super::*;

#[derive(Clone, Debug)]
enum Event {
    Ack { bytes: u64, rtt: Option<u64>, ecn_echo: bool },
    Cnp,
    Sent(u64),
    Loss(bool),
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let rtt = prop::option::of(1_000_000..2_000_000_000_u64);
    prop_oneof![
        (0..100_000_u64, rtt, any::<bool>()).prop_map(|(bytes, rtt, ecn_echo)| Event::Ack {
            bytes,
            rtt,
            ecn_echo
        }),
        Just(Event::Cnp),
        (64..5_000_u64).prop_map(Event::Sent),
        any::<bool>().prop_map(Event::Loss),
        (0..400_000_000_u64).prop_map(Event::Wait),
    ]
}

struct Model {
    control: Box<dyn CongestionControl>,
    line_rate: f64,
    now: SimTime,
}

impl Model {
    fn new(algorithm: &Algorithm, line_rate: Bandwidth) -> Self {
        let control = algorithm.build(line_rate);
        Self { control, line_rate: line_rate.bits_per_second() as f64, now: SimTime::ZERO }
    }

    fn play(&mut self, event: &Event) {
        let now = self.now;
        match *event {
            Event::Ack { bytes, rtt, ecn_echo } => {
                let rtt = rtt.map(Duration::from_ps);
                self.control.on_ack(&Ack { now, acked_bytes: bytes, rtt, ecn_echo });
            }
            Event::Cnp => self.control.on_cnp(now),
            Event::Sent(bytes) => _ = self.control.on_sent(&Sent { now, bytes }),
            Event::Loss(timeout) => self.control.on_loss(&LossEvent { now, timeout }),
            Event::Wait(ps) => self.wait_until(now + Duration::from_ps(ps)),
        }
        self.check();
    }

    fn wait_until(&mut self, end: SimTime) {
        while self.control.poll_timeout() <= end {
            let due = self.control.poll_timeout();
            assert!(due >= self.now, "a timer expired in the past");
            self.now = due;
            self.control.handle_timeout(due);
            assert!(self.control.poll_timeout() > due, "a served timer is served");
            self.check();
        }
        self.now = end;
    }

    fn check(&self) {
        let rate = self.control.rate();
        assert!(rate.is_finite() && rate >= 1.0, "{rate} bit/s");
        assert!(rate <= self.line_rate, "{rate} bit/s on a line of {}", self.line_rate);
        assert!(self.control.window() != Some(0), "a window of nothing stops for ever");
        assert!(self.control.poll_timeout() >= self.now);
    }

    /// A quiet network: short round trips, no marks, nothing lost.
    fn calm(&mut self) {
        for _ in 0..100_000 {
            self.wait_until(self.now + Duration::from_us(10));
            let now = self.now;
            let rtt = Some(Duration::from_us(5));
            self.control.on_sent(&Sent { now, bytes: 64 * 1024 });
            self.control.on_ack(&Ack { now, acked_bytes: 64 * 1024, rtt, ecn_echo: false });
            self.check();
        }
    }
}

fn line_rate() -> impl Strategy<Value = Bandwidth> {
    prop::sample::select(vec![1, 10, 40, 100, 400, 1600]).prop_map(Bandwidth::from_gbps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rates_stay_in_bounds_and_timers_in_the_future(
        line_rate in line_rate(), script in prop::collection::vec(event(), 0..200)) {
        for algorithm in Algorithm::all_defaults() {
            let mut first = Model::new(&algorithm, line_rate);
            let mut second = Model::new(&algorithm, line_rate);
            for event in &script {
                first.play(event);
                second.play(event);
                // Spurious wake-ups are harmless.
                second.control.handle_timeout(second.now);
                prop_assert_eq!(first.control.rate().to_bits(), second.control.rate().to_bits());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rate_recovers_when_the_network_is_quiet(
        script in prop::collection::vec(event(), 100..200)) {
        for algorithm in Algorithm::all_defaults() {
            let mut model = Model::new(&algorithm, Bandwidth::from_gbps(100));
            for event in &script {
                model.play(event);
            }
            model.calm();
            let rate = model.control.rate();
            prop_assert!(rate >= 0.99e11, "{} ends at {} bit/s", algorithm.name(), rate);
        }
    }
}

#[test]
fn the_list_is_in_order() {
    for (algorithm, descriptor) in Algorithm::all_defaults().zip(DESCRIPTORS) {
        assert_eq!(algorithm.name(), descriptor.name);
        assert!(!algorithm.summary().is_empty());
        assert_eq!(algorithm.validate(), Ok(()), "defaults are valid");
    }
    let mut names = Algorithm::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DESCRIPTORS.len(), "names are unique");
}

#[test]
fn text_comes_back() {
    for algorithm in Algorithm::all_defaults() {
        let text = toml::to_string(&algorithm).unwrap();
        assert_eq!(toml::from_str::<Algorithm>(&text).unwrap(), algorithm, "{text}");
        let wrong = format!("[{}]\nno_such_key = 1", algorithm.name());
        let error = toml::from_str::<Algorithm>(&wrong).unwrap_err().to_string();
        assert!(error.contains("no_such_key"), "{error}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    for (text, key) in [
        ("[none]\nrate = \"0bps\"", "rate"),
        ("[none]\nwindow = \"0B\"", "window"),
        ("[dcqcn]\ng = 0", "g"),
        ("[dcqcn]\ng = 2", "g"),
        ("[dcqcn]\ninitial_alpha = 1.5", "initial_alpha"),
        ("[dcqcn]\nalpha_interval = \"0s\"", "alpha_interval"),
        ("[dcqcn]\nmin_rate = \"0bps\"", "min_rate"),
        ("[timely]\nt_low = \"1ms\"", "t_low"),
        ("[timely]\nbeta = 0", "beta"),
        ("[timely]\nmin_rtt = \"0s\"", "min_rtt"),
        ("[timely]\ndelta = \"0bps\"", "delta"),
        ("[timely]\nhai_factor = 0", "hai_factor"),
    ] {
        let error = toml::from_str::<Algorithm>(text).unwrap().validate().unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
}

#[test]
fn only_those_that_need_marks_say_so() {
    for algorithm in Algorithm::all_defaults() {
        let by_marks = matches!(algorithm.feedback(), Feedback::Cnp { .. } | Feedback::EcnEcho);
        assert_eq!(algorithm.needs_ecn(), by_marks, "{}", algorithm.name());
    }
    assert!(Algorithm::default_for(true).needs_ecn());
    assert!(!Algorithm::default_for(false).needs_ecn());
}
