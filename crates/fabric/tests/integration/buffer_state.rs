//! Switch memories that are saved while frames are in them. Loaded into a new memory, the state
//! makes the same decisions as the memory that was never saved.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use rocelab_fabric::{
    Arrival, BufferPolicy, Departure, HpccNs3Buffer, HpccNs3Port, IngressPeak, MemoryParts,
    PauseThresholds, Priority, SwitchBuffer, SwitchConfig,
};
use rocelab_state::State;
use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};

/// A step of the test: ingress, egress, priority, length, and whether the frame arrives or leaves.
type Step = (u16, u16, u8, u32, bool);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u16..3, 0u16..3, 0u8..8, 64u32..9_000, prop::bool::weighted(0.6));
    prop::collection::vec(step, 1..400)
}

/// A memory, and the frames in it by egress port and priority.
#[derive(Clone)]
struct Switch<B> {
    memory: B,
    queues: Vec<VecDeque<(u16, u32)>>,
}

impl<B: BufferPolicy> Switch<B> {
    fn new(memory: B) -> Self {
        Self { memory, queues: vec![VecDeque::new(); 3 * 8] }
    }

    /// Carries out a step. Returns the result as text.
    fn step(&mut self, (ingress, egress, priority, len, arrives): Step) -> String {
        let queue = &mut self.queues[usize::from(egress) * 8 + usize::from(priority)];
        if arrives {
            let egress_queue = queue.iter().map(|&(_, len)| len).sum();
            let admission =
                self.memory.admit(Arrival { ingress, egress, priority, len, egress_queue });
            if admission.is_stored() {
                queue.push_back((ingress, len));
            }
            return format!("{admission:?}");
        }
        let Some((ingress, len)) = queue.pop_front() else { return String::new() };
        format!("{}", self.memory.release(Departure { ingress, egress, priority, len }))
    }

    /// Starts to count by egress port what the first port holds in a priority.
    fn follow(&mut self, priority: u8) {
        let held = |egress: usize| {
            let of_port = self.queues[egress * 8 + usize::from(priority)].iter();
            let of_port = of_port.filter(|&&(ingress, _)| ingress == 0);
            of_port.map(|&(_, len)| self.memory.memory_of(len)).sum()
        };
        let held = (0..3).map(held).collect();
        self.memory.follow(0, priority, held);
    }
}

fn saved(memory: &impl State) -> Vec<u8> {
    let mut bytes = Vec::new();
    memory.save(&mut bytes).expect("there are no numbers in it that are none");
    bytes
}

/// Compares a memory that runs through with one that is saved in the middle and loaded into
/// `fresh`.
fn goes_on<B: BufferPolicy + Clone>(fresh: &B, steps: &[Step], follow: usize) {
    let mut switch = Switch::new(fresh.clone());
    let (before, after) = steps.split_at(steps.len() / 2);
    for (number, &step) in before.iter().enumerate() {
        if number == follow {
            switch.follow(3);
        }
        switch.step(step);
    }
    let (bytes, mut memory) = (saved(&switch.memory), fresh.clone());
    let mut rest = &bytes[..];
    memory.load(&mut rest).expect("the settings are the same");
    assert!(rest.is_empty());
    assert_eq!(format!("{memory:?}"), format!("{:?}", switch.memory));
    let mut other = Switch { memory, queues: switch.queues.clone() };
    for &step in after {
        assert_eq!(switch.step(step), other.step(step));
    }
    assert_eq!(format!("{:?}", other.memory), format!("{:?}", switch.memory));
    for end in 0..bytes.len() {
        assert!(fresh.clone().load(&mut &bytes[..end]).is_err(), "cut off at {end}");
    }
}

fn config() -> SwitchConfig {
    SwitchConfig {
        buffer: Bytes::new(150_000),
        alpha: Ratio::new(1, 2),
        xon_offset: Bytes::new(2_000),
        lossless: vec![3, 4],
        ..SwitchConfig::default()
    }
}

const HEADROOM: [Bytes; 3] = [Bytes::new(12_000); 3];

fn native(config: &SwitchConfig) -> SwitchBuffer {
    SwitchBuffer::new(config, &HEADROOM).expect("there is room")
}

