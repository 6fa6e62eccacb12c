//! The headroom that a run used, against what was reserved.

use std::fmt;

use rocelab_results::{Millionths, Results, ResultsError, SwitchRecord};
use rocelab_units::Bytes;
use serde::Serialize;

use crate::numbers::{count, counted};

/// Number of lines that the text has for ports; of the others it gives the number.
const LINES: usize = 20;

/// The most headroom that ingress ports and priorities of switches used in a run, against what was reserved for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeadroomUse {
    /// Lossless ingress ports and priorities that frames came in by; first those that dropped, then those that used
    /// the largest share.
    pub ports: Vec<PortHeadroom>,
    /// All ports of each switch together, in the same order.
    pub switches: Vec<PortHeadroom>,
}

/// One ingress port and priority, or all of a switch together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortHeadroom {
    /// `leaf-0:3 p3`, or `leaf-0`.
    pub place: String,
    /// Headroom that is reserved (bytes).
    pub reserved_bytes: u64,
    /// The most that was in use at one time (bytes).
    pub used_bytes: u64,
    /// How often the sender was asked to pause.
    pub pauses: u64,
    /// Frames that it had no room for.
    pub drops: u64,
}

impl PortHeadroom {
    /// Of a row of `switches.csv`; `None` for a lossy priority.
    fn of(row: &SwitchRecord<'_>) -> Option<Self> {
        Some(Self {
            place: row.place(),
            reserved_bytes: row.headroom_bytes?,
            used_bytes: row.peak_headroom_bytes?,
            pauses: row.pauses,
            drops: row.headroom_drops,
        })
    }

    /// What was used, of what is reserved.
    fn told(&self) -> String {
        let (used, reserved) = (Bytes::new(self.used_bytes), Bytes::new(self.reserved_bytes));
        match self.reserved_bytes {
            0 => "no headroom is reserved".to_owned(),
            _ => format!("{used} of {reserved} ({})", percent(self.share())),
        }
    }

    /// The share that was used, in millionths; all of it if frames were dropped and nothing was reserved.
    fn share(&self) -> u64 {
        let share = Millionths::ratio(self.used_bytes, self.reserved_bytes);
        share.map_or(u64::from(self.drops > 0) * 1_000_000, |share| share.0)
    }
}

impl HeadroomUse {
    /// Of a run; `None` if it was not measured.
    ///
    /// # Errors
    /// [`ResultsError::Malformed`] if a row is none.
    pub fn of(results: &Results) -> Result<Option<Self>, ResultsError> {
        let Some(rows) = results.switches()? else { return Ok(None) };
        let mut found = Self::default();
        for row in rows {
            let row = row?;
            let of = if row.port.is_some() { &mut found.ports } else { &mut found.switches };
            of.extend(PortHeadroom::of(&row));
        }
        for list in [&mut found.ports, &mut found.switches] {
            list.sort_by_key(|one| std::cmp::Reverse((one.drops > 0, one.share(), one.used_bytes)));
        }
        Ok(Some(found))
    }

    /// Frames that the headroom had no room for.
    pub fn drops(&self) -> u64 {
        self.ports.iter().map(|port| port.drops).sum()
    }

    /// One sentence: whether the headroom was enough, and how much of it was ever used.
    pub fn verdict(&self) -> String {
        let Some(first) = self.ports.first() else {
            return "no frame of a lossless priority came into a switch".to_owned();
        };
        if self.drops() > 0 {
            let dropping = self.ports.iter().filter(|port| port.drops > 0).count();
            let places = match dropping {
                1 => first.place.clone(),
                more => format!("{} and {} more", first.place, count(more as u64 - 1)),
            };
            let none = self.ports.iter().all(|port| port.reserved_bytes == 0);
            let what = if none { "none is reserved, and " } else { "" };
            let frames = counted(self.drops(), "frame");
            return format!("not enough: {what}{frames} dropped at {places}");
        }
        match first.used_bytes {
            0 if self.ports.iter().all(|port| port.reserved_bytes == 0) => {
                "none is reserved, and none was needed, as no frame crossed XOFF".to_owned()
            }
            0 => "enough: none was ever used, as no frame crossed XOFF".to_owned(),
            used => format!(
                "enough: the most that one port used is {} of {} ({}), at {}",
                Bytes::new(used),
                Bytes::new(first.reserved_bytes),
                percent(first.share()),
                first.place,
            ),
        }
    }
}

fn percent(millionths: u64) -> String {
    let tenths = (millionths + 500) / 1_000;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

impl fmt::Display for HeadroomUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = |one: &&PortHeadroom| one.used_bytes > 0 || one.drops > 0;
        let ports = self.ports.iter().filter(used);
        let (shown, all) = (ports.clone().take(LINES), ports.count());
        let whole = self.switches.iter().filter(|one| one.used_bytes > 0).take(LINES);
        let width =
            shown.clone().chain(whole.clone()).map(|one| one.place.len()).max().unwrap_or(0);
        for one in shown {
            let PortHeadroom { place, pauses, drops, .. } = one;
            let word = if *drops > 0 { "WRONG" } else { "ok   " };
            let (told, pauses) = (one.told(), counted(*pauses, "pause"));
            write!(f, "  {word} {place:<width$}  {told}, {pauses}")?;
            match drops {
                0 => writeln!(f)?,
                drops => writeln!(f, ", {} dropped", counted(*drops, "frame"))?,
            }
        }
        if all > LINES {
            writeln!(f, "        {} more used less", count((all - LINES) as u64))?;
        }
        let unused = self.ports.len() - all;
        if unused > 0 {
            let what = match unused {
                1 => "1 ingress port and priority".to_owned(),
                more => format!("{} ingress ports and priorities", count(more as u64)),
            };
            writeln!(f, "        {what} with frames used none")?;
        }
        for one in whole {
            let (place, told) = (&one.place, one.told());
            writeln!(f, "        {place:<width$}  all ports together at one time: {told}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one(reserved_bytes: u64, drops: u64) -> HeadroomUse {
        let (place, used_bytes) = ("switch-0:1 p3".to_owned(), 0);
        let port = PortHeadroom { place, reserved_bytes, used_bytes, pauses: 2, drops };
        HeadroomUse { ports: vec![port], switches: Vec::new() }
    }

    #[test]
    fn a_headroom_of_nothing_is_no_share() {
        let dropped = of_one(0, 9);
        assert_eq!(
            dropped.to_string(),
            "  WRONG switch-0:1 p3  no headroom is reserved, 2 pauses, 9 frames dropped\n"
        );
        let verdict = "not enough: none is reserved, and 9 frames dropped at switch-0:1 p3";
        assert_eq!(dropped.verdict(), verdict);
        let calm = of_one(0, 0);
        assert_eq!(
            calm.verdict(),
            "none is reserved, and none was needed, as no frame crossed XOFF"
        );
        assert_eq!(calm.to_string(), "        1 ingress port and priority with frames used none\n");
        assert_eq!(
            of_one(100, 0).verdict(),
            "enough: none was ever used, as no frame crossed XOFF"
        );
    }
}
