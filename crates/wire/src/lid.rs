//! Local identifiers of native InfiniBand.

/// What a local identifier (LID) names (IBTA 4.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LidKind {
    /// 0: nothing; no packet may have it.
    Reserved,
    /// 0x0001 to 0xbfff: one port of a channel adapter or router, or one switch.
    Unicast,
    /// 0xc000 to 0xfffe: a multicast group.
    Multicast,
    /// 0xffff: whoever is at the other end of the link, whether it has a LID yet or not. Only
    /// packets of subnet management have it, on either side.
    Permissive,
}

impl LidKind {
    /// Largest unicast LID.
    pub const LAST_UNICAST: u16 = 0xbfff;

    /// The permissive LID.
    pub const PERMISSIVE: u16 = 0xffff;

    /// The kind of a LID.
    ///
    /// ```
    /// # use rocelab_wire::LidKind;
    /// assert_eq!(LidKind::of(0xbfff), LidKind::Unicast);
    /// assert_eq!(LidKind::of(0xc000), LidKind::Multicast);
    /// ```
    #[must_use]
    pub const fn of(lid: u16) -> Self {
        match lid {
            0 => Self::Reserved,
            1..=Self::LAST_UNICAST => Self::Unicast,
            Self::PERMISSIVE => Self::Permissive,
            _ => Self::Multicast,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lid_has_a_kind() {
        let kinds = [
            (0, LidKind::Reserved),
            (1, LidKind::Unicast),
            (0xbfff, LidKind::Unicast),
            (0xc000, LidKind::Multicast),
            (0xfffe, LidKind::Multicast),
            (0xffff, LidKind::Permissive),
        ];
        for (lid, kind) in kinds {
            assert_eq!(LidKind::of(lid), kind, "{lid:#06x}");
        }
    }
}
