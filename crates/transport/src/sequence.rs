//! Packet sequence numbers: 24 bits on the wire, 64 bits inside.

use rocelab_wire::Psn;

/// The position of a packet in the endless sequence of its direction. Its low 24 bits are the PSN.
pub(crate) type Sequence = u64;

/// Packets that a requester may have sent and not yet seen acknowledged: half of the PSNs, so
/// that old and new can be told apart (Linux rxe, `psn_compare`).
pub(crate) const MAX_OUTSTANDING: u64 = Psn::WINDOW as u64;

/// The first sequence number of a direction that starts at `initial_psn`. One turn of the circle
/// lies below it, so that distances backwards never go below zero.
pub(crate) const fn first_sequence(initial_psn: u32) -> Sequence {
    Psn::MODULUS as u64 + Psn::new(initial_psn).value() as u64
}

/// What goes on the wire.
#[inline]
pub(crate) const fn psn(sequence: Sequence) -> u32 {
    let [a, b, c, ..] = sequence.to_le_bytes();
    u32::from_le_bytes([a, b, c, 0])
}

/// The sequence number nearest to `reference` with this PSN: from 2^23 before it to 2^23 - 1
/// after it.
#[inline]
pub(crate) const fn expand(wire: u32, reference: Sequence) -> Sequence {
    let distance = Psn::new(wire).distance_from(Psn::new(psn(reference)));
    reference.wrapping_add_signed(distance as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn expansion_undoes_the_cut(start in 0..1_u32 << 24, turns in 0..1_u64 << 30,
            distance in -(1_i64 << 23)..1 << 23) {
            let reference = first_sequence(start) + turns;
            let sequence = reference.wrapping_add_signed(distance);
            prop_assert_eq!(expand(psn(sequence), reference), sequence);
        }
    }

    #[test]
    fn psn_zero_follows_the_largest() {
        let last = first_sequence(0xff_ffff);
        assert_eq!(psn(last), 0xff_ffff);
        assert_eq!(psn(last + 1), 0);
        assert_eq!(expand(0, last), last + 1);
        assert_eq!(expand(0xff_ffff, last + 1), last);
    }
}
