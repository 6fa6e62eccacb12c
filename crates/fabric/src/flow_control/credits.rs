//! Credit-based flow control of InfiniBand (IBTA 7.9.4): nobody sends what the other end has no room for.
//!
//! Room is counted in blocks of 64 bytes, by virtual lane, in counters of 12 bits. What the other end has room for
//! comes in flow control packets, which say up to which count of blocks may be sent.

use std::mem;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{DELIMITERS_LEN, FlowControlPacket, credit_blocks};

use super::{ControlFrame, FlowControl, LinkFrame};

/// Virtual lanes that carry data, at most. They take the places of the eight priorities.
pub const DATA_LANES: usize = 8;

/// Counters are modulo this.
const MODULUS: u16 = FlowControlPacket::COUNTER_VALUES;
/// The most that a lane is ever ahead, whatever memory there is (blocks).
const MOST_CREDITS: u16 = FlowControlPacket::MAX_CREDITS;
/// A packet with this operation is never sent: the link is gone.
const LINK_IS_DOWN: u8 = 0xf;

/// Number of blocks that a frame of `len` bytes takes, its two delimiters included.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "fewer blocks than bytes")]
pub const fn blocks_of(len: u32) -> u32 {
    let packet_len = len as usize - DELIMITERS_LEN;
    credit_blocks(packet_len) as u32
}

/// What a link with credits is like, at one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditConfig {
    /// The buffer of each lane at this end, in blocks of 64 bytes; 0 for lanes that are not used.
    pub buffer: [u16; DATA_LANES],
    /// The same of the other end.
    pub far_buffer: [u16; DATA_LANES],
    /// While data waits: the least time between two flow control packets of a lane.
    pub update_interval: Duration,
    /// Whether packets of the link may be lost: then what was told last is told again.
    pub is_lossy: bool,
    /// The time after which a flow control packet is repeated on such a link (65,536 symbol times).
    pub heartbeat: Duration,
}

/// What a lane of a port counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
struct Lane {
    /// `FCTBS`: blocks that have been sent since the link came up.
    sent: u16,
    /// `FCCL` as it came last: the count up to which blocks may be sent. None before the first one.
    limit: Option<u16>,
    /// `ABR`: blocks that have arrived since the link came up.
    received: u16,
    /// Blocks that are taken here.
    held: u16,
    /// `FCCL` as the other end was told last.
    told: Option<u16>,
    told_at: SimTime,
    /// The same is told again, on a link that may lose packets: the lane has been used.
    is_repeated: bool,
    /// When the time until that began.
    repeats_from: SimTime,
    /// A packet waits at this end that the lane has no credits for, since then.
    stalled_since: Option<SimTime>,
    /// The packet that is next was counted as one that waits.
    is_counted: bool,
}

/// What a port counts of credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct CreditCounts {
    /// Flow control packets that were sent.
    pub updates: u64,
    /// Number of times that a packet was next in its lane and there were no credits for it.
    pub waits: u64,
}

/// What the two ends of a link know of one lane of a direction. Where they know the same, nothing is under way, and nothing
/// is to be told: a sender that waits goes on only once the other end frees some memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct LaneCounts {
    /// Blocks that were sent, or that arrived, since the link came up.
    pub blocks: u16,
    /// The count of blocks up to which may be sent.
    pub limit: Option<u16>,
}

/// A frame that is being sent, whose memory is at another port of its node until it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct LeavingFrame {
    /// The port of its node that it came in by.
    pub input: u16,
    /// Its priority, or lane.
    pub priority: u8,
    /// Bytes of it.
    pub len: u32,
}

/// Credits of both directions at one port.
#[derive(Clone, Debug)]
pub struct CreditControl {
    config: CreditConfig,
    lanes: [Lane; DATA_LANES],
    /// Bit v: a packet of lane v waits for credits.
    stalled: u8,
    /// Bit v: the packet of lane v that started last had waited for credits.
    waited: u8,
    /// Bit v: the other end is to be told of lane v.
    due: u8,
    /// The lane that the other end was told of last.
    last: u8,
    /// Time that lanes have waited for credits, summed over them.
    stalled_time: Duration,
    counts: CreditCounts,
    /// What is being sent, of a switch.
    leaving: Option<LeavingFrame>,
}

