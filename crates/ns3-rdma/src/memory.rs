//! The memory of a switch: admission, release, and the thresholds of pauses.
//!
//! All constants are those that the simulator has built in. Counters have its 32 bits; those of a
//! queue do not count the packet on the wire.

use crate::port::SwitchPort;

/// Bytes of a cell.
const CELL: u32 = 1_030;
/// All memory.
const TOTAL: u32 = 9_000_000;
/// The part that is shared without headroom.
const SHARED: u32 = 4_000 * CELL;
/// What each port and each class of it has for itself, at ingress; what each queue has at egress.
const RESERVED: u32 = CELL;
/// What a class of a port may take after its sender was asked to pause.
const HEADROOM: u32 = 100 * CELL;
/// The share of free memory that a class may use before it pauses its sender.
const ALPHA: f64 = 16.0;
/// Static thresholds of a port: pause above, resume below.
const PORT_OFF_ON: (u32, u32) = (4_800 * CELL, 4_700 * CELL);

/// The rules that a configuration and a branch select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Whether they depend on the free memory.
    pub(crate) dynamic: bool,
    /// Static thresholds of a class of a port: pause above, resume below.
    pub(crate) class: (u32, u32),
}

impl Thresholds {
    /// Those of the branch `master`.
    pub(crate) const fn master(dynamic: bool) -> Self {
        Self { dynamic, class: (20 * CELL, 18 * CELL) }
    }

    /// Those of the branch `timely`.
    pub(crate) const fn timely(dynamic: bool) -> Self {
        Self { dynamic, class: (40 * CELL, 38 * CELL) }
    }
}

/// What a switch counts for all its ports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pools {
    total: u32,
    /// By pool.
    ingress: [u32; 2],
    egress: [u32; 2],
}

/// The pool of a class: acknowledgements have their own.
#[inline]
const fn pool_of(class: u8) -> usize {
    (class == 1) as usize
}

/// Stores a packet of `bytes` that came in by `from` and goes out by `to`; false if there is no
/// room.
#[inline]
pub(crate) fn admit(
    pools: &mut Pools,
    ports: &mut [SwitchPort],
    (from, to): (u32, u32),
    class: u8,
    bytes: u32,
) -> bool {
    let (pool, class) = (pool_of(class), class as usize);
    let ingress = &ports[from as usize].ingress;
    let egress = &ports[to as usize].egress;
    if pools.total + bytes > TOTAL
        || (ingress.classes[class] + bytes > RESERVED
            && ingress.bytes + bytes > RESERVED
            && pools.ingress[pool] > SHARED
            && ingress.headroom[class] + bytes > HEADROOM)
        || pools.egress[pool] + bytes > TOTAL
        || egress.bytes + bytes > TOTAL
        || egress.shared[class] + bytes > TOTAL
    {
        return false;
    }
    pools.total += bytes;
    pools.ingress[pool] += bytes;
    let ingress = &mut ports[from as usize].ingress;
    ingress.bytes += bytes;
    ingress.classes[class] += bytes;
    if pools.ingress[pool] > SHARED {
        ingress.headroom[class] += bytes;
    }
    let egress = &mut ports[to as usize].egress;
    let reserved = egress.reserved[class].wrapping_add(bytes);
    if reserved < RESERVED {
        egress.reserved[class] = reserved;
    } else {
        egress.shared[class] += bytes;
        egress.bytes += bytes;
        pools.egress[pool] += bytes;
        refill(pools, ports, to, (pool, class));
    }
    true
}

/// Takes a packet of `bytes` out, as its transmission starts.
#[inline]
pub(crate) fn release(
    pools: &mut Pools,
    ports: &mut [SwitchPort],
    (from, to): (u32, u32),
    class: u8,
    bytes: u32,
) {
    let (pool, class) = (pool_of(class), class as usize);
    pools.total -= bytes;
    pools.ingress[pool] -= bytes;
    let ingress = &mut ports[from as usize].ingress;
    ingress.bytes -= bytes;
    ingress.classes[class] -= bytes;
    ingress.headroom[class] = ingress.headroom[class].saturating_sub(bytes);
    let egress = &mut ports[to as usize].egress;
    if egress.shared[class] >= bytes {
        egress.shared[class] -= bytes;
        egress.bytes -= bytes;
        pools.egress[pool] -= bytes;
    } else {
        // The counter wraps as the simulator's does.
        egress.reserved[class] = egress.reserved[class].wrapping_sub(bytes);
        refill(pools, ports, to, (pool, class));
    }
}

