//! Pacing follows the rate: a change moves the next departure, in either direction.

use std::sync::Arc;

use rocelab_transport::{Operation, QueuePairProfile, Standing};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use rocelab_wire::Opcode;

use crate::pair::{Departure, Fate, Pair, QPN, algorithm, ends, profile, work};

const LINE_RATE: Bandwidth = Bandwidth::from_gbps(100);

const fn at(us: u64) -> SimTime {
    SimTime::from_ps(us * 1_000_000)
}

/// Whether a departure is data of one message or another.
fn is_data(sent: &Departure) -> bool {
    sent.transmit.packet.opcode().has_payload() && sent.transmit.packet.opcode() != Opcode::Cnp
}

/// A pair that transfers `length` bytes, by WRITE or READ. Data is marked up to `marked_until`.
fn marked(parameters: &str, operation: Operation, length: u32, marked_until: SimTime) -> Pair {
    let congestion_control = algorithm("dcqcn", parameters);
    let mut pair = Pair::new(QueuePairProfile { congestion_control, ..profile() });
    pair.rule = Box::new(move |sent| {
        if is_data(sent) && sent.time < marked_until { Fate::Mark } else { Fate::Deliver }
    });
    pair.post(0, QPN, work(0, operation, length));
    pair
}

/// The longest time between two departures of data, and its end.
fn longest_gap(pair: &Pair) -> (Duration, SimTime) {
    let times: Vec<_> = pair.log.iter().filter(|sent| is_data(sent)).map(|one| one.time).collect();
    times.windows(2).map(|step| (step[1].since(step[0]), step[1])).max().unwrap()
}

/// The floor of 1 Mb/s makes a gap of 9 ms. The increase timer raises the rate to half of the line
/// rate 300 us after the last cut, and the gap ends then. The way is long, so that notifications come
/// in after the sender has slowed down.
#[test]
fn a_gap_ends_as_the_rate_rises() {
    for operation in [Operation::Write, Operation::Read] {
        let mut pair = marked("preset = \"nvidia\"", operation, 4_000_000, at(600));
        pair.latency = Duration::from_us(200);
        pair.drive();
        pair.assert_all_succeeded(0, 0..1);
        let (gap, end) = longest_gap(&pair);
        assert!(gap > Duration::from_us(300), "{operation:?}: the floor was not reached, {gap}");
        let cnps = pair.log.iter().filter(|sent| sent.transmit.packet.opcode() == Opcode::Cnp);
        let last_cnp = cnps.map(|sent| sent.time).max().unwrap() + pair.latency;
        let waited = end.since(last_cnp);
        assert!(waited < Duration::from_us(310), "{operation:?}: {waited} after the last CNP");
    }
}

/// Work that comes after a while finds the rate that the timers have raised meanwhile.
#[test]
fn an_idle_queue_pair_recovers() {
    for operation in [Operation::Write, Operation::Read] {
        let mut pair = marked("preset = \"nvidia\"", operation, 4_000_000, at(600));
        pair.latency = Duration::from_us(200);
        let sender = usize::from(operation == Operation::Read);
        // The last packet leaves at the floor: of another message, so that the first one ends.
        pair.drive_until(at(1_000));
        let slow = pair.nics[sender].queue_pair(QPN).unwrap().rate();
        assert!(slow < Bandwidth::from_mbps(100), "{operation:?}: {slow}");
        let Standing::MaySend(release) = pair.nics[sender].queue_pair(QPN).unwrap().standing()
        else {
            panic!("{operation:?}: it has more to send");
        };
        assert!(release > at(1_000), "{operation:?}: it waits for its credit");
        pair.drive();
        let done = pair.now;
        pair.now = done + Duration::from_ms(1);
        pair.post(0, QPN, work(1, operation, 1_000_000));
        pair.drive();
        pair.assert_all_succeeded(0, 0..2);
        let took = pair.now.since(done);
        assert!(took < Duration::from_us(1_800), "{operation:?}: {took}");
    }
}

/// Whatever an algorithm makes of its rate: at each instant the next packet waits for one packet time of
/// the present rate at the most, and then it leaves.
#[test]
fn the_next_departure_follows_the_present_rate() {
    let algorithms = [
        ("dcqcn", ""),
        ("dcqcn", "cnp_interval = \"2us\"\nrate_decrease_interval = \"2us\""),
        ("dcqcn", "preset = \"hpcc\""),
        ("dcqcn", "preset = \"nvidia\""),
        ("timely", ""),
        ("timely", "preset = \"hpcc\""),
        ("patched-timely", ""),
        ("swift", ""),
        ("dctcp", ""),
    ];
    for (name, parameters) in algorithms {
        for operation in [Operation::Write, Operation::Read] {
            let moved = follow(name, parameters, operation);
            // READ data is not acknowledged: only notifications tell of its congestion.
            let told = match operation {
                Operation::Read => name == "dcqcn",
                _ => name != "swift", // Its window alone does it here.
            };
            assert!(moved > 0 || !told, "{name} {parameters} {operation:?}: no rate changed");
        }
    }
}

