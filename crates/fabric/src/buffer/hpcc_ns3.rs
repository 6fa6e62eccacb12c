//! The memory of a switch in HPCC's ns-3 simulator.

use rocelab_state::{State, load_value, save_value};
use rocelab_units::{Bandwidth, Bytes, Duration};

use super::by_egress::HeldByEgress;
use super::in_use::{InUse, within};
use super::{
    Admission, Arrival, BufferError, BufferPolicy, Departure, DropReason, MemoryParts, Occupancy,
    PauseThresholds,
};

/// Bytes that each ingress port and class may store before it uses the shared part.
const RESERVE: u32 = 4_096;
/// How far below the threshold an ingress class falls before its sender resumes, in bytes.
const RESUME_OFFSET: u32 = 3_072;
/// A port at the rate of the NICs may hold 2^-3 of the free shared part.
const SHIFT_AT_NIC_RATE: u8 = 3;
/// The largest memory in bytes: the count still fits in 32 bits with one more frame on top.
const MAX_BUFFER: u64 = u32::MAX as u64 - u16::MAX as u64;

/// The properties of a port that decide its share of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HpccNs3Port {
    /// The rate of its link.
    pub rate: Bandwidth,
    /// The propagation delay of its link; fractions of a nanosecond are ignored.
    pub delay: Duration,
}

/// Shared-buffer accounting by ingress port and class in HPCC's ns-3 simulator.
///
/// Of the memory, each port has a reserve of 4,096 bytes and a headroom of three times what its
/// link holds; all classes of a port count against both on their own. The rest is shared: beyond
/// its reserve, a class may hold an eighth of what is free of it, and more on ports faster than the
/// NICs (a quarter at twice their rate, half at four times). A class that would hold more fills its
/// headroom. It pauses its sender when it has reached its threshold or uses its headroom, and
/// lets it go on with an empty headroom, 3,072 bytes below the threshold. Only what fits neither
/// below the threshold nor into the headroom is dropped.
///
/// Class 0 is flow control's own and not accounted for.
#[derive(Clone, Debug)]
pub struct HpccNs3Buffer {
    /// By ingress port x 8 + class.
    ingress: Vec<IngressClass>,
    /// Size of the shared part in bytes.
    available: u32,
    /// Bytes in use of the shared part, at most `available`.
    shared: u32,
    by_egress: HeldByEgress,
}

/// An ingress port and class, in 16 bytes.
#[derive(Clone, Copy, Debug)]
struct IngressClass {
    /// Bytes in the reserve and in the shared part.
    held: u32,
    headroom_used: u32,
    headroom: u32,
    /// The threshold is the free shared part, shifted right by this.
    shift: u8,
    paused: bool,
    /// Whether `by_egress` tracks it.
    followed: bool,
}

rocelab_state::state!(IngressClass {
    values: held, headroom_used, paused, followed;
    kept: headroom, shift
});

impl State for HpccNs3Buffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        self.ingress.save(to)?;
        save_value(&self.by_egress, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.ingress.load(from)?;
        self.by_egress = load_value(from)?;
        let mut used = InUse::default();
        self.ingress.iter().for_each(|class| used.store(class.held, RESERVE));
        self.shared = within(used.shared, self.available)?;
        Ok(())
    }
}

impl IngressClass {
    /// Bytes that it holds in the shared part.
    #[inline]
    fn beyond_reserve(&self) -> u32 {
        self.held.saturating_sub(RESERVE)
    }
}

