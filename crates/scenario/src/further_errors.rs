//! The errors of a scenario beside its first: readers stop at one.
//!
//! What is wrong is taken out of the tree, and the rest is read again, until nothing more is found. What is wrong only
//! because something was taken out is no error of the user's, and is passed over.

use toml::de::{DeTable, DeValue};

use super::ScenarioError;
use super::overrides::segments;

/// Most errors that are looked for: more are seldom read.
const MOST: usize = 100;

/// The errors that `read` finds after its `first` one. `read` reads the scenario without the keys that it is given.
pub(super) fn after(
    first: &ScenarioError,
    mut read: impl FnMut(&[String]) -> Result<(), ScenarioError>,
) -> Vec<ScenarioError> {
    let mut further: Vec<ScenarioError> = Vec::new();
    let mut without = vec![without_index(first.key()).to_owned()];
    // Each time around, one key more is taken out, so it ends.
    while further.len() < MOST && without.last().is_some_and(|key| !key.is_empty()) {
        let Err(error) = read(&without) else { break };
        let key = without_index(error.key()).to_owned();
        if without.iter().any(|gone| are_related(gone, &key)) {
            // It is missed where it was: so is what it belongs to.
            without.push(next_above(&without, &key));
        } else {
            further.push(error);
            without.push(key);
        }
    }
    further
}

/// The innermost table around a key, or the key itself, that was not taken out; empty if all were.
fn next_above(without: &[String], key: &str) -> String {
    let mut next = key;
    while !next.is_empty() && without.iter().any(|gone| gone == next) {
        next = parent(next);
    }
    next.to_owned()
}

/// Takes a key out of a tree, if it is there; if not, the table that misses it.
pub(super) fn take_out(root: &mut DeTable<'_>, key: &str) {
    if !removed(root, key) {
        removed(root, parent(key));
    }
}

fn removed(root: &mut DeTable<'_>, key: &str) -> bool {
    let parts = segments(key);
    let Some(((last, _), before)) = parts.split_last() else { return false };
    let mut table = root;
    for (name, index) in before {
        let Some(value) = table.get_mut(*name) else { return false };
        let value = match value.get_mut() {
            DeValue::Array(array) => match array.get_mut(index.unwrap_or(0)) {
                Some(element) => element.get_mut(),
                None => return false,
            },
            other => other,
        };
        let DeValue::Table(below) = value else { return false };
        table = below;
    }
    table.remove(*last).is_some()
}

/// Without the index of an element: the list is taken out as a whole, so that others keep their numbers.
fn without_index(key: &str) -> &str {
    match key.rsplit_once('[') {
        Some((list, index)) if index.ends_with(']') && !index.contains('.') => list,
        _ => key,
    }
}

/// The key of the table that a key is in; empty for one of the whole file.
fn parent(key: &str) -> &str {
    without_index(key.rsplit_once('.').map_or("", |(table, _)| table))
}

/// Whether one of two keys is the other, or is in it.
fn are_related(one: &str, other: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_in(one, other) || is_in(other, one)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;

    const BASE: &str = "[topology.single-switch]\nhosts = 4\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
                        [workload.incast]\nsenders = 3\nbytes = \"1MB\"\n";

    fn keys(text: &str) -> Vec<String> {
        let error = Scenario::parse(text, Path::new("s.toml"), &[]).expect_err("errors");
        error.all().map(|error| format!("{}:{}", error.line(), error.key())).collect()
    }

    #[test]
    fn independent_errors_are_told_together() {
        let text = "stop = \"20\"\nseeed = 1\n[switch]\nheadrom = \"auto\"\nalpha = \"x\"\n[roce]\nversion = \"two\"\n";
        let mut found = keys(&format!("{text}{BASE}"));
        found.sort();
        let expected =
            ["1:stop", "2:seeed", "4:switch.headrom", "5:switch.alpha", "7:roce.version"];
        assert_eq!(found, expected);
    }

    #[test]
    fn one_error_has_no_consequences() {
        let without_hosts = BASE.replace("hosts = 4", "hosts = \"four\"");
        assert_eq!(keys(&without_hosts), ["2:topology.single-switch.hosts"]);
        let unknown = BASE.replace("single-switch", "single-swich");
        assert_eq!(keys(&unknown).len(), 1, "{:?}", keys(&unknown));
        let missing = BASE.replace("hosts = 4\n", "");
        assert_eq!(keys(&missing), ["1:topology.single-switch.hosts"]);
        let list = "[workload.flows]\nlist = [{ from = \"host-0\", to = 3, bytes = \"1MB\" }]\n";
        let list = BASE.split("[workload").next().unwrap().to_owned() + list;
        assert_eq!(keys(&list).len(), 1, "{:?}", keys(&list));
    }

    /// An override that cannot be applied is an error of every reading.
    #[test]
    fn what_stays_wrong_is_told_once() {
        for set in
            [("stop.x", "1"), ("switch..alpha", "1"), ("topology", "3"), ("workload.incast", "3")]
        {
            let overrides = [(set.0.to_owned(), set.1.to_owned())];
            let text = format!("stop = \"1ms\"\n{BASE}");
            let error =
                Scenario::parse(&text, Path::new("s.toml"), &overrides).expect_err("an error");
            assert_eq!(error.all().count(), 1, "{set:?}: {:?}", error.all().collect::<Vec<_>>());
        }
    }

    #[test]
    fn keys_are_related_by_whole_names() {
        assert!(are_related("switch.ecn", "switch.ecn.kmin") && are_related("a[0].b", "a"));
        assert!(!are_related("switch.ecn", "switch.ecn_more"));
        assert_eq!((parent("a.b[1].c"), parent("a.b"), parent("a")), ("a.b", "a", ""));
    }
}
