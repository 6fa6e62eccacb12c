//! DCQCN (Zhu et al., SIGCOMM 2015) in the form of the paper: timers, and a counter of bytes.

use rocelab_cc::{Algorithm, Answers, Event, NEVER, Parameters, Path, algorithm};

/// Expires when a CNP that came too early takes effect.
const CUT: usize = 0;
/// Expires at the next increase by time.
const INCREASE: usize = 1;

algorithm! {
    /// The reaction point of a queue pair.
    pub struct Dcqcn {
        /// `Rc` [bit/s].
        rate: f64,
        /// `Rt` [bit/s].
        target: f64,
        alpha: f64,
        /// Up to when alpha is accounted for [ps].
        alpha_at: u64,
        /// Whether there was a CNP at all.
        started: bool,
        /// No cut before [ps].
        next_cut: u64,
        /// `T`.
        timer_steps: u32,
        /// `B`.
        byte_steps: u32,
        /// Bytes sent since the last step of the byte counter.
        bytes: u64,
    }
    metadata: r#"{
        "abi": 1, "name": "dcqcn", "summary": "ECN marks come back as CNPs, which cut the rate",
        "reference": "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
        "feedback": "cnp", "cnp_interval": 50000000, "state": 72, "events": ["cnp", "sent"],
        "parameters": [
            {"key": "g", "unit": "1/65536", "default": 256, "min": 1, "max": 65536},
            {"key": "alpha_interval", "unit": "ps", "default": 55000000, "min": 1000, "max": 1000000000000},
            {"key": "rate_decrease_interval", "unit": "ps", "default": 50000000, "min": 1000, "max": 1000000000000},
            {"key": "increase_timer", "unit": "ps", "default": 55000000, "min": 1000, "max": 1000000000000},
            {"key": "byte_counter", "unit": "bytes", "default": 10000000, "min": 1, "max": 1000000000000},
            {"key": "fast_recovery_threshold", "default": 5, "min": 0, "max": 1000000},
            {"key": "additive_increase", "unit": "bit/s", "default": 40000000, "min": 1, "max": 1000000000000},
            {"key": "hyper_increase", "unit": "bit/s", "default": 200000000, "min": 1, "max": 1000000000000},
            {"key": "min_rate", "unit": "bit/s", "default": 100000000, "min": 1, "max": 1000000000000}
        ]
    }"#
}

/// The parameters as the formulas have them.
struct Settings {
    g: f64,
    alpha_interval: u64,
    rate_decrease_interval: u64,
    increase_timer: u64,
    byte_counter: u64,
    threshold: u32,
    additive_increase: f64,
    hyper_increase: f64,
    min_rate: f64,
    line_rate: f64,
}

impl Settings {
    fn new(parameters: &Parameters, path: &Path) -> Self {
        let [g, alpha, decrease, increase, bytes, threshold, additive, hyper, least, ..] =
            *parameters;
        let line_rate = path.line_rate as f64;
        Self {
            g: g as f64 / 65536.0,
            alpha_interval: alpha.cast_unsigned(),
            rate_decrease_interval: decrease.cast_unsigned(),
            increase_timer: increase.cast_unsigned(),
            byte_counter: bytes.cast_unsigned(),
            threshold: threshold as u32,
            additive_increase: additive as f64,
            hyper_increase: hyper as f64,
            min_rate: (least as f64).min(line_rate),
            line_rate,
        }
    }
}

impl Dcqcn {
    fn cut(&mut self, now: u64, settings: &Settings, timers: &mut [u64; 3]) {
        let passed = now.saturating_sub(self.alpha_at) / settings.alpha_interval.max(1);
        self.alpha *= power(1.0 - settings.g, passed);
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0).max(0.0)).max(settings.min_rate);
        self.alpha = (1.0 - settings.g) * self.alpha + settings.g;
        self.alpha_at = now;
        (self.timer_steps, self.byte_steps, self.bytes) = (0, 0, 0);
        self.next_cut = now + settings.rate_decrease_interval;
        timers[CUT] = NEVER;
        timers[INCREASE] = now + settings.increase_timer;
    }

    /// One increase step of timer or byte counter.
    fn increase(&mut self, settings: &Settings, timers: &mut [u64; 3]) {
        let (least, most) =
            (self.byte_steps.min(self.timer_steps), self.byte_steps.max(self.timer_steps));
        if least > settings.threshold {
            self.target += f64::from(least - settings.threshold) * settings.hyper_increase;
        } else if most >= settings.threshold {
            self.target += settings.additive_increase;
        }
        self.target = self.target.min(settings.line_rate);
        self.rate = (self.rate + self.target) / 2.0;
        if settings.line_rate - self.rate < 1.0 {
            self.rate = settings.line_rate;
            timers[INCREASE] = NEVER;
        }
    }

    fn on_cnp(&mut self, now: u64, settings: &Settings, timers: &mut [u64; 3]) {
        if !self.started {
            self.started = true;
            self.alpha_at = now;
        }
        if timers[CUT] != NEVER {
            return;
        }
        if now >= self.next_cut {
            self.cut(now, settings, timers);
        } else {
            timers[CUT] = self.next_cut;
        }
    }

    fn on_sent(&mut self, bytes: u64, settings: &Settings, timers: &mut [u64; 3]) {
        if timers[INCREASE] == NEVER {
            return;
        }
        self.bytes += bytes;
        if self.bytes >= settings.byte_counter {
            self.bytes -= settings.byte_counter;
            self.increase(settings, timers);
            self.byte_steps += 1;
        }
    }
}

impl Algorithm for Dcqcn {
    fn open(path: &Path, _: &Parameters, answers: &mut Answers) -> Self {
        answers.rate = path.line_rate;
        let line_rate = path.line_rate as f64;
        Self {
            rate: line_rate,
            target: line_rate,
            alpha: 1.0,
            alpha_at: 0,
            started: false,
            next_cut: 0,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
        }
    }

    fn on(
        &mut self,
        now: u64,
        event: Event,
        path: &Path,
        parameters: &Parameters,
        answers: &mut Answers,
    ) {
        let settings = Settings::new(parameters, path);
        let timers = &mut answers.timers;
        match event {
            Event::Cnp => self.on_cnp(now, &settings, timers),
            Event::Sent { bytes } => self.on_sent(bytes, &settings, timers),
            Event::Timer { number: CUT } => self.cut(now, &settings, timers),
            Event::Timer { number: INCREASE } => {
                timers[INCREASE] = now + settings.increase_timer;
                self.increase(&settings, timers);
                self.timer_steps += 1;
            }
            _ => {}
        }
        answers.rate = (self.rate as u64).clamp(1, path.line_rate.max(1));
    }
}

/// `base` to the power of `exponent`, by multiplications only.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
