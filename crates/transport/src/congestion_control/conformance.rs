//! What every registered algorithm must do, whatever it is.

use proptest::prelude::*;
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{EgressPort, TelemetryHeader, TelemetryWriter};

use super::*;

#[derive(Clone, Debug)]
enum Event {
    Ack { bytes: u64, rtt: Option<u64>, ecn_echo: bool, load: Load },
    Cnp,
    Cnm(u8),
    Sent(u64),
    Loss(bool),
    Wait(u64),
}

/// What the one switch of the path saw.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Bytes that left since the last acknowledgement.
    bytes: u64,
    queue: u64,
}

fn load() -> impl Strategy<Value = Load> {
    (0..2_000_000_u64, 0..2_000_000_u64).prop_map(|(bytes, queue)| Load { bytes, queue })
}

fn event() -> impl Strategy<Value = Event> {
    let rtt = prop::option::of(1_000_000..2_000_000_000_u64);
    prop_oneof![
        (0..100_000_u64, rtt, any::<bool>(), load())
            .prop_map(|(bytes, rtt, ecn_echo, load)| { Event::Ack { bytes, rtt, ecn_echo, load } }),
        Just(Event::Cnp),
        (0..64_u8).prop_map(Event::Cnm),
        (64..5_000_u64).prop_map(Event::Sent),
        any::<bool>().prop_map(Event::Loss),
        (0..400_000_000_u64).prop_map(Event::Wait),
    ]
}

struct Model {
    control: Box<dyn CongestionControl>,
    feedback: Feedback,
    /// Of the switch, if it is to write.
    writer: Option<TelemetryWriter>,
    line_rate: Bandwidth,
    now: SimTime,
    acknowledged: u64,
    /// Bytes that the switch has sent.
    switch_bytes: u64,
}

impl Model {
    fn new(algorithm: &Algorithm, line_rate: Bandwidth) -> Self {
        let base_rtt = Duration::from_us(5);
        let bdp = line_rate.bytes_in(base_rtt).get();
        let control = algorithm.build(&Path {
            line_rate,
            base_rtt,
            bdp,
            path_mtu: 1024,
            others: 0,
            seed: 0,
            start: SimTime::ZERO,
        });
        let feedback = algorithm.feedback(line_rate);
        let now = SimTime::ZERO;
        let writer = match feedback {
            Feedback::Telemetry(units) => Some(TelemetryWriter::new(units, 10_000)),
            _ => None,
        };
        Self { control, feedback, writer, line_rate, now, acknowledged: 0, switch_bytes: 0 }
    }

    fn play(&mut self, event: &Event) {
        let now = self.now;
        match *event {
            Event::Ack { bytes, rtt, ecn_echo, load } => {
                self.acknowledge(bytes, rtt.map(Duration::from_ps), ecn_echo, load);
            }
            Event::Cnp => self.control.on_cnp(now),
            Event::Cnm(feedback) => self.control.on_cnm(now, feedback),
            Event::Sent(bytes) => _ = self.control.on_sent(&Sent { now, bytes }),
            Event::Loss(timeout) => self.control.on_loss(&LossEvent { now, timeout }),
            Event::Wait(ps) => self.wait_until(now + Duration::from_ps(ps)),
        }
        self.check();
    }

    /// An acknowledgement, with the telemetry that was asked for, of a port of 100G.
    fn acknowledge(&mut self, bytes: u64, rtt: Option<Duration>, ecn_echo: bool, load: Load) {
        self.acknowledged += bytes;
        self.switch_bytes += load.bytes;
        let port = EgressPort {
            now_ps: self.now.ps(),
            rate_bps: 100_000_000_000,
            sent_bytes: self.switch_bytes,
            waiting_bytes: load.queue,
        };
        let header = self.writer.as_mut().zip(self.feedback.telemetry()).map(|(writer, kind)| {
            let mut header = TelemetryHeader::empty(kind);
            writer.write(&mut header, &port, &mut || 0x4000);
            writer.on_departure(port.now_ps, 1_000);
            header
        });
        self.control.on_ack(&Ack {
            now: self.now,
            acked_bytes: bytes,
            acknowledged: self.acknowledged,
            sent: self.acknowledged + 20_000,
            rtt,
            ecn_echo,
            telemetry: header.as_ref(),
        });
    }

