//! Whether a module keeps something in a place of its own, and how it does in a script of events.
//!
//! The script is played twice: with one instance that is called for all, and with a new instance for each call. Whoever keeps
//! nothing but its state answers the same.

use core::fmt;

use rocelab_transport::congestion_control::{EndpointReport, Path};
use rocelab_units::{Bandwidth, Duration};

use crate::event::{GuestCall, GuestEvent};
use crate::fault::Cause;
use crate::input::{FLAG_ECN, FLAG_RTT, FLAG_TIMEOUT, Input, NEVER};
use crate::instance::Instance;
use crate::metadata::GuestFeedback;
use crate::module::{GuestModule, LoadError};
use crate::queue_pair::{QueuePair, Settings};

/// Queue pairs of the script.
const PAIRS: usize = 16;
/// Events of the script, beside timers.
const EVENTS: usize = 2_000;
/// Timers that are served before an event, at the most: a guest may set them as close as it likes.
const TIMERS_AT_ONCE: usize = 4;
/// After so many calls that do not end, the script does.
const MOST_ENDLESS: usize = 3;

/// Something that a module does and should not, though it can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which call of the script: the first of this cause.
    pub call: usize,
    /// What it was about.
    pub event: &'static str,
    /// What went wrong.
    pub cause: Cause,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} of the check (`{}`): {}", self.call, self.event, self.cause)
    }
}

/// What a script of events has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Calls of the script.
    pub calls: usize,
    /// The most instructions that a call took, of those that ended.
    pub most_fuel: u64,
    /// What went wrong, the first of each kind of cause.
    pub faults: Vec<Finding>,
    /// The first call that showed that the module keeps something outside of its state, and what it was about.
    pub hidden: Option<(usize, &'static str)>,
}

/// Plays a script of events to a module with these values of its parameters.
///
/// # Errors
/// If no instance can be made.
pub fn check(module: &GuestModule, values: &[i64], fuel: u64) -> Result<Findings, LoadError> {
    let mut one = Instance::new(module.compiled())?;
    let mut kept = Vec::new();
    let mut findings = play(module, values, fuel, |_, _, call| {
        let outcome = call(&mut one);
        if outcome.is_err() {
            // Its memory may be in any state.
            one = Instance::new(module.compiled())?;
        }
        kept.push(outcome.clone());
        Ok(Some(outcome))
    })?;
    let mut hidden = None;
    play(module, values, fuel, |number, event, call| {
        let outcome = call(&mut Instance::new(module.compiled())?);
        let is_same = kept.get(number) == Some(&outcome);
        if !is_same {
            hidden = Some((number, event));
        }
        Ok(is_same.then_some(outcome))
    })?;
    findings.hidden = hidden;
    Ok(findings)
}

/// What a call has changed: answers and state, and the fuel that it took.
type Outcome = Result<(Vec<u8>, u64), Cause>;

/// A call that is to be made with an instance.
type Call<'a> = &'a mut dyn FnMut(&mut Instance) -> Outcome;

/// Plays the script; `with` finds an instance for each call, or ends it.
fn play(
    module: &GuestModule,
    values: &[i64],
    fuel: u64,
    mut with: impl FnMut(usize, &'static str, Call<'_>) -> Result<Option<Outcome>, LoadError>,
) -> Result<Findings, LoadError> {
    let mut script = Script::new(module);
    let settings = Settings::new(values, fuel);
    let state = module.metadata().state;
    let mut pairs: Vec<Option<QueuePair>> = vec![None; PAIRS];
    let mut findings = Findings { calls: 0, most_fuel: 0, faults: Vec::new(), hidden: None };
    let (mut now, mut endless) = (0, 0);
    for _ in 0..EVENTS {
        let place = script.below(PAIRS);
        now += script.range(1, 2_000_000);
        let mut steps = match &pairs[place] {
            None => vec![(GuestCall::Open, Input::at(now))],
            Some(pair) => script.due(pair, now),
        };
        if pairs[place].is_some()
            && let Some(event) = script.event(now)
        {
            steps.push(event);
        }
        for (asked, input) in steps {
            let path = script.path(place);
            let pair = pairs[place].get_or_insert_with(|| QueuePair::new(&path, state));
            let outcome = with(findings.calls, asked.name(), &mut |instance| {
                call(pair, instance, (asked, &input), &settings)
            })?;
            let Some(outcome) = outcome else { return Ok(findings) };
            match outcome {
                Ok((_, used)) => findings.most_fuel = findings.most_fuel.max(used),
                Err(cause) => {
                    endless += usize::from(matches!(cause, Cause::Fuel(_)));
                    pairs[place] = None;
                    findings.note(asked.name(), cause);
                }
            }
            findings.calls += 1;
            if pairs[place].is_none() {
                break;
            }
        }
        if endless >= MOST_ENDLESS {
            break;
        }
    }
    Ok(findings)
}

impl Findings {
    /// Refuses a module that keeps something outside of its state.
    ///
    /// # Errors
    /// [`LoadError::HiddenState`].
    pub const fn keeps_nothing(&self) -> Result<(), LoadError> {
        match self.hidden {
            None => Ok(()),
            Some((call, event)) => Err(LoadError::HiddenState { call, event }),
        }
    }

