//! The lengths of a queue from which switches mark frames.

use rocelab_units::{Bandwidth, Bytes};

use super::envelope::Steps;
use super::ports::Direction;
use super::resolved::Resolved;

/// `Kmin` and `Kmax` of a port, if the scenario has the same for all ports: with overrides it is not known here
/// which one holds.
pub(crate) fn marking_thresholds(
    resolved: &Resolved,
    port: &Direction,
) -> Vec<(&'static str, Steps)> {
    if resolved.value(&["switch", "override"]).is_some() {
        return Vec::new();
    }
    let ecn = |key: &str| resolved.text(&["switch", "ecn", key]);
    let scaled = |bytes: Bytes| match ecn("per_rate").map(str::parse::<Bandwidth>) {
        None => Some(bytes.get()),
        Some(Ok(rate)) => scaled(bytes.get(), port.record.rate_bps, rate.bits_per_second()),
        Some(Err(_)) => None,
    };
    let threshold = |(name, key): (&'static str, &str)| {
        let bytes = scaled(ecn(key)?.parse().ok()?)?;
        let mut steps = Steps::default();
        steps.set(0, bytes);
        Some((name, steps))
    };
    [("Kmin", "kmin"), ("Kmax", "kmax")].into_iter().filter_map(threshold).collect()
}

/// A threshold for ports of the rate `per`, at one of the rate `rate`.
fn scaled(bytes: u64, rate: u64, per: u64) -> Option<u64> {
    let scaled = (u128::from(bytes) * u128::from(rate)).checked_div(per.into())?;
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::super::ports::tests::network;
    use super::*;

    fn thresholds(text: &str) -> Vec<(&'static str, u64)> {
        let ports = network(&[("host-0", 0, "leaf", 3)]);
        let found = marking_thresholds(&Resolved::of(text), &ports.directions[1]);
        found.into_iter().map(|(name, steps)| (name, steps.largest())).collect()
    }

    #[test]
    fn thresholds_are_those_of_the_port_s_rate() {
        let plain = "[switch.ecn]\nkmin = \"100KB\"\nkmax = \"400KB\"\n";
        assert_eq!(thresholds(plain), [("Kmin", 100_000), ("Kmax", 400_000)]);
        // The port has 100 Gbit/s.
        let scaled = format!("{plain}per_rate = \"25Gbps\"\n");
        assert_eq!(thresholds(&scaled), [("Kmin", 400_000), ("Kmax", 1_600_000)]);
    }

    #[test]
    fn what_is_not_known_is_not_drawn() {
        let plain = "[switch.ecn]\nkmin = \"100KB\"\nkmax = \"400KB\"\n";
        assert!(thresholds("").is_empty());
        let text = format!("{plain}[[switch.override]]\nswitches = [\"leaf\"]\nalpha = 1\n");
        assert!(thresholds(&text).is_empty());
    }
}