rocelab_state::state!(CreditControl {
    values: lanes, stalled, waited, due, last, stalled_time, counts, leaving;
    kept: config
});

impl CreditControl {
    /// The link is up, and both ends know of each other's buffers.
    pub fn new(config: CreditConfig) -> Self {
        let lane = |number: usize| Lane {
            limit: Some(config.far_buffer[number].min(MOST_CREDITS)),
            told: Some(config.buffer[number].min(MOST_CREDITS)),
            ..Lane::default()
        };
        Self {
            config,
            lanes: std::array::from_fn(lane),
            stalled: 0,
            waited: 0,
            due: 0,
            last: 0,
            stalled_time: Duration::ZERO,
            counts: CreditCounts::default(),
            leaving: None,
        }
    }

    /// The buffer of a lane here, in blocks of 64 bytes.
    pub fn buffer_of(&self, lane: u8) -> u16 {
        self.config.buffer.get(usize::from(lane)).copied().unwrap_or(0)
    }

    /// Blocks that a lane may send now.
    pub fn credits_of(&self, lane: u8) -> u16 {
        let Lane { sent, limit, .. } = self.lanes[usize::from(lane)];
        let ahead = limit.map_or(0, |limit| limit.wrapping_sub(sent) % MODULUS);
        if ahead <= MOST_CREDITS { ahead } else { 0 }
    }

    /// `FCCL`: the count of blocks up to which the other end may send.
    fn limit_to_tell(&self, lane: usize) -> u16 {
        let Lane { received, held, .. } = self.lanes[lane];
        let free = self.config.buffer[lane].saturating_sub(held).min(MOST_CREDITS);
        received.wrapping_add(free) % MODULUS
    }

    /// Has the other end told of the lane, if there is something to tell. Returns whether that is new.
    fn note_change(&mut self, lane: usize) -> bool {
        let (bit, before) = (1 << lane, self.due);
        if self.lanes[lane].told != Some(self.limit_to_tell(lane)) {
            self.due |= bit;
        }
        self.due != before
    }

    /// Bit v: the other end is to be told of lane v, and was not for `update_interval`.
    fn overdue(&self, now: SimTime) -> u8 {
        let is_old =
            |&lane: &usize| now.since(self.lanes[lane].told_at) >= self.config.update_interval;
        let old = (0..DATA_LANES).filter(is_old).fold(0, |mask, lane| mask | 1 << lane);
        self.due & old
    }

    /// Ends the wait of a lane.
    fn go_on(&mut self, now: SimTime, lane: usize) {
        self.stalled &= !(1 << lane);
        if let Some(since) = self.lanes[lane].stalled_since.take() {
            self.stalled_time += now.since(since);
        }
    }

    /// The lane to tell the other end of next: where some may go ahead of data, one of them.
    fn next_due(&self, now: SimTime) -> Option<usize> {
        let after = u32::from(self.last) + 1;
        let overdue = self.overdue(now);
        let among = if overdue == 0 { self.due } else { overdue };
        let turned = among.rotate_right(after % 8);
        (turned != 0).then(|| ((after + turned.trailing_zeros()) % 8) as usize)
    }

    /// When what was told of a lane is told again. One that is to be told of anyway waits for nothing.
    fn repeats_at(&self, number: usize) -> SimTime {
        let lane = &self.lanes[number];
        let again = lane.is_repeated && self.due & 1 << number == 0;
        if again { lane.repeats_from.saturating_add(self.config.heartbeat) } else { SimTime::NEVER }
    }
}

impl LinkFrame for FlowControlPacket {
    const NAME: &'static str = "flow-control";
    #[expect(clippy::cast_possible_truncation, reason = "8")]
    const WIRE_LEN: u16 = (Self::LEN + DELIMITERS_LEN) as u16;

    fn quanta_of(&self, _priority: u8) -> Option<u16> {
        None
    }

    /// It may be what a lane waits for.
    fn resumes(&self) -> u8 {
        1_u8.checked_shl(self.vl.into()).unwrap_or(0)
    }
}