proptest! {
    #[test]
    fn a_shared_buffer_goes_on(
        steps in steps(), reserve in prop_oneof![Just(0u64), 0u64..4_000], follow in 0usize..100,
    ) {
        let buffer = native(&SwitchConfig { reserve: Bytes::new(reserve), ..config() });
        assert!(matches!(buffer, SwitchBuffer::Shared(_)));
        goes_on(&buffer, &steps, follow);
    }

    #[test]
    fn pools_go_on(
        steps in steps(),
        (reserve, egress_reserve) in (0u64..4_000, 0u64..2_000),
        pool in prop::option::of(20_000u64..40_000),
        follow in 0usize..100,
    ) {
        let buffer = native(&SwitchConfig {
            reserve: Bytes::new(reserve),
            egress_reserve: Bytes::new(egress_reserve),
            headroom_pool: pool.map(Bytes::new),
            cell: Bytes::new(208),
            lossy_ingress_alpha: Some(Ratio::new(1, 4)),
            ..config()
        });
        assert!(matches!(buffer, SwitchBuffer::General(_)));
        goes_on(&buffer, &steps, follow);
    }

    /// Peaks are what is held after each frame that is stored, and keeping them changes no decision.
    #[test]
    fn a_measured_buffer_decides_alike_and_knows_the_most(
        steps in steps(), reserve in 0u64..4_000, cell in prop_oneof![Just(1u64), Just(208)],
    ) {
        let plain = native(&SwitchConfig {
            reserve: Bytes::new(reserve),
            cell: Bytes::new(cell),
            ..config()
        });
        let measured = plain.clone().measured(3);
        goes_on(&measured, &steps, 7);
        let (mut plain, mut measured) = (Switch::new(plain), Switch::new(measured));
        let (mut most, mut of_memory) = (BTreeMap::new(), (0, MemoryParts::default()));
        for step in steps {
            let decided = measured.step(step);
            prop_assert_eq!(&plain.step(step), &decided);
            let (ingress, _, priority, _, arrives) = step;
            if !arrives {
                continue;
            }
            let now = plain.memory.occupancy(ingress, priority);
            let peak: &mut IngressPeak = most.entry((ingress, priority)).or_default();
            peak.pauses += u64::from(decided.contains("AndPause"));
            peak.drops += u64::from(decided.contains("Dropped"));
            peak.headroom_drops += u64::from(decided.contains("HeadroomExceeded"));
            if now.held() > peak.held {
                (peak.held, peak.xoff) = (now.held(), now.thresholds.map_or(0, |limits| limits.xoff));
            }
            peak.headroom = peak.headroom.max(now.headroom);
            let parts = plain.memory.in_use();
            of_memory.0 = of_memory.0.max(plain.memory.stored());
            of_memory.1.shared = of_memory.1.shared.max(parts.shared);
            of_memory.1.headroom = of_memory.1.headroom.max(parts.headroom);
        }
        let peaks = measured.memory.peaks().expect("it is measured");
        for ((ingress, priority), peak) in most {
            prop_assert_eq!(peaks.of(ingress, priority), peak);
        }
        prop_assert_eq!((peaks.stored(), peaks.parts()), of_memory);
        prop_assert!(plain.memory.peaks().is_none());
    }

    #[test]
    fn a_buffer_of_hpcc_s_simulator_goes_on(steps in steps(), follow in 0usize..100) {
        let rate = Bandwidth::from_gbps(100);
        let port = |rate| HpccNs3Port { rate, delay: Duration::from_ns(500) };
        let ports = [port(rate), port(rate), port(Bandwidth::from_gbps(400))];
        let buffer = HpccNs3Buffer::new(300_000, &ports, rate).expect("it counts in 32 bits");
        goes_on(&buffer, &steps, follow);
    }
}

/// A saved memory with 26,000 bytes in the shared pool and 2,000 in headroom, all of one port and
/// priority.
fn used() -> Vec<u8> {
    let mut switch = Switch::new(native(&config()));
    while switch.step((0, 1, 3, 1_000, true)) == "Stored" {}
    switch.step((0, 1, 3, 1_000, true));
    saved(&switch.memory)
}