/// Moves bytes of a queue from the shared memory into what the queue has for itself.
#[inline]
fn refill(pools: &mut Pools, ports: &mut [SwitchPort], to: u32, (pool, class): (usize, usize)) {
    let egress = &mut ports[to as usize].egress;
    if egress.reserved[class] < RESERVED && egress.shared[class] > RESERVED {
        let moved = RESERVED - egress.reserved[class];
        egress.shared[class] -= moved;
        egress.bytes -= moved;
        pools.egress[pool] -= moved;
        egress.reserved[class] = RESERVED;
    }
}

/// The classes (as bits) that the sender at port `from` is asked to pause after a packet of `class`.
#[inline]
pub(crate) fn classes_to_pause(
    thresholds: Thresholds,
    pools: &Pools,
    from: &SwitchPort,
    class: u8,
) -> u8 {
    let ingress = &from.ingress;
    if thresholds.dynamic {
        let free = ALPHA * (f64::from(SHARED) - f64::from(pools.ingress[pool_of(class)]));
        let is_above =
            |bytes: u32| bytes > 2 * RESERVED && f64::from(bytes) - f64::from(2 * RESERVED) > free;
        let classes = ingress.classes.iter().enumerate();
        return classes.fold(0, |set, (class, &bytes)| set | u8::from(is_above(bytes)) << class);
    }
    if ingress.bytes > PORT_OFF_ON.0 {
        return u8::MAX;
    }
    u8::from(ingress.classes[class as usize] > thresholds.class.0) << class
}

/// Whether the sender at port `from` may go on with `class`.
#[inline]
pub(crate) fn may_resume(
    thresholds: Thresholds,
    pools: &Pools,
    from: &SwitchPort,
    class: u8,
) -> bool {
    /// The simulator forgets a unit here: 16 bytes.
    const OFFSET: f64 = 16.0;
    let ingress = &from.ingress;
    let bytes = ingress.classes[class as usize];
    if thresholds.dynamic {
        let used = f64::from(pools.ingress[pool_of(class)]);
        let free = ALPHA * (f64::from(SHARED) - used - OFFSET);
        return f64::from(bytes) - f64::from(2 * RESERVED) < free;
    }
    bytes < thresholds.class.1 && ingress.bytes < PORT_OFF_ON.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports() -> (Pools, Vec<SwitchPort>) {
        (Pools::default(), (0..2).map(|_| SwitchPort::default()).collect())
    }

    #[test]
    fn a_queue_counts_what_is_above_its_own_1030_bytes() {
        let (mut pools, mut ports) = ports();
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1_020));
        assert_eq!((ports[1].egress.reserved[3], ports[1].egress.shared[3]), (1_020, 0));
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1_020));
        // It moves no more than it needs to above 1030.
        assert_eq!((ports[1].egress.reserved[3], ports[1].egress.shared[3]), (1_020, 1_020));
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1_020));
        assert_eq!((ports[1].egress.reserved[3], ports[1].egress.shared[3]), (1_030, 2_030));
        release(&mut pools, &mut ports, (0, 1), 3, 1_020);
        assert_eq!((ports[1].egress.reserved[3], ports[1].egress.shared[3]), (1_030, 1_010));
        release(&mut pools, &mut ports, (0, 1), 3, 1_020);
        assert_eq!((ports[1].egress.reserved[3], ports[1].egress.shared[3]), (10, 1_010));
        assert_eq!((ports[0].ingress.bytes, pools.total), (1_020, 1_020));
    }

    #[test]
    fn static_thresholds_stop_at_20_cells_and_go_on_below_18() {
        let (mut pools, mut ports) = ports();
        let rules = Thresholds::master(false);
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 20_600));
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 3), 0);
        assert!(!may_resume(rules, &pools, &ports[0], 3));
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1));
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 3), 1 << 3);
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 4), 0);
        assert_eq!(classes_to_pause(Thresholds::timely(false), &pools, &ports[0], 3), 0);
    }

    #[test]
    fn a_class_may_use_sixteen_times_the_free_memory() {
        let (mut pools, mut ports) = ports();
        let rules = Thresholds::master(true);
        // x - 2060 > 16 (4120000 - x) from x = 3877769 on.
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 3_877_768));
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 3), 0);
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1));
        // Of which class the packet was only says which pool counts.
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 4), 1 << 3);
        assert_eq!(classes_to_pause(rules, &pools, &ports[0], 1), 0);
    }

    #[test]
    fn headroom_ends_after_100_cells() {
        let (mut pools, mut ports) = ports();
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, SHARED));
        assert!(admit(&mut pools, &mut ports, (0, 1), 3, 1_000));
        let mut stored = 1;
        while admit(&mut pools, &mut ports, (0, 1), 3, 1_000) {
            stored += 1;
        }
        assert_eq!((stored, ports[0].ingress.headroom[3]), (103, 103_000));
    }
}
