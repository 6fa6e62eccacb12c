//! The scenario as it ran: `scenario.resolved.toml` of the results.

use rocelab_results::{Results, SCENARIO_TOML};
use toml::{Table, Value};

/// The document; empty if there is none, or if it is no TOML. What is needed of it for sure is read by
/// [`Results`], which names the mistake.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    document: Table,
}

impl Resolved {
    pub(crate) fn read(results: &Results) -> Self {
        let text = std::fs::read_to_string(results.path().join(SCENARIO_TOML)).unwrap_or_default();
        Self::of(&text)
    }

    pub(crate) fn of(text: &str) -> Self {
        Self { document: text.parse().unwrap_or_default() }
    }

    /// The value at a path of keys, such as `["switch", "ecn", "kmin"]`.
    pub(crate) fn value(&self, path: &[&str]) -> Option<&Value> {
        let (last, tables) = path.split_last()?;
        let mut table = &self.document;
        for key in tables {
            table = table.get(*key)?.as_table()?;
        }
        table.get(*last)
    }

    /// The text at a path of keys.
    pub(crate) fn text(&self, path: &[&str]) -> Option<&str> {
        self.value(path)?.as_str()
    }

    /// The texts of the list at a path of keys; none if there is no list.
    pub(crate) fn texts(&self, path: &[&str]) -> impl Iterator<Item = &str> {
        let list = self.value(path).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_keys() {
        let resolved =
            Resolved::of("[sample.queues]\ninterval = \"1us\"\nports = [\"a\", \"b:1\"]\n");
        assert_eq!(resolved.text(&["sample", "queues", "interval"]), Some("1us"));
        assert!(resolved.texts(&["sample", "queues", "ports"]).eq(["a", "b:1"]));
        assert_eq!(resolved.texts(&["sample", "marks", "ports"]).count(), 0);
        assert_eq!(Resolved::of("no scenario").value(&["sample"]), None);
    }
}