/// 78,000 bytes are shared by alpha 1/2 and 12,000 are headroom: a third of what is shared is the threshold of one alone.
#[test]
fn what_is_held_is_beside_its_thresholds() {
    let mut switch = Switch::new(native(&config()).measured(3));
    for _ in 0..26 {
        assert_eq!(switch.step((0, 1, 3, 1_000, true)), "Stored");
    }
    // 52,000 are free.
    let now = switch.memory.occupancy(0, 3);
    assert_eq!((now.stored, now.headroom, now.headroom_limit), (26_000, 0, 12_000));
    assert_eq!(now.thresholds, Some(PauseThresholds { xoff: 26_000, xon: 24_000 }));
    assert_eq!(switch.step((0, 1, 3, 1_000, true)), "StoredAndPause");
    for _ in 0..11 {
        assert_eq!(switch.step((0, 1, 3, 1_000, true)), "Stored");
    }
    assert!(switch.step((0, 1, 3, 1_000, true)).starts_with("Dropped"));
    // XON: the headroom is empty after 12 frames, and 24,000 plus 2,000 are at most half of 54,000 after two more.
    let resumes = (1..).find(|_| switch.step((0, 1, 3, 0, false)) == "true");
    assert_eq!(resumes, Some(14), "24,000 + 2,000 <= (78,000 - 24,000) / 2");
    let peaks = switch.memory.peaks().expect("it is measured");
    let peak = peaks.of(0, 3);
    assert_eq!((peak.held, peak.xoff, peak.headroom), (38_000, 26_000, 12_000));
    assert_eq!((peak.pauses, peak.drops, peak.headroom_drops), (1, 1, 1));
    assert_eq!(
        (peaks.stored(), peaks.parts().shared, peaks.parts().headroom),
        (38_000, 26_000, 12_000)
    );
    assert_eq!(switch.memory.sizes(), MemoryParts { shared: 78_000, headroom: 72_000 });
    let lossy = switch.memory.occupancy(0, 0);
    assert_eq!((lossy.thresholds, lossy.headroom_limit), (None, 0));
}

#[test]
fn settings_are_those_of_what_is_loaded_into() {
    let other = SwitchConfig {
        alpha: Ratio::new(1, 4),
        reserve: Bytes::new(1_000),
        xon_offset: Bytes::new(20_000),
        ..config()
    };
    let mut buffer = native(&other);
    buffer.load(&mut &used()[..]).expect("it fits");
    let SwitchBuffer::Shared(memory) = &buffer else { panic!("it is the fast form") };
    assert!(memory.is_paused(0, 3));
    // 72,000 bytes of headroom and 6,000 of reserve are not shared; one of the latter is in use.
    assert_eq!((memory.held(0, 3), memory.stored()), (28_000, 28_000));
    assert_eq!(memory.threshold(), (150_000 - 78_000 - 25_000) / 4);
    let mut left = 28_000;
    while left > 0 {
        let resumes = buffer.release(Departure { ingress: 0, egress: 1, priority: 3, len: 1_000 });
        left -= 1_000;
        assert_eq!(resumes, left == 0, "the threshold is always below the offset");
    }
    assert_eq!(buffer.stored(), 0);
}

#[test]
fn what_does_not_fit_the_settings_is_an_error() {
    let refused = |config: SwitchConfig| {
        let loaded = native(&config).load(&mut &used()[..]);
        loaded.expect_err("it does not fit").to_string()
    };
    let small = SwitchConfig { buffer: Bytes::new(90_000), ..config() };
    assert!(refused(small).contains("more is stored"));
    let lossy = SwitchConfig { lossless: vec![4, 5], ..config() };
    assert!(refused(lossy).contains("lossy"));
    let alpha = Priority::new(1).map(|priority| (priority, Ratio::new(1, 1)));
    let general = SwitchConfig { priority_alpha: BTreeMap::from_iter(alpha), ..config() };
    assert!(refused(general).contains("accounts for"));
    let more = SwitchBuffer::new(&config(), &[Bytes::new(9_000); 4]);
    assert!(more.expect("there is room").load(&mut &used()[..]).is_err(), "more ports");
}

#[test]
fn frames_in_cells_leave_in_cells() {
    let cells = |bytes| SwitchConfig { cell: Bytes::new(bytes), ..config() };
    let mut switch = Switch::new(native(&cells(208)));
    native(&cells(256)).load(&mut &saved(&switch.memory)[..]).expect("nothing is stored");
    switch.step((0, 1, 0, 1_000, true));
    assert!(native(&cells(256)).load(&mut &saved(&switch.memory)[..]).is_err());
}
