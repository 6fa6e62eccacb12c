//! How the invariant CRC of a frame is computed, part by part.

use std::cell::Cell;
use std::fmt;

use rocelab_wire::{IcrcPart, Roce, crc_to_wire, explain_icrc};

/// Bytes of a part that are shown; of longer ones the last of them are left out.
const SHOWN: usize = 40;

/// How the ICRC of a packet is computed, as text with one line for each part that the ICRC covers.
#[derive(Debug)]
pub struct IcrcExplained<'a>(
    /// The packet.
    pub &'a Roce<'a>,
);

impl fmt::Display for IcrcExplained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  ICRC: CRC-32 of Ethernet (polynomial 0x04c11db7, bits reflected, start and final xor 0xffffffff)"
        )?;
        let told = Cell::new(Ok(()));
        let icrc = explain_icrc(self.0, |part| {
            if let Ok(()) = told.get() {
                told.set(part_of(f, &part));
            }
        });
        told.get()?;
        let [wire, found] = [icrc, self.0.icrc].map(|crc| Bytes(crc_to_wire(crc)));
        write!(f, "  ICRC {icrc:08x}, on the wire {wire} (the lowest byte first)")?;
        if icrc == self.0.icrc {
            write!(f, "; the frame has the same")
        } else {
            write!(f, "; the frame has {found}, which is wrong")
        }
    }
}

/// A line for a part that is not empty.
fn part_of(f: &mut fmt::Formatter<'_>, part: &IcrcPart<'_>) -> fmt::Result {
    let &IcrcPart { name, bytes, ones, crc } = part;
    if bytes.is_empty() {
        return Ok(());
    }
    write!(f, "    {crc:08x} after {} bytes, {name}: ", bytes.len())?;
    bytes.iter().take(SHOWN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
    if bytes.len() > SHOWN {
        f.write_str("...")?;
    }
    if !ones.is_empty() {
        write!(f, " (ones: {ones})")?;
    }
    writeln!(f)
}

/// Bytes as they are on the wire.
struct Bytes([u8; 4]);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "{a:02x} {b:02x} {c:02x} {d:02x}")
    }
}