    fn next_timer(&mut self) -> SimTime {
        self.control.timers().map_or(SimTime::NEVER, |timers| timers.next())
    }

    fn wait_until(&mut self, end: SimTime) {
        while let Some(timer) = self.control.timers().and_then(|timers| timers.due(end)) {
            let due = self.next_timer();
            assert!(due >= self.now, "a timer expired in the past");
            self.now = due;
            self.control.expire(timer, due);
            let next = self.control.timers().map(|timers| timers.deadline(timer));
            assert!(next > Some(due), "a served timer is served");
            self.check();
        }
        self.now = end;
    }

    /// All timers are served now, though none is due.
    fn wake(&mut self) {
        for timer in 0..=Timers::MAX {
            if self.control.timers().is_none_or(|timers| timers.deadline(timer) > self.now) {
                self.control.expire(timer, self.now);
            }
        }
    }

    fn check(&mut self) {
        let (rate, line_rate) = (self.control.rate(), self.line_rate);
        assert!(rate.bits_per_second() >= 1 && rate <= line_rate, "{rate} on {line_rate}");
        assert!(self.control.window() != Some(0), "a window of nothing stops for ever");
        assert!(self.next_timer() >= self.now);
    }

    /// A quiet network: short round trips, no marks, nothing lost, little load.
    fn calm(&mut self) {
        for _ in 0..100_000 {
            self.wait_until(self.now + Duration::from_us(10));
            let now = self.now;
            self.control.on_sent(&Sent { now, bytes: 64 * 1024 });
            let rtt = Some(Duration::from_us(5));
            self.acknowledge(64 * 1024, rtt, false, Load { bytes: 32 * 1024, queue: 0 });
            self.check();
        }
    }
}

fn line_rate() -> impl Strategy<Value = Bandwidth> {
    prop::sample::select(vec![1, 10, 40, 100, 400, 1600]).prop_map(Bandwidth::from_gbps)
}