impl FlowControl for CreditControl {
    const COUNTS_FRAMES: bool = true;

    fn counts_frames(&self) -> bool {
        true
    }

    fn credit_counts(&self) -> CreditCounts {
        self.counts
    }

    /// Credits take the place of requests.
    fn request_pause(&mut self, _priority: u8) {}

    fn request_resume(&mut self, _priority: u8) {}

    /// Lanes that hold something here: the other end may wait for that.
    fn pausing(&self) -> u8 {
        let holds = |&lane: &usize| self.lanes[lane].held > 0;
        (0..DATA_LANES).filter(holds).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// The link came up again: nothing is on it, and both ends count from zero.
    fn restart(&mut self) -> u8 {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            let Lane { held, told_at, .. } = *lane;
            *lane = Lane { held, told_at, ..Lane::default() };
            if self.config.buffer[number] > 0 {
                lane.is_repeated = true;
                self.due |= 1 << number;
            }
        }
        self.stalled = 0;
        0
    }

    fn is_pending(&self) -> bool {
        self.due != 0
    }

    fn pending_bytes(&self) -> u32 {
        self.due.count_ones() * u32::from(FlowControlPacket::WIRE_LEN)
    }

    fn may_precede_data(&self, now: SimTime) -> bool {
        self.overdue(now) != 0
    }

    fn take_frame(&mut self, now: SimTime, _quantum: Duration) -> Option<ControlFrame> {
        let lane = self.next_due(now)?;
        let limit = self.limit_to_tell(lane);
        let state = &mut self.lanes[lane];
        let is_first = state.told.is_none();
        state.is_repeated = true;
        (state.told, state.told_at, state.repeats_from) = (Some(limit), now, now);
        self.due &= !(1 << lane);
        let [number, ..] = lane.to_le_bytes();
        self.last = number;
        self.counts.updates += 1;
        let op = if is_first { FlowControlPacket::OP_INIT } else { FlowControlPacket::OP_NORMAL };
        Some(FlowControlPacket::new(op, number, state.sent, limit).into())
    }

    fn end_of_pauses(&self) -> ControlFrame {
        FlowControlPacket::new(LINK_IS_DOWN, 0, 0, 0).into()
    }

    fn receive(&mut self, now: SimTime, frame: &ControlFrame, _quantum: Duration) {
        let ControlFrame::Credits(packet) = frame else { return };
        if packet.op == LINK_IS_DOWN {
            (0..DATA_LANES).for_each(|lane| self.go_on(now, lane));
            return;
        }
        let number = usize::from(packet.vl);
        let Some(lane) = self.lanes.get_mut(number) else { return };
        lane.limit = Some(packet.fccl);
        // Blocks that were lost on the way count as arrived.
        lane.received = packet.fctbs;
        self.go_on(now, number);
        self.note_change(number);
    }

    fn paused(&self) -> u8 {
        self.stalled
    }

    fn paused_since(&self, priority: u8) -> Option<SimTime> {
        self.lanes[usize::from(priority)].stalled_since
    }

    fn paused_time(&self, now: SimTime) -> Duration {
        let waits = self.lanes.iter().filter_map(|lane| lane.stalled_since);
        waits.fold(self.stalled_time, |sum, since| sum + now.since(since))
    }

    fn poll_timeout(&self) -> SimTime {
        if !self.config.is_lossy {
            return SimTime::NEVER;
        }
        (0..DATA_LANES).map(|lane| self.repeats_at(lane)).min().unwrap_or(SimTime::NEVER)
    }

    fn handle_timeout(&mut self, now: SimTime) {
        for number in 0..DATA_LANES {
            if self.config.is_lossy && self.repeats_at(number) <= now {
                self.due |= 1 << number;
            }
        }
    }

    fn may_start(&self, priority: u8, len: u32) -> bool {
        blocks_of(len) <= u32::from(self.credits_of(priority))
    }

    fn bytes_ahead(&self, priority: u8) -> u32 {
        let most = self.config.far_buffer[usize::from(priority)].min(MOST_CREDITS);
        u32::from(most.saturating_sub(self.credits_of(priority))) * 64
    }