impl HpccNs3Buffer {
    /// The empty memory of `total_bytes` of a switch with these `ports`, in a network whose NICs
    /// send at `nic_rate`.
    ///
    /// All is counted in 32 bits, as in the simulator: if headroom and reserves are more than the
    /// memory, the shared part wraps around to some 4 GB, and nothing is paused or dropped.
    ///
    /// # Errors
    /// [`BufferError::TooLarge`] if the memory does not count in 32 bits.
    pub fn new(
        total_bytes: u64,
        ports: &[HpccNs3Port],
        nic_rate: Bandwidth,
    ) -> Result<Self, BufferError> {
        let total = Bytes::new(total_bytes);
        let Some(whole) = u32::try_from(total_bytes).ok().filter(|_| total_bytes <= MAX_BUFFER)
        else {
            return Err(BufferError::TooLarge { total });
        };
        let headrooms: Vec<u32> = ports.iter().map(headroom).collect();
        let kept = headrooms
            .iter()
            .fold(0u32, |sum, &bytes| sum.wrapping_add(bytes).wrapping_add(RESERVE));
        let class = |(port, &headroom): (&HpccNs3Port, &u32)| IngressClass {
            held: 0,
            headroom_used: 0,
            headroom,
            shift: shift(port.rate, nic_rate),
            paused: false,
            followed: false,
        };
        let classes = ports.iter().zip(&headrooms).map(class);
        let ingress = classes.flat_map(|class| [class; 8]).collect();
        let available = whole.wrapping_sub(kept);
        Ok(Self { ingress, available, shared: 0, by_egress: HeldByEgress::default() })
    }

    /// Whether an ingress port's class has asked its sender to pause.
    pub fn is_paused(&self, ingress: u16, priority: u8) -> bool {
        self.ingress[index(ingress, priority)].paused
    }

    /// Bytes that an ingress port's class may hold beyond its reserve now.
    #[inline]
    fn threshold(&self, class: &IngressClass) -> u32 {
        (self.available - self.shared) >> class.shift
    }
}

impl BufferPolicy for HpccNs3Buffer {
    #[inline]
    fn admit(&mut self, arrival: Arrival) -> Admission {
        let Arrival { ingress, egress, priority, len, .. } = arrival;
        if priority == 0 {
            return Admission::Stored;
        }
        let index = index(ingress, priority);
        let mut class = self.ingress[index];
        let threshold = self.threshold(&class);
        if len + class.headroom_used > class.headroom && len + class.beyond_reserve() > threshold {
            let (used, limit) = (class.headroom_used, class.headroom);
            return Admission::Dropped(DropReason::HeadroomExceeded { used, len, limit });
        }
        let beyond_reserve = (class.held + len).saturating_sub(RESERVE);
        if beyond_reserve > threshold {
            class.headroom_used += len;
        } else {
            class.held += len;
            self.shared += len.min(beyond_reserve);
        }
        let crossed = class.headroom_used > 0 || class.beyond_reserve() >= self.threshold(&class);
        let pauses = crossed && !class.paused;
        class.paused |= pauses;
        self.ingress[index] = class;
        if class.followed {
            self.by_egress.add(index, egress, len);
        }
        if pauses { Admission::StoredAndPause } else { Admission::Stored }
    }

    #[inline]
    fn release(&mut self, departure: Departure) -> bool {
        let Departure { ingress, egress, priority, len } = departure;
        if priority == 0 {
            return false;
        }
        let index = index(ingress, priority);
        let mut class = self.ingress[index];
        let from_headroom = len.min(class.headroom_used);
        let from_held = len - from_headroom;
        self.shared -= from_held.min(class.beyond_reserve());
        class.headroom_used -= from_headroom;
        class.held -= from_held;
        let shared = class.beyond_reserve();
        let below = shared == 0 || shared + RESUME_OFFSET <= self.threshold(&class);
        let resumes = class.paused && class.headroom_used == 0 && below;
        class.paused &= !resumes;
        self.ingress[index] = class;
        if class.followed {
            self.by_egress.remove(index, egress, len);
        }
        resumes
    }

    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]> {
        self.by_egress.of(index(ingress, priority))
    }

    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>) {
        let place = index(ingress, priority);
        self.ingress[place].followed = true;
        self.by_egress.follow(place, held);
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        let class = &self.ingress[index(ingress, priority)];
        class.held + class.headroom_used
    }

    fn forget_egress(&mut self, egress: u16) {
        self.by_egress.forget(egress);
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        let class = &self.ingress[index(ingress, priority)];
        let threshold = u64::from(self.threshold(class));
        let (reserve, offset) = (u64::from(RESERVE), u64::from(RESUME_OFFSET));
        // Within the reserve a class may always go on.
        let xon = threshold.saturating_sub(offset) + reserve;
        Occupancy {
            stored: class.held,
            headroom: class.headroom_used,
            headroom_limit: class.headroom,
            thresholds: (priority != 0)
                .then_some(PauseThresholds { xoff: threshold + reserve, xon }),
        }
    }

    fn in_use(&self) -> MemoryParts {
        let headroom = self.ingress.iter().map(|class| u64::from(class.headroom_used)).sum();
        MemoryParts { shared: self.shared.into(), headroom }
    }

    fn sizes(&self) -> MemoryParts {
        // Each class of a port may use a headroom of its own, though the memory has room for one a port.
        let headroom = self.ingress.iter().step_by(8).map(|class| u64::from(class.headroom)).sum();
        MemoryParts { shared: self.available.into(), headroom }
    }

    fn stored(&self) -> u64 {
        let bytes = |class: &IngressClass| u64::from(class.held) + u64::from(class.headroom_used);
        self.ingress.iter().map(bytes).sum()
    }
}