/// Every algorithm with its defaults, and the forms that a preset or switch selects.
fn all_forms() -> impl Iterator<Item = Algorithm> {
    let forms = [
        "[dcqcn]\npreset = \"hpcc\"",
        "[dcqcn]\npreset = \"nvidia\"",
        "[timely]\npreset = \"hpcc\"",
        "[hpcc]\nper_hop_rate = true",
        "[hpcc]\nsample_feedback = true\nmax_stage = 0",
        "[hpcc]\nfast_react = false",
        "[infiniband]\nnotification = \"ack\"\nccti_limit = 2\ntable = [\"0:0\", \"3:1\", \"0:16383\"]",
    ];
    let forms = forms.map(|text| toml::from_str(text).unwrap());
    Algorithm::all_defaults().chain(forms)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rates_stay_in_bounds_and_timers_in_the_future(
        line_rate in line_rate(), script in prop::collection::vec(event(), 0..200)) {
        for algorithm in all_forms() {
            let mut first = Model::new(&algorithm, line_rate);
            let mut second = Model::new(&algorithm, line_rate);
            for event in &script {
                first.play(event);
                second.play(event);
                // Spurious wake-ups are harmless.
                second.wake();
                prop_assert_eq!(first.control.rate(), second.control.rate());
                prop_assert_eq!(first.next_timer(), second.next_timer());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_rate_recovers_when_the_network_is_quiet(
        script in prop::collection::vec(event(), 100..200)) {
        for algorithm in all_forms() {
            let mut model = Model::new(&algorithm, Bandwidth::from_gbps(100));
            for event in &script {
                model.play(event);
            }
            model.calm();
            let rate = model.control.rate();
            prop_assert!(rate.bits_per_second() >= 99_000_000_000, "{algorithm:?} ends at {rate}");
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
        ("[dcqcn]\nincrease_timer = \"999ps\"", "increase_timer"),
        ("[dcqcn]\nmin_rate = \"0bps\"", "min_rate"),
        ("[dcqcn]\nmax_cut = 0", "max_cut"),
        ("[dcqcn]\npreset = \"hpcc\"\nbyte_counter = \"1MB\"", "byte_counter"),
        ("[dcqcn]\npreset = \"nvidia\"\ncut_on_first_cnp = true", "cut_on_first_cnp"),
        ("[timely]\nt_low = \"1ms\"", "t_low"),
        ("[timely]\nbeta = 0", "beta"),
        ("[timely]\nmin_rtt = \"0s\"", "min_rtt"),
        ("[timely]\ndelta = \"0bps\"", "delta"),
        ("[timely]\nhai_factor = 0", "hai_factor"),
        ("[timely]\nhyper_increase = \"0bps\"", "hyper_increase"),
        ("[patched-timely]\nt_low = \"0s\"", "t_low"),
        ("[patched-timely]\nt_ref = \"0s\"", "t_ref"),
        ("[patched-timely]\nbeta_high = 0", "beta_high"),
        ("[swift]\nbase_target = \"0s\"", "base_target"),
        ("[swift]\nmax_mdf = 2", "max_mdf"),
        ("[swift]\nmin_cwnd = 0", "min_cwnd"),
        ("[swift]\nmin_cwnd = 2", "min_cwnd"),
        ("[swift]\nfs_max_cwnd = \"1/10\"", "fs_max_cwnd"),
        ("[dctcp]\ng = 0", "g"),
        ("[dctcp]\nadditive_increase = \"0bps\"", "additive_increase"),
        ("[dctcp]\nmin_rate = \"0bps\"", "min_rate"),
        ("[hpcc]\neta = 1.5", "eta"),
        ("[hpcc]\nint_multiplier = 0", "int_multiplier"),
        ("[hpcc]\nadditive_increase = \"0bps\"", "additive_increase"),
        ("[hpcc-pint]\nlog_base = 1", "log_base"),
        ("[hpcc-pint]\nmin_rate = \"0bps\"", "min_rate"),
        ("[qcn]\ngd = 0", "gd"),
        ("[qcn]\nmax_cut = 2", "max_cut"),
        ("[qcn]\nincrease_timer = \"0s\"", "increase_timer"),
        ("[qcn]\nbyte_counter = \"0B\"", "byte_counter"),
        ("[qcn]\nhyper_increase = \"0bps\"", "hyper_increase"),
        ("[qcn]\nmin_rate = \"0bps\"", "min_rate"),
        ("[infiniband]\nccti_increase = 0", "ccti_increase"),
        ("[infiniband]\nccti_limit = 3\nccti_min = 4", "ccti_min"),
        ("[infiniband]\nccti_timer = \"150us\"", "ccti_timer"),
        ("[infiniband]\nccti_timer = \"0s\"", "ccti_timer"),
        ("[infiniband]\nccti_timer = \"67108.864us\"", "ccti_timer"),
        ("[infiniband]\nccti_limit = 16384", "ccti_limit"),
        ("[infiniband]\nccti_limit = 1\ntable = [\"0:1\", \"0:2\"]", "table"),
        ("[infiniband]\nccti_limit = 2\ntable = [\"0:0\", \"0:2\"]", "ccti_limit"),
        ("[infiniband]\nccti_limit = 1\ntable = [\"0:0\", \"4:2\"]", "table"),
    ] {
        let error = toml::from_str::<Algorithm>(text).unwrap().validate().unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
}

#[test]
fn only_those_that_need_marks_say_so() {
    for algorithm in Algorithm::all_defaults() {
        let feedback = algorithm.feedback(Bandwidth::from_gbps(100));
        let by_marks = matches!(feedback, Feedback::Cnp { .. } | Feedback::EcnEcho);
        assert_eq!(algorithm.needs_ecn(), by_marks, "{}", algorithm.name());
        assert_eq!(algorithm.needs_qcn(), feedback == Feedback::Qcn, "{}", algorithm.name());
    }
    assert!(Algorithm::default_for(true).needs_ecn());
    assert!(!Algorithm::default_for(false).needs_ecn());
}