    fn is_short_of_credits(&self, priority: u8, len: u32) -> bool {
        self.waited & 1 << priority != 0 || !self.may_start(priority, len)
    }

    fn hold(&mut self, now: SimTime, priority: u8) {
        self.stalled |= 1 << priority;
        let lane = &mut self.lanes[usize::from(priority)];
        lane.stalled_since.get_or_insert(now);
        // Credits may come that are too few: the packet still waits.
        self.counts.waits += u64::from(!mem::replace(&mut lane.is_counted, true));
    }

    fn on_started(&mut self, now: SimTime, priority: u8, len: u32) {
        let lane = &mut self.lanes[usize::from(priority)];
        lane.sent = lane.sent.wrapping_add(counted_blocks_of(len)) % MODULUS;
        let has_waited = mem::take(&mut lane.is_counted);
        self.waited = self.waited & !(1 << priority) | u8::from(has_waited) << priority;
        if self.config.is_lossy {
            // The other end may not hear of these blocks otherwise.
            if !mem::replace(&mut lane.is_repeated, true) {
                lane.repeats_from = now;
            }
        }
    }

    /// A buffer of more blocks than a lane may have ahead has room for as many again.
    fn on_arrived(&mut self, priority: u8, len: u32) -> bool {
        let number = usize::from(priority);
        let lane = &mut self.lanes[number];
        lane.received = lane.received.wrapping_add(counted_blocks_of(len)) % MODULUS;
        lane.held = lane.held.saturating_add(counted_blocks_of(len));
        self.note_change(number)
    }

    fn set_leaving(&mut self, frame: Option<LeavingFrame>) -> Option<LeavingFrame> {
        mem::replace(&mut self.leaving, frame)
    }

    fn leaving(&self) -> Option<LeavingFrame> {
        self.leaving
    }

    fn sent_counts(&self, priority: u8) -> LaneCounts {
        let lane = &self.lanes[usize::from(priority)];
        LaneCounts { blocks: lane.sent, limit: lane.limit }
    }

    fn received_counts(&self, priority: u8) -> LaneCounts {
        let number = usize::from(priority);
        LaneCounts { blocks: self.lanes[number].received, limit: Some(self.limit_to_tell(number)) }
    }

    fn on_freed(&mut self, priority: u8, len: u32) {
        let lane = usize::from(priority);
        self.lanes[lane].held = self.lanes[lane].held.saturating_sub(counted_blocks_of(len));
        self.note_change(lane);
    }
}