/// The headroom of a port in bytes: three times what its link holds in one direction.
#[expect(clippy::cast_possible_truncation, reason = "it wraps in the simulator too")]
fn headroom(port: &HpccNs3Port) -> u32 {
    let bits_per_second = u128::from(port.rate.bits_per_second());
    let delay_ns = u128::from(port.delay.ps() / 1_000);
    let on_the_link = bits_per_second * delay_ns / 8 / 1_000_000_000;
    (on_the_link * 3) as u32
}

/// How far a port's threshold is shifted: one less for each time that its rate can be halved and
/// was still above that of the NICs.
fn shift(rate: Bandwidth, nic_rate: Bandwidth) -> u8 {
    let (mut rate, mut shift) = (rate.bits_per_second(), SHIFT_AT_NIC_RATE);
    while rate > nic_rate.bits_per_second() && shift > 0 {
        shift -= 1;
        rate /= 2;
    }
    shift
}

#[inline]
fn index(ingress: u16, priority: u8) -> usize {
    usize::from(ingress) * 8 + usize::from(priority)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn port(gbps: u64) -> HpccNs3Port {
        HpccNs3Port { rate: Bandwidth::from_gbps(gbps), delay: Duration::from_us(1) }
    }

    /// Two ports at 100 Gbit/s and 1 us with headroom 37,500 bytes each, and a shared part of
    /// `to_share` bytes.
    fn buffer(to_share: u64) -> HpccNs3Buffer {
        let total = 2 * (37_500 + 4_096) + to_share;
        HpccNs3Buffer::new(total, &[port(100); 2], Bandwidth::from_gbps(100))
            .expect("there is something to share")
    }

    fn arrive(buffer: &mut HpccNs3Buffer, len: u32) -> Admission {
        buffer.admit(Arrival { ingress: 0, egress: 0, priority: 3, len, egress_queue: 0 })
    }

    fn depart(buffer: &mut HpccNs3Buffer, len: u32) -> bool {
        buffer.release(Departure { ingress: 0, egress: 0, priority: 3, len })
    }

    /// Of port 0 and class 3: bytes in reserve and shared part, bytes in the headroom; then the use
    /// of the shared part.
    fn state(buffer: &HpccNs3Buffer) -> (u32, u32, u32) {
        let class = &buffer.ingress[3];
        (class.held, class.headroom_used, buffer.shared)
    }

    #[test]
    fn headroom_and_shift_follow_the_ports_rate() {
        assert_eq!(headroom(&port(100)), 37_500);
        let odd = HpccNs3Port { rate: Bandwidth::from_gbps(25), delay: Duration::from_ps(599_999) };
        // 25e9 x 599 / 8 = 1,871,875,000,000: 1,871 bytes.
        assert_eq!(headroom(&odd), 3 * 1_871);
        let nic = Bandwidth::from_gbps(100);
        let shifts = [50, 100, 101, 200, 201, 400, 800, 1600]
            .map(|gbps| shift(Bandwidth::from_gbps(gbps), nic));
        assert_eq!(shifts, [3, 3, 2, 2, 1, 1, 0, 0]);
    }

    #[test]
    fn the_reserve_comes_first_and_only_what_is_beyond_it_is_shared() {
        let mut buffer = buffer(80_000);
        for _ in 0..4 {
            assert_eq!(arrive(&mut buffer, 1_000), Admission::Stored);
        }
        assert_eq!(state(&buffer), (4_000, 0, 0));
        // 5,000 - 4,096 are shared, then all of each packet.
        arrive(&mut buffer, 1_000);
        assert_eq!(state(&buffer), (5_000, 0, 904));
        arrive(&mut buffer, 1_000);
        assert_eq!(state(&buffer), (6_000, 0, 1_904));
        depart(&mut buffer, 1_000);
        depart(&mut buffer, 1_000);
        assert_eq!(state(&buffer), (4_000, 0, 0));
    }

    #[test]
    fn a_class_pauses_at_its_threshold_and_resumes_well_below() {
        let mut buffer = buffer(80_000);
        // With X bytes shared by this class alone, the threshold is (80,000 - X) / 8. Of packets of
        // 1,000 bytes, 12 make X = 7,904 and a threshold of 9,012; 13: 8,904 and 8,887.
        for _ in 0..12 {
            assert_eq!(arrive(&mut buffer, 1_000), Admission::Stored);
        }
        assert_eq!(arrive(&mut buffer, 1_000), Admission::StoredAndPause);
        assert_eq!(state(&buffer), (13_000, 0, 8_904));
        assert!(buffer.is_paused(0, 3) && !buffer.is_paused(1, 3));
        // 14,000 - 4,096 are above the threshold of 8,887: into the headroom, which is asked for
        // once only.
        assert_eq!(arrive(&mut buffer, 1_000), Admission::Stored);
        assert_eq!(state(&buffer), (13_000, 1_000, 8_904));
        // The headroom empties first; then X + 3,072 <= (80,000 - X) / 8 holds from X = 6,157 on:
        // at 5,904, after three more.
        let resumed: Vec<_> = (0..14).filter(|_| depart(&mut buffer, 1_000)).collect();
        assert_eq!(resumed, [3]);
        assert_eq!((state(&buffer), buffer.stored()), ((0, 0, 0), 0));
    }

    #[test]
    fn only_what_fits_nowhere_is_dropped() {
        let mut buffer = buffer(80_000);
        for _ in 0..13 + 37 {
            assert!(!matches!(arrive(&mut buffer, 1_000), Admission::Dropped(_)));
        }
        assert_eq!(state(&buffer), (13_000, 37_000, 8_904));
        let reason = DropReason::HeadroomExceeded { used: 37_000, len: 1_000, limit: 37_500 };
        assert_eq!(arrive(&mut buffer, 1_000), Admission::Dropped(reason));
        assert_eq!(arrive(&mut buffer, 500), Admission::Stored);
        assert_eq!(buffer.stored(), 50_500);
    }

    #[test]
    fn with_a_full_headroom_a_packet_below_the_threshold_is_stored() {
        let mut buffer = buffer(80_000);
        let far = Arrival { ingress: 1, egress: 0, priority: 3, len: 13_000, egress_queue: 0 };
        buffer.admit(far);
        // Port 1 shares 8,904. With X = 7,904 after 12 packets the threshold is 63,192 / 8 = 7,899,
        // so the next ones fill the headroom, and 100 bytes fit nowhere.
        for len in [[1_000; 49].as_slice(), &[500]].concat() {
            assert!(!matches!(arrive(&mut buffer, len), Admission::Dropped(_)));
        }
        assert_eq!(state(&buffer), (12_000, 37_500, 8_904 + 7_904));
        assert!(matches!(arrive(&mut buffer, 100), Admission::Dropped(_)));
        // 1,000 less of port 1 make the threshold 64,192 / 8 = 8,024, and 7,904 + 100 fit.
        buffer.release(Departure { ingress: 1, egress: 0, priority: 3, len: 1_000 });
        assert_eq!(arrive(&mut buffer, 100), Admission::Stored);
        assert_eq!(state(&buffer), (12_100, 37_500, 7_904 + 8_004));
    }

    #[test]
    fn a_class_that_holds_nothing_shared_resumes_whatever_the_threshold() {
        // Nothing to share: the threshold is 0, and every packet finds X = 0 >= 0.
        let mut buffer = buffer(0);
        assert_eq!(arrive(&mut buffer, 1_000), Admission::StoredAndPause);
        assert!(depart(&mut buffer, 1_000));
    }

    #[test]
    fn the_class_of_flow_control_is_not_accounted_for() {
        let mut buffer = buffer(0);
        let own = Arrival { ingress: 0, egress: 0, priority: 0, len: 43, egress_queue: 0 };
        assert_eq!(buffer.admit(own), Admission::Stored);
        assert_eq!(buffer.stored(), 0);
        assert!(!buffer.release(Departure { ingress: 0, egress: 0, priority: 0, len: 43 }));
    }

    #[test]
    fn a_memory_that_headroom_and_reserves_exceed_wraps_and_neither_pauses_nor_drops() {
        let nic = Bandwidth::from_gbps(100);
        // Two headrooms of 37,500 and two reserves are 83,192.
        let mut buffer = HpccNs3Buffer::new(83_191, &[port(100); 2], nic).expect("it wraps");
        assert_eq!(buffer.available, u32::MAX);
        for _ in 0..10_000 {
            let arrival =
                Arrival { ingress: 0, egress: 0, priority: 3, len: 1_048, egress_queue: 0 };
            assert_eq!(buffer.admit(arrival), Admission::Stored);
        }
        assert_eq!(buffer.stored(), 10_480_000);
        let error = HpccNs3Buffer::new(1 << 32, &[], nic).expect_err("2^32 wraps to 0");
        assert!(matches!(error, BufferError::TooLarge { .. }));
    }

    proptest! {
        /// What is stored is what was admitted and has not left, its shared part is the sum of what
        /// the classes hold beyond their reserves, and every pause ends.
        #[test]
        fn bytes_are_conserved(
            to_share in 0u64..60_000,
            steps in prop::collection::vec((0u16..3, 1u8..8, 1u32..5_000, any::<bool>()), 0..400),
        ) {
            let ports = [port(100), port(200), port(400)];
            let total = 37_500 * (1 + 2 + 4) + 3 * 4_096 + to_share;
            let nic = Bandwidth::from_gbps(100);
            let mut buffer = HpccNs3Buffer::new(total, &ports, nic).expect("it fits");
            let mut inside = Vec::new();
            for (ingress, priority, len, leaves) in steps {
                if leaves && !inside.is_empty() {
                    let (ingress, priority, len) = inside.remove(len as usize % inside.len());
                    buffer.release(Departure { ingress, egress: 0, priority, len });
                } else {
                    let arrival = Arrival { ingress, egress: 0, priority, len, egress_queue: 0 };
                    let before = buffer.stored();
                    match buffer.admit(arrival) {
                        Admission::Dropped(_) => prop_assert_eq!(buffer.stored(), before),
                        _ => inside.push((ingress, priority, len)),
                    }
                }
                let stored: u64 = inside.iter().map(|&(_, _, len)| u64::from(len)).sum();
                prop_assert_eq!(buffer.stored(), stored);
                let beyond: u32 = buffer.ingress.iter().map(IngressClass::beyond_reserve).sum();
                prop_assert_eq!(buffer.shared, beyond);
                prop_assert!(buffer.shared <= buffer.available);
            }
            for (ingress, priority, len) in inside {
                buffer.release(Departure { ingress, egress: 0, priority, len });
            }
            prop_assert!((0..3).all(|port| (1..8).all(|class| !buffer.is_paused(port, class))));
            prop_assert_eq!((buffer.stored(), buffer.shared), (0, 0));
        }
    }
}
