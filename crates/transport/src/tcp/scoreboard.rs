//! What the receiver says that it has, and what that says of the rest (RFC 6675).

use super::ranges::{Range, Ranges};
use super::sequence::Position;

/// Segments, or ranges, that must have arrived behind a byte before it is taken for lost: RFC
/// 6675's DupThresh.
pub(super) const DUP_THRESH: u64 = 3;

/// The sender's view of what it sent and did not see acknowledged.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Scoreboard {
    sacked: Ranges,
    /// What lies before this and was not selectively acknowledged is lost.
    lost_end: Position,
    /// What lies before this and was lost was sent again: RFC 6675's HighRxt.
    resent_end: Position,
}

impl Scoreboard {
    /// Takes in an acknowledgement of all before `una`, with blocks. Blocks outside of `una` to
    /// `nxt` are left out: receivers may also report duplicates (RFC 2883). Returns how many bytes
    /// the blocks newly acknowledge.
    pub(super) fn update(
        &mut self,
        una: Position,
        nxt: Position,
        blocks: impl Iterator<Item = Range>,
        mss: u64,
    ) -> u64 {
        self.sacked.remove_before(una);
        let mut new = 0;
        for block in blocks {
            if una < block.start && block.start < block.end && block.end <= nxt {
                new += self.sacked.insert(block);
            }
        }
        if new > 0 {
            self.find_lost(mss);
        }
        new
    }

    /// RFC 6675, IsLost: more than two full segments were selectively acknowledged behind a byte,
    /// or three separate ranges.
    fn find_lost(&mut self, mss: u64) {
        let mut bytes = 0;
        for (range, count) in self.sacked.backwards().zip(1..) {
            bytes += range.len();
            if count >= DUP_THRESH || bytes > (DUP_THRESH - 1) * mss {
                self.lost_end = self.lost_end.max(range.start);
                return;
            }
        }
    }

    /// Recovery begins: nothing was sent again yet.
    pub(super) const fn begin(&mut self, una: Position) {
        self.resent_end = una;
    }

    /// All that was sent before `nxt` is lost, but what was selectively acknowledged: our receivers
    /// keep what they reported.
    pub(super) const fn lose_all(&mut self, una: Position, nxt: Position) {
        self.resent_end = una;
        self.lost_end = nxt;
    }

    /// Whether the first unacknowledged byte is lost.
    pub(super) const fn is_first_lost(&self, una: Position) -> bool {
        self.lost_end > una
    }

    /// Bytes that are taken to be on their way: RFC 6675's pipe. What is neither acknowledged nor
    /// lost, and what was sent again.
    pub(super) fn in_flight(&self, una: Position, nxt: Position) -> u64 {
        let lost_end = self.lost_end.clamp(una, nxt);
        let resent_end = self.resent_end.clamp(una, nxt);
        if self.sacked.is_empty() {
            return (nxt - lost_end) + (resent_end - una);
        }
        let sacked_after = self.sacked.bytes() - self.sacked.bytes_before(lost_end);
        let sacked_resent = self.sacked.bytes_before(resent_end);
        (nxt - lost_end - sacked_after) + (resent_end - una - sacked_resent)
    }

    /// The first part that is lost and was not sent again: RFC 6675, NextSeg, rule 1.
    pub(super) fn next_lost(&self, una: Position, nxt: Position) -> Option<Range> {
        self.next_hole(una, nxt).filter(|hole| hole.start < self.lost_end)
    }

    /// The first part before a selectively acknowledged one that was not sent again: rule 3.
    pub(super) fn next_suspect(&self, una: Position, nxt: Position) -> Option<Range> {
        let end = self.sacked.end()?;
        self.next_hole(una, nxt).filter(|hole| hole.start < end)
    }

    /// The last part, if it is behind all that was selectively acknowledged and was not sent
    /// again: rule 4.
    pub(super) fn tail(&self, una: Position, nxt: Position) -> Option<Range> {
        let start = self.sacked.end().unwrap_or(una).max(self.resent_end);
        (start < nxt).then_some(Range::new(start, nxt))
    }

    /// The hole at `una`.
    pub(super) fn first_hole(&self, una: Position, nxt: Position) -> Range {
        Range::new(una, self.sacked.next_hole(una).1.unwrap_or(nxt))
    }

    /// All before `end` was sent again where it was lost.
    pub(super) fn resent(&mut self, end: Position) {
        self.resent_end = self.resent_end.max(end);
    }

    fn next_hole(&self, una: Position, nxt: Position) -> Option<Range> {
        let (start, end) = self.sacked.next_hole(self.resent_end.max(una));
        (start < nxt).then_some(Range::new(start, end.unwrap_or(nxt)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;

    fn after(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        board.begin(0);
        let ranges = blocks.iter().map(|&(start, end)| Range::new(start * MSS, end * MSS));
        board.update(0, 20 * MSS, ranges, MSS);
        board
    }

    #[test]
    fn lost_after_three_segments_or_three_ranges() {
        // Two segments are not more than two segments.
        assert!(!after(&[(1, 3)]).is_first_lost(0));
        assert!(after(&[(1, 4)]).is_first_lost(0));
        assert!(!after(&[(1, 2), (3, 4)]).is_first_lost(0));
        assert!(after(&[(1, 2), (3, 4), (5, 6)]).is_first_lost(0));
    }

    #[test]
    fn pipe_by_hand() {
        // 20 sent; 4 to 8 and 10 to 14 are there, so that 0 to 4 and 8 to 10 are lost: 6 are on
        // their way, those from 14 on. Then two of the lost are sent again.
        let mut board = after(&[(4, 8), (10, 14)]);
        assert_eq!(board.in_flight(0, 20 * MSS), 6 * MSS);
        assert_eq!(board.next_lost(0, 20 * MSS), Some(Range::new(0, 4 * MSS)));
        board.resent(2 * MSS);
        assert_eq!(board.in_flight(0, 20 * MSS), 8 * MSS);
        board.resent(4 * MSS);
        assert_eq!(board.next_lost(0, 20 * MSS), Some(Range::new(8 * MSS, 10 * MSS)));
        board.resent(10 * MSS);
        assert_eq!(board.next_lost(0, 20 * MSS), None);
        assert_eq!(board.tail(0, 20 * MSS), Some(Range::new(14 * MSS, 20 * MSS)));
        assert_eq!(board.in_flight(0, 20 * MSS), 12 * MSS);
    }

    #[test]
    fn a_timeout_loses_all_that_is_not_there() {
        let mut board = after(&[(4, 8)]);
        board.lose_all(0, 20 * MSS);
        assert_eq!(board.in_flight(0, 20 * MSS), 0);
        board.resent(MSS);
        assert_eq!(board.in_flight(0, 20 * MSS), MSS);
        board.resent(4 * MSS);
        assert_eq!(board.next_lost(0, 20 * MSS), Some(Range::new(8 * MSS, 20 * MSS)));
    }

    #[test]
    fn impossible_blocks_are_left_out() {
        let mut board = Scoreboard::default();
        let blocks = [(5, 5), (7, 6), (19, 21), (0, 2), (1, 3)];
        let ranges = blocks.map(|(start, end)| Range::new(start * MSS, end * MSS));
        assert_eq!(board.update(MSS, 20 * MSS, ranges.into_iter(), MSS), 0);
        assert_eq!(board.in_flight(MSS, 20 * MSS), 19 * MSS);
    }
}