    fn note(&mut self, event: &'static str, cause: Cause) {
        let is_same = |known: &Finding| {
            core::mem::discriminant(&known.cause) == core::mem::discriminant(&cause)
                && known.event == event
        };
        if !self.faults.iter().any(is_same) {
            self.faults.push(Finding { call: self.calls, event, cause });
        }
    }
}

fn call(
    pair: &mut QueuePair,
    instance: &mut Instance,
    (asked, input): (GuestCall, &Input),
    settings: &Settings,
) -> Outcome {
    pair.call(instance, asked, input, settings)?;
    let mut kept = borsh::to_vec(pair.answers()).unwrap_or_default();
    kept.extend(pair.state().iter().flat_map(|word| word.to_le_bytes()));
    Ok((kept, settings.fuel - instance.fuel_left()))
}

/// Events by chance, but the same ones each time.
struct Script {
    /// Of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    random: u64,
    /// What the module is told of.
    events: Vec<GuestEvent>,
    /// What queue pairs have acknowledged, and sent.
    positions: [(u64, u64); PAIRS],
    place: usize,
    /// Whether acknowledgements bring what the ends of the path tell.
    asks_ends: bool,
}

impl Script {
    fn new(module: &GuestModule) -> Self {
        let metadata = module.metadata();
        // Most of what happens is feedback.
        let often = metadata.feedback_event().into_iter().cycle().take(2);
        let told = metadata.told().into_iter().filter(|&event| event != GuestEvent::Timer);
        let events = often.filter(|&event| metadata.wants(event)).chain(told).collect();
        let asks_ends = metadata.feedback == GuestFeedback::Endpoint;
        Self { random: 1, events, positions: [(0, 0); PAIRS], place: 0, asks_ends }
    }

    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }

    #[expect(clippy::cast_possible_truncation, reason = "below a number that fits")]
    fn below(&mut self, count: usize) -> usize {
        self.place = (self.next() % count as u64) as usize;
        self.place
    }

    /// The path of a queue pair: hosts of four kinds.
    fn path(&self, place: usize) -> Path {
        let line_rate = Bandwidth::from_gbps([10, 25, 100, 400][place % 4]);
        let base_rtt = Duration::from_us([4, 8, 30][place % 3]);
        Path {
            line_rate,
            base_rtt,
            bdp: line_rate.bytes_in(base_rtt).get(),
            path_mtu: [1024, 4096][place % 2],
            others: 0,
            seed: place as u64 + 1,
            start: rocelab_units::SimTime::ZERO,
        }
    }

    /// The timers of a queue pair that have expired.
    fn due(&self, pair: &QueuePair, now: u64) -> Vec<(GuestCall, Input)> {
        let mut due: Vec<_> =
            (0..).zip(pair.answers().timers).filter(|&(_, at)| at <= now).collect();
        due.sort_by_key(|&(timer, at)| (at, timer));
        let input = |(value, at): (u32, u64)| {
            (GuestCall::Event(GuestEvent::Timer), Input { value, ..Input::at(at) })
        };
        due.into_iter().take(TIMERS_AT_ONCE).map(input).collect()
    }

    fn event(&mut self, now: u64) -> Option<(GuestCall, Input)> {
        let chosen = self.next();
        let event =
            self.events.get(usize::try_from(chosen % self.events.len().max(1) as u64).ok()?);
        let event = *event?;
        let mut input = Input::at(now);
        match event {
            GuestEvent::Ack => self.acknowledge(&mut input),
            GuestEvent::Sent => input.bytes = self.range(64, 4_200),
            GuestEvent::Loss => input.flags = (self.next() & 1) as u32 * FLAG_TIMEOUT,
            GuestEvent::Cnm => input.value = (self.next() % 64) as u32,
            GuestEvent::Cnp | GuestEvent::Timer => {}
        }
        Some((GuestCall::Event(event), input))
    }

    fn acknowledge(&mut self, input: &mut Input) {
        let acked = self.range(1, 5) * 1024;
        let ahead = self.range(0, 200) * 1024;
        let (acknowledged, sent) = &mut self.positions[self.place];
        *acknowledged += acked;
        *sent = *acknowledged + ahead;
        (input.acked, input.acknowledged, input.sent) = (acked, *acknowledged, *sent);
        // One in ten was sent again, and has no round-trip time.
        if !self.next().is_multiple_of(10) {
            input.rtt = self.range(4_000_000, 300_000_000);
            input.flags |= FLAG_RTT;
        }
        if self.next().is_multiple_of(4) {
            input.flags |= FLAG_ECN;
        }
        debug_assert!(input.rtt == NEVER || input.flags & FLAG_RTT != 0);
        // Some acknowledgements bring nothing back.
        if self.asks_ends && !self.next().is_multiple_of(10) {
            let told = self.next();
            let report = EndpointReport {
                hops: (told % 8) as u16,
                delay_ns: (told >> 8 & 0xffff) as u32,
                held_ns: (told >> 24 & 0xfff) as u32,
            };
            *input = input.with_endpoint(report);
        }
    }
}
