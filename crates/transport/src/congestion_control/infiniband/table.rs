//! The congestion control table of a channel adapter (IBTA Annex A10).

use rocelab_units::Bandwidth;

/// The largest multiplier: a field of 14 bits.
const MAX_MULTIPLIER: u16 = 0x3fff;
/// The largest shift: a field of 2 bits.
const MAX_SHIFT: u8 = 3;

/// An entry: after a packet that took the time T on its link, the next waits for (T >> `shift`) x `multiplier`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// 0 to 3.
    pub(super) shift: u8,
    /// 0 to 16383.
    pub(super) multiplier: u16,
}

impl Entry {
    /// Reads OpenSM's form, `shift:multiplier`.
    fn parse(text: &str) -> Option<Self> {
        let (shift, multiplier) = text.split_once(':')?;
        let (shift, multiplier) = (shift.trim().parse().ok()?, multiplier.trim().parse().ok()?);
        (shift <= MAX_SHIFT && multiplier <= MAX_MULTIPLIER).then_some(Self { shift, multiplier })
    }

    /// The rate that these delays leave of that of the link, at least 1 bit/s: rate / (1 + multiplier / 2^shift), rounded down.
    pub(super) fn rate(self, line_rate: Bandwidth) -> Bandwidth {
        let packet = 1_u128 << self.shift;
        let rate = u128::from(line_rate.bits_per_second()) * packet;
        let rate = rate / (packet + u128::from(self.multiplier));
        Bandwidth::from_bps(u64::try_from(rate).unwrap_or(u64::MAX).max(1))
    }
}

/// The table that the texts of a scenario say; without any, entry i waits for i packets, up to index `limit`.
///
/// # Errors
/// The first text that is no entry.
pub(super) fn entries(texts: &[String], limit: u16) -> Result<Vec<Entry>, String> {
    if texts.is_empty() {
        let linear =
            (0..=limit.min(MAX_MULTIPLIER)).map(|multiplier| Entry { shift: 0, multiplier });
        return Ok(linear.collect());
    }
    let read = |text: &String| Entry::parse(text).ok_or_else(|| text.clone());
    texts.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_a_share_of_the_time_of_a_packet() {
        let line = Bandwidth::from_gbps(96);
        for (text, gbps) in
            [("0:0", 96), ("0:1", 48), ("0:3", 24), ("1:1", 64), ("2:8", 32), ("3:8", 48)]
        {
            let entry = Entry::parse(text).expect(text);
            assert_eq!(entry.rate(line), Bandwidth::from_gbps(gbps), "{text}");
        }
        let longest = Entry { shift: 0, multiplier: MAX_MULTIPLIER };
        assert_eq!(longest.rate(Bandwidth::from_bps(16_384)), Bandwidth::from_bps(1));
    }

    #[test]
    fn what_is_no_entry_is_named() {
        for text in ["", "1", "4:1", "0:16384", "-1:1", "a:b", "0:1:2"] {
            assert_eq!(entries(&[text.to_owned()], 0), Err(text.to_owned()));
        }
        let table = entries(&["0:0".into(), " 3 : 16383 ".into()], 1);
        assert_eq!(table.map(|table| table[1]), Ok(Entry { shift: 3, multiplier: 16_383 }));
    }

    #[test]
    fn the_usual_table_is_linear() {
        let table = entries(&[], 127).expect("it is one");
        assert_eq!((table.len(), table[127]), (128, Entry { shift: 0, multiplier: 127 }));
    }
}
