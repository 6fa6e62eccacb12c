//! Finds smaller scenarios that violate the same law.

use std::time::{Duration, Instant};

use toml::{Table, Value};

use crate::scenario::Made;

/// Longest time for it.
const LONGEST: Duration = Duration::from_secs(60);

/// A step to a key of a table or to an element of an array.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Place(usize),
}

/// Removes parts while `violates` holds, greedily, then makes numbers smaller.
pub(crate) fn shrink(made: &Made, violates: impl Fn(&Made) -> bool) -> Made {
    let begun = Instant::now();
    let mut smallest = made.clone();
    loop {
        let mut progressed = false;
        for change in changes(&smallest.table) {
            if begun.elapsed() > LONGEST {
                return smallest;
            }
            let mut tried = smallest.clone();
            if !change.apply(&mut tried.table) || tried == smallest {
                continue;
            }
            if violates(&tried) {
                smallest = tried;
                progressed = true;
            }
        }
        if !progressed {
            return smallest;
        }
    }
}

/// A change that makes a scenario smaller.
#[derive(Clone, Debug)]
enum Change {
    Remove(Vec<Step>),
    Replace(Vec<Step>, Value),
}

impl Change {
    /// Applies the change; false if there was nothing to change.
    fn apply(&self, table: &mut Table) -> bool {
        let (Self::Remove(path) | Self::Replace(path, _)) = self;
        let Some((last, before)) = path.split_last() else { return false };
        let mut all = Value::from(std::mem::take(table));
        let mut place = Some(&mut all);
        for step in before {
            place = place.and_then(|value| value_at(value, step));
        }
        let changed = match (self, place, last) {
            (Self::Remove(_), Some(Value::Table(parent)), Step::Key(key)) => {
                parent.remove(key).is_some()
            }
            (Self::Remove(_), Some(Value::Array(parent)), &Step::Place(place)) => {
                let is_there = place < parent.len() && parent.len() > 1;
                is_there.then(|| parent.remove(place)).is_some()
            }
            (Self::Replace(_, value), Some(parent), last) => {
                value_at(parent, last).map(|old| *old = value.clone()).is_some()
            }
            _ => false,
        };
        if let Value::Table(back) = all {
            *table = back;
        }
        changed
    }
}

fn value_at<'a>(value: &'a mut Value, step: &Step) -> Option<&'a mut Value> {
    match (value, step) {
        (Value::Table(table), Step::Key(key)) => table.get_mut(key),
        (Value::Array(array), &Step::Place(place)) => array.get_mut(place),
        _ => None,
    }
}

/// All changes, the largest first: whole tables before their content.
fn changes(table: &Table) -> Vec<Change> {
    let mut levels = Vec::new();
    for (key, value) in table {
        collect(value, &mut vec![Step::Key(key.clone())], &mut levels);
    }
    levels.sort_by_key(|(depth, _)| *depth);
    levels.into_iter().map(|(_, change)| change).collect()
}

fn collect(value: &Value, path: &mut Vec<Step>, changes: &mut Vec<(usize, Change)>) {
    changes.push((path.len(), Change::Remove(path.clone())));
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                path.push(Step::Key(key.clone()));
                collect(value, path, changes);
                path.pop();
            }
        }
        Value::Array(array) => {
            for (place, value) in array.iter().enumerate().rev() {
                path.push(Step::Place(place));
                collect(value, path, changes);
                path.pop();
            }
        }
        Value::Integer(number) if *number > 1 => {
            for less in [1, number / 2] {
                changes.push((100, Change::Replace(path.clone(), less.into())));
            }
        }
        Value::String(text) => {
            let halved = text.strip_suffix('B').and_then(|bytes| bytes.parse::<u64>().ok());
            if let Some(bytes) = halved.filter(|&bytes| bytes > 1) {
                let less = format!("{}B", bytes / 2);
                changes.push((100, Change::Replace(path.clone(), less.into())));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_needed_goes() {
        let text = "a = 1\n[b]\nc = [1, 2, 3]\nd = '4096B'\n[[e]]\nf = 1\n[[e]]\nf = 2\n";
        let made = Made { table: text.parse().unwrap(), ..Made::default() };
        let smallest = shrink(&made, |tried| {
            let bytes = tried.table.get("b").and_then(|b| b.get("d")).and_then(Value::as_str);
            let bytes = bytes.and_then(|bytes| bytes.strip_suffix('B')?.parse::<u64>().ok());
            bytes.is_some_and(|bytes| bytes > 1_000)
        });
        assert_eq!(smallest.text(), "[b]\nd = \"1024B\"\n");
    }
}