/// Half of a gap at one rate, and half of one at another, make a gap: the rate that changes in the middle
/// of it moves its end, sooner and later.
#[test]
fn what_is_left_of_a_gap_passes_at_the_new_rate() {
    let parameters = "preset = \"nvidia\"\nmin_rate = \"1Mbps\"";
    for operation in [Operation::Write, Operation::Read] {
        // Every cut comes in a gap that the one before has made.
        let mut pair = marked(parameters, operation, 20_000_000, SimTime::NEVER);
        let [falls, _] = changes_within_gaps(&mut pair, operation, at(0), at(1_000));
        assert!(falls > 3, "{operation:?}: {falls}");
        // The gap at the floor is long enough for the increase timer.
        let mut pair = marked(parameters, operation, 4_000_000, at(600));
        pair.latency = Duration::from_us(200);
        let [_, rises] = changes_within_gaps(&mut pair, operation, at(700), at(1_500));
        assert!(rises > 0, "{operation:?}");
    }
}

/// How often the sender's rate fell and rose within a gap, seen at looks 10 ns apart; each time what is left of the
/// gap must pass at the new rate.
fn changes_within_gaps(
    pair: &mut Pair,
    operation: Operation,
    from: SimTime,
    until: SimTime,
) -> [u32; 2] {
    const STEP: u64 = 10_000;
    let sender = usize::from(operation == Operation::Read);
    let mut before: Option<(usize, Bandwidth, SimTime, SimTime)> = None;
    let mut moved = [0_u32; 2];
    for step in from.ps() / STEP..until.ps() / STEP {
        pair.drive_until(SimTime::from_ps(step * STEP));
        let queue_pair = pair.nics[sender].queue_pair(QPN).unwrap();
        let Standing::MaySend(release) = queue_pair.standing() else {
            before = None;
            continue;
        };
        let departures = pair.log.iter().filter(|sent| sent.side == sender && is_data(sent));
        let seen = (departures.count(), queue_pair.rate(), release, pair.now);
        if let Some((departures, rate, end, then)) = before
            && departures == seen.0
            && rate != seen.1
            && end > pair.now
        {
            // The rate changed between two looks.
            let passes = |left: Duration| {
                let bits = u128::from(left.ps()) * u128::from(rate.bits_per_second());
                u64::try_from(bits / u128::from(seen.1.bits_per_second())).unwrap()
            };
            let (least, most) = (passes(end.since(pair.now)), passes(end.since(then)));
            let left = release.since(pair.now).ps();
            let most = most.max(least) + 2 * STEP;
            let least = least.saturating_sub(2 * STEP);
            assert!((least..=most).contains(&left), "{operation:?} {least} {left} {most}");
            moved[usize::from(seen.1 > rate)] += 1;
        }
        before = Some(seen);
    }
    moved
}

/// Runs with random marks and delays in small steps. Returns how often the rate changed within a gap.
fn follow(name: &str, parameters: &str, operation: Operation) -> u32 {
    let congestion_control = algorithm(name, parameters);
    let profile = QueuePairProfile { congestion_control, ack_interval: 1, ..profile() };
    let mut pair = Pair::without_queue_pairs(LINE_RATE);
    pair.connect(ends(&Arc::new(profile), 0));
    let mut state = 1_u64;
    pair.rule = Box::new(move |sent| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let congested = sent.time.ps() / 50_000_000 % 2 == 0;
        match state >> 61 {
            0..3 if congested && is_data(sent) => Fate::Mark,
            _ => Fate::Deliver,
        }
    });
    pair.post(0, QPN, work(0, operation, 20_000_000));
    let side = usize::from(operation == Operation::Read);
    let (mut moved, mut seen) = (0, None);
    let (mut fastest, mut before) = (LINE_RATE, LINE_RATE);
    for step in 1..40_000_u64 {
        // The delay of the wire varies, for algorithms that measure it.
        pair.latency = Duration::from_us([1, 30, 300, 60][(step / 2_000 % 4) as usize]);
        pair.drive_until(SimTime::from_ps(step * 25_000));
        let Some(last) = pair.log.iter().rfind(|sent| sent.side == side && is_data(sent)) else {
            continue;
        };
        let queue_pair = pair.nics[side].queue_pair(QPN).unwrap();
        let rate = queue_pair.rate();
        moved += u32::from(seen.is_some_and(|(time, old)| time == last.time && old != rate));
        // Since the look before the last departure.
        let is_same_gap = seen.is_some_and(|(time, _)| time == last.time);
        fastest = rate.max(if is_same_gap { fastest } else { before });
        before = rate;
        seen = Some((last.time, rate));
        let Standing::MaySend(release) = queue_pair.standing() else { continue };
        let frame = Bytes::new(u64::from(last.transmit.frame_len) + 20);
        let what = format!("{name} {parameters} {operation:?} at {}", pair.now);
        // What is left of the gap is not more than a whole one at the present rate, and some rounding.
        let left = release.since(pair.now);
        assert!(
            left <= rate.transmission_time(frame) + Duration::from_ns(1),
            "{what}: {left} left"
        );
        // Nor is the whole gap shorter than one at the highest rate meanwhile.
        if fastest < LINE_RATE {
            let gap = release.since(last.time) + Duration::from_ns(1);
            assert!(gap >= fastest.transmission_time(frame), "{what}: {gap}, too early");
        }
        let due = release.max(last.time + LINE_RATE.transmission_time(frame));
        assert!(due >= pair.now, "{what}: due {due}");
    }
    moved
}
