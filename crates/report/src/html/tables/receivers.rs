//! NICs with slow receivers.

use rocelab_results::{Millionths, SlowReceiverRecord};
use serde_json::json;

use super::Table;
use crate::html::samples::Quantity;

/// Slow receivers, those with the most pauses first; `None` if there are none.
pub(crate) fn slow_receivers(found: &[SlowReceiverRecord]) -> Option<Table> {
    let mut order: Vec<&SlowReceiverRecord> = found.iter().collect();
    order.sort_by_key(|one| std::cmp::Reverse(one.pauses));
    let ratio = |part, whole| Millionths::ratio(part, whole).map(|ratio| ratio.0);
    let table = Table::of(
        ("slow-receivers", "Slow receivers", "summary.json"),
        (3, true),
        &order,
        &[
            ("Host", Quantity::Text, &|one: &&SlowReceiverRecord| json!(one.host)),
            ("Frames", Quantity::Count, &|one| json!(one.frames)),
            ("Most that waited", Quantity::Bytes, &|one| json!(one.max_bytes)),
            ("Pauses asked for", Quantity::Count, &|one| json!(one.pauses)),
            ("Translations", Quantity::Count, &|one| json!(one.translations)),
            ("Misses", Quantity::Count, &|one| json!(one.misses)),
            ("Miss ratio", Quantity::Ratio, &|one| json!(ratio(one.misses, one.translations))),
        ],
    );
    (!order.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_paused_the_most_comes_first() {
        let receiver = |host: &str, pauses| SlowReceiverRecord {
            host: host.to_owned(),
            pauses,
            translations: 8,
            misses: 2,
            ..SlowReceiverRecord::default()
        };
        let table = slow_receivers(&[receiver("a", 1), receiver("b", 3)]).unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (&row[0], &row[6])).collect();
        assert_eq!(rows, [(&json!("b"), &json!(250_000)), (&json!("a"), &json!(250_000))]);
        assert!(slow_receivers(&[]).is_none());
    }
}