/// Blocks of a frame, as counters count them.
pub(crate) fn counted_blocks_of(len: u32) -> u16 {
    u16::try_from(blocks_of(len)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Duration = Duration::from_ps(5_120);
    /// A packet of 4096 bytes of payload: 65 blocks.
    const LEN: u32 = 4124;

    fn control(blocks: u16) -> CreditControl {
        let mut buffer = [0; DATA_LANES];
        buffer[0] = blocks;
        CreditControl::new(CreditConfig {
            buffer,
            far_buffer: buffer,
            update_interval: Duration::from_ns(256),
            is_lossy: false,
            heartbeat: Duration::from_us(10),
        })
    }

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn a_packet_takes_whole_blocks() {
        assert_eq!([32, 66, 67, LEN, 2076].map(blocks_of), [1, 1, 2, 65, 33]);
    }

    #[test]
    fn a_packet_starts_only_with_credits_for_all_of_it() {
        let (mut here, mut there) = (control(100), control(100));
        assert!(here.may_start(0, LEN) && !here.may_start(1, 32), "lane 1 has no buffer");
        here.on_started(at(0), 0, LEN);
        assert_eq!((here.credits_of(0), here.may_start(0, LEN)), (35, false));
        here.hold(at(5), 0);
        there.on_arrived(0, LEN);
        assert_eq!((there.pausing(), there.is_pending()), (1, false));
        there.on_freed(0, LEN);
        let frame = there.take_frame(at(9), QUANTUM).expect("the room is told of");
        assert_eq!(frame, FlowControlPacket::new(0, 0, 0, 165).into());
        assert_eq!((here.paused(), here.paused_since(0)), (1, Some(at(5))));
        here.receive(at(25), &frame, QUANTUM);
        assert_eq!(
            (here.paused(), here.paused_time(at(99)).ps(), here.credits_of(0)),
            (0, 20, 100)
        );
    }

    #[test]
    fn a_packet_waits_once_however_many_credits_come_that_are_too_few() {
        let mut here = control(130);
        (0..2).for_each(|_| here.on_started(at(0), 0, LEN));
        for limit in [130, 140, 150] {
            here.hold(at(5), 0);
            here.receive(at(5), &FlowControlPacket::new(0, 0, 0, limit).into(), QUANTUM);
        }
        assert_eq!(here.credit_counts().waits, 1);
        here.receive(at(9), &FlowControlPacket::new(0, 0, 0, 195).into(), QUANTUM);
        here.on_started(at(0), 0, LEN);
        here.hold(at(9), 0);
        assert_eq!(here.credit_counts().waits, 2);
    }

    #[test]
    fn a_lane_is_short_of_credits_if_a_packet_waited_or_the_next_would() {
        let mut here = control(195);
        here.on_started(at(0), 0, LEN);
        assert!(!here.is_short_of_credits(0, LEN));
        here.on_started(at(1), 0, LEN);
        assert!(!here.is_short_of_credits(0, LEN), "there are credits for one more");
        here.on_started(at(2), 0, LEN);
        assert!(here.is_short_of_credits(0, LEN) && !here.may_start(0, LEN));
        here.hold(at(3), 0);
        here.receive(at(4), &FlowControlPacket::new(0, 0, 0, 195 + 130).into(), QUANTUM);
        here.on_started(at(4), 0, LEN);
        assert!(here.is_short_of_credits(0, LEN), "it had waited");
        here.receive(at(5), &FlowControlPacket::new(0, 0, 0, 195 + 260).into(), QUANTUM);
        here.on_started(at(5), 0, LEN);
        assert!(!here.is_short_of_credits(0, LEN));
    }

    #[test]
    fn no_more_than_half_of_the_counter_is_ever_ahead() {
        let mut here = control(4095);
        assert_eq!(here.credits_of(0), 2048);
        for _ in 0..31 {
            assert!(here.may_start(0, LEN));
            here.on_started(at(0), 0, LEN);
        }
        assert!(!here.may_start(0, LEN));
    }

    #[test]
    fn counters_go_round() {
        let (mut here, mut there) = (control(130), control(130));
        for step in 0..10_000 {
            assert!(here.may_start(0, LEN), "{step}");
            here.on_started(at(0), 0, LEN);
            there.on_arrived(0, LEN);
            there.on_freed(0, LEN);
            let frame = there.take_frame(at(step), QUANTUM).expect("it is due");
            here.receive(at(step), &frame, QUANTUM);
        }
        assert_eq!((here.credits_of(0), there.pausing()), (130, 0));
        assert_eq!(there.credit_counts().updates, 10_000);
    }

    #[test]
    fn what_was_lost_on_the_way_is_made_up_for() {
        let (mut here, mut there) = (control(130), control(130));
        here.on_started(at(0), 0, LEN); // It is lost.
        assert_eq!(here.credits_of(0), 65);
        here.on_arrived(0, LEN);
        here.on_freed(0, LEN);
        let frame = here.take_frame(at(1), QUANTUM).expect("it is due");
        there.receive(at(1), &frame, QUANTUM);
        let frame = there.take_frame(at(2), QUANTUM).expect("it hears of the loss");
        here.receive(at(2), &frame, QUANTUM);
        assert_eq!(here.credits_of(0), 130);
    }

    #[test]
    fn while_data_waits_a_lane_is_told_of_once_in_an_interval() {
        let mut there = control(200);
        for time in [300_000, 400_000] {
            there.on_arrived(0, LEN);
            there.on_freed(0, LEN);
            let is_early = time == 400_000;
            assert_eq!(there.may_precede_data(at(time)), !is_early);
            there.take_frame(at(time), QUANTUM).expect("it is due");
        }
        assert!(!there.is_pending());
    }

    #[test]
    fn a_link_that_comes_up_counts_from_zero() {
        let mut here = control(130);
        here.on_started(at(0), 0, LEN);
        here.on_arrived(0, LEN);
        here.restart();
        assert_eq!((here.credits_of(0), here.pausing()), (0, 1), "what is held is held");
        let frame = here.take_frame(at(7), QUANTUM).expect("it tells of its buffer");
        assert_eq!(frame, FlowControlPacket::new(FlowControlPacket::OP_INIT, 0, 0, 65).into());
    }

    #[test]
    fn a_lane_that_was_idle_waits_for_its_next_repetition_from_its_next_packet_on() {
        let mut here = control(130);
        here.config.is_lossy = true;
        here.on_started(at(50_000_000), 0, LEN);
        assert_eq!(here.poll_timeout(), at(60_000_000));
        here.on_started(at(55_000_000), 0, LEN);
        assert_eq!(here.poll_timeout(), at(60_000_000), "it is not put off");
    }

    #[test]
    fn on_a_lossy_link_the_same_is_told_again_and_again() {
        let mut here = control(130);
        here.config.is_lossy = true;
        assert_eq!(here.poll_timeout(), SimTime::NEVER, "the lane was never used");
        here.on_started(at(0), 0, LEN);
        // Whoever loses flow control packets for long hears of them at last.
        for told in 1..=1_000 {
            let now = here.poll_timeout();
            assert_eq!(now, at(told * 10_000_000));
            here.handle_timeout(now);
            here.take_frame(now, QUANTUM).expect("it is due");
        }
    }

    #[test]
    fn room_above_what_may_be_ahead_is_told_of_as_packets_arrive() {
        let (mut here, mut there) = (control(4095), control(4095));
        for time in 0..31 {
            here.on_started(at(time), 0, LEN);
            assert!(there.on_arrived(0, LEN) == (time == 0), "it is due from the first one on");
        }
        assert!(!here.may_start(0, LEN));
        let frame =
            there.take_frame(at(40), QUANTUM).expect("there is room for 2,048 blocks again");
        here.receive(at(50), &frame, QUANTUM);
        assert_eq!(here.credits_of(0), 2048);
        let mut small = control(2048);
        assert!(!small.on_arrived(0, LEN) && !small.is_pending(), "it has no more room");
    }

    #[test]
    fn a_lane_that_was_told_of_just_now_does_not_go_ahead_of_data_for_one_that_was_not() {
        let buffer = [130, 130, 0, 0, 0, 0, 0, 0];
        let mut here = control(130);
        (here.config.buffer, here.config.far_buffer) = (buffer, buffer);
        let free = |here: &mut CreditControl, lane: u8, time| {
            here.on_arrived(lane, LEN);
            here.on_freed(lane, LEN);
            here.may_precede_data(at(time))
        };
        assert!(free(&mut here, 1, 1_000_000));
        here.last = 1;
        here.take_frame(at(1_000_000), QUANTUM).expect("it is due");
        // Lane 1 is due again, and too early; so is lane 0, and it is not.
        here.last = 0;
        assert!(!free(&mut here, 1, 1_100_000) && free(&mut here, 0, 1_100_000));
        let Some(ControlFrame::Credits(packet)) = here.take_frame(at(1_100_000), QUANTUM) else {
            panic!("lane 0 is overdue")
        };
        assert_eq!((packet.vl, here.may_precede_data(at(1_100_000))), (0, false));
    }

    #[test]
    fn both_ends_know_the_same_once_nothing_is_under_way() {
        let (mut here, mut there) = (control(130), control(130));
        let known = |here: &CreditControl, there: &CreditControl| {
            here.sent_counts(0) == there.received_counts(0)
        };
        assert!(known(&here, &there));
        here.on_started(at(0), 0, LEN);
        assert!(!known(&here, &there), "a packet is on the link");
        there.on_arrived(0, LEN);
        assert!(known(&here, &there), "and is held");
        there.on_freed(0, LEN);
        assert!(!known(&here, &there), "the end is to be told");
        let frame = there.take_frame(at(9), QUANTUM).expect("it is due");
        assert!(!known(&here, &there), "that is on the link");
        here.receive(at(9), &frame, QUANTUM);
        assert!(known(&here, &there));
    }
}
