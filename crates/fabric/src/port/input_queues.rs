//! Frames that wait at a port of an InfiniBand switch, by lane and input port.

use rocelab_state::{BorshDeserialize, BorshSerialize};

use crate::chain::{Chain, Fifo, PacketId};

/// A queue for each virtual lane and input port. Input ports take turns within a lane: the next is the first with a frame
/// after the one that was served last.
#[derive(Clone, Debug)]
pub struct InputQueues {
    inputs: u16,
    /// By lane x `inputs` + input.
    queues: Vec<Fifo>,
    /// The bytes in each of them.
    bytes: Vec<u32>,
    /// By lane: the inputs whose frames wait there, as bits.
    waiting: Vec<u64>,
    /// By lane: the input that was served last.
    last: Vec<u16>,
}

/// Which input of each lane was served last: what a checkpoint keeps. The frames come back one by one.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Turns(Vec<u16>);

impl InputQueues {
    /// Empty queues of so many data `lanes`, for a switch with so many `inputs`.
    pub fn new(lanes: u8, inputs: u16) -> Self {
        let (lanes, inputs_len) = (usize::from(lanes), usize::from(inputs));
        Self {
            inputs,
            queues: vec![Fifo::default(); lanes * inputs_len],
            bytes: vec![0; lanes * inputs_len],
            waiting: vec![0; lanes * words(inputs)],
            last: vec![inputs.saturating_sub(1); lanes],
        }
    }

    /// Puts a frame of `len` bytes that came in by `input` behind the others of its lane and input.
    pub(super) fn push(
        &mut self,
        chain: &mut impl Chain,
        (id, len): (PacketId, u32),
        (lane, input): (u8, u16),
    ) {
        let place = self.place(lane, input);
        self.queues[place].push_back(chain, id);
        self.bytes[place] += len;
        let word = usize::from(lane) * words(self.inputs) + usize::from(input / 64);
        self.waiting[word] |= 1 << (input % 64);
    }

    /// The frame of a lane that is next; [`PacketId::NONE`] if none waits.
    pub(super) fn head(&self, lane: u8) -> PacketId {
        let next = self.next_input(lane, self.last_of(lane));
        next.map_or(PacketId::NONE, |input| self.queues[self.place(lane, input)].head())
    }

    /// Takes that frame; `len` gives its bytes.
    pub(super) fn pop<C: Chain>(
        &mut self,
        chain: &C,
        lane: u8,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<PacketId> {
        let input = self.next_input(lane, self.last_of(lane))?;
        self.last[usize::from(lane)] = input;
        let place = self.place(lane, input);
        let id = self.queues[place].pop_front(chain)?;
        self.bytes[place] -= len(chain, id);
        if self.queues[place].is_empty() {
            let word = usize::from(lane) * words(self.inputs) + usize::from(input / 64);
            self.waiting[word] &= !(1 << (input % 64));
        }
        Some(id)
    }

    /// Bytes that wait in a lane and came in by `input`.
    pub(super) fn bytes_of(&self, lane: u8, input: u16) -> u32 {
        self.bytes.get(self.place(lane, input)).copied().unwrap_or(0)
    }

    /// The input of the next frame of a lane has been served, without that it waited here.
    pub(super) fn note_passed(&mut self, lane: u8, input: u16) {
        self.last[usize::from(lane)] = input;
    }

    /// Whether nothing waits in a lane.
    pub(super) fn is_empty(&self, lane: u8) -> bool {
        let (words, lane) = (words(self.inputs), usize::from(lane));
        self.waiting[lane * words..][..words].iter().all(|&word| word == 0)
    }

    /// All frames of a lane, in the order in which they would leave if nothing else came.
    pub(super) fn waiting_in<C: Chain>(&self, lane: u8, chain: &C) -> Vec<PacketId> {
        let mut heads: Vec<(u16, PacketId)> = Vec::new();
        let mut input = self.last_of(lane);
        while let Some(next) = self.next_input(lane, input) {
            if heads.first().is_some_and(|&(first, _)| first == next) {
                break;
            }
            heads.push((next, self.queues[self.place(lane, next)].head()));
            input = next;
        }
        let mut all = Vec::new();
        while !heads.is_empty() {
            all.extend(heads.iter().map(|&(_, id)| id));
            heads.iter_mut().for_each(|(_, id)| *id = chain.next(*id));
            heads.retain(|&(_, id)| id != PacketId::NONE);
        }
        all
    }

    pub(super) fn turns(&self) -> Turns {
        Turns(self.last.clone())
    }

    /// Empties the queues, and sets whose turn it is. False if the turns are those of another switch.
    pub(super) fn restart(&mut self, Turns(last): Turns) -> bool {
        let fits = last.len() == self.last.len() && last.iter().all(|&input| input < self.inputs);
        self.queues.fill(Fifo::default());
        self.bytes.fill(0);
        self.waiting.fill(0);
        if fits {
            self.last = last;
        }
        fits
    }

    fn last_of(&self, lane: u8) -> u16 {
        self.last.get(usize::from(lane)).copied().unwrap_or(0)
    }

    fn place(&self, lane: u8, input: u16) -> usize {
        usize::from(lane) * usize::from(self.inputs) + usize::from(input)
    }

    /// The first input with a frame after `last`, and round again.
    fn next_input(&self, lane: u8, last: u16) -> Option<u16> {
        let words = words(self.inputs);
        let waiting = self.waiting.get(usize::from(lane) * words..)?.get(..words)?;
        let first = |from: u16| {
            let above = |word: usize| match word.cmp(&usize::from(from / 64)) {
                core::cmp::Ordering::Less => 0,
                core::cmp::Ordering::Equal => u64::MAX << (from % 64),
                core::cmp::Ordering::Greater => u64::MAX,
            };
            let found = (0..words).find(|&word| waiting[word] & above(word) != 0)?;
            let bit = (waiting[found] & above(found)).trailing_zeros() as usize;
            u16::try_from(found * 64 + bit).ok()
        };
        first(last.saturating_add(1)).or_else(|| first(0))
    }
}

/// Words of 64 bits for so many inputs.
fn words(inputs: u16) -> usize {
    usize::from(inputs).div_ceil(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::tests::Links;

    #[test]
    fn inputs_take_turns() {
        for inputs in [3, 70, 200] {
            let mut links = Links(vec![0; 16]);
            let mut queues = InputQueues::new(2, inputs);
            let far = inputs - 1;
            for (id, input) in [(0, 0), (1, 0), (2, 0), (3, far), (4, 1), (5, far)] {
                queues.push(&mut links, (PacketId(id), 66), (1, input));
            }
            let in_order = [0, 4, 3, 1, 5, 2].map(PacketId);
            assert_eq!(queues.waiting_in(1, &links), in_order);
            assert!(queues.is_empty(0) && !queues.is_empty(1));
            assert_eq!([0, 1, far].map(|input| queues.bytes_of(1, input)), [198, 66, 132]);
            assert_eq!(queues.bytes_of(0, far), 0);
            for id in in_order {
                assert_eq!(queues.head(1), id);
                assert_eq!(queues.pop(&links, 1, |_, _| 66), Some(id));
            }
            assert_eq!((queues.pop(&links, 1, |_, _| 66), queues.is_empty(1)), (None, true));
            assert_eq!(queues.bytes_of(1, 0), 0);
        }
    }

    #[test]
    fn an_input_that_was_served_is_the_last_one() {
        let mut links = Links(vec![0; 4]);
        let mut queues = InputQueues::new(1, 4);
        queues.note_passed(0, 2);
        queues.push(&mut links, (PacketId(0), 66), (0, 1));
        queues.push(&mut links, (PacketId(1), 66), (0, 3));
        assert_eq!(queues.waiting_in(0, &links), [PacketId(1), PacketId(0)]);
        let turns = queues.turns();
        let mut others = InputQueues::new(1, 4);
        assert!(others.restart(turns) && !others.restart(InputQueues::new(2, 4).turns()));
        assert!(!others.restart(InputQueues::new(1, 9).turns()), "input 8 is none of these");
    }
}
