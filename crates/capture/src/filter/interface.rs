//! Interfaces that are wanted.

use crate::interface::NumberedInterface;
use crate::suggestion::write_one_of;

/// Most interfaces that an error lists.
const LISTED: usize = 32;

/// Whether `wanted` is the name or the number of an interface.
pub(super) fn is_wanted(wanted: &str, number: usize, name: Option<&str>) -> bool {
    name == Some(wanted) || wanted.parse() == Ok(number)
}

/// The error, if no interface of the capture is wanted.
pub(super) fn unknown(wanted: &str, known: &[NumberedInterface]) -> Option<String> {
    let mut all = known.iter();
    if all.any(|one| is_wanted(wanted, one.number, one.name.as_deref())) {
        return None;
    }
    let names: Vec<_> = known
        .iter()
        .take(LISTED)
        .map(|one| one.name.clone().unwrap_or_else(|| one.number.to_string()))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let fix = match names[..] {
        [] => "the capture has no interface".to_owned(),
        _ => write_one_of(wanted, &names),
    };
    Some(format!("--interface {wanted}: there is no such interface; {fix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_known_by_name_and_number() {
        let known = [("host-0", 0), ("host-1", 1)]
            .map(|(name, number)| NumberedInterface { number, name: Some(name.to_owned()) });
        for wanted in ["host-0", "host-1", "0", "1"] {
            assert_eq!(unknown(wanted, &known), None);
        }
        let error = unknown("host-2", &known).unwrap();
        assert!(
            error.contains("--interface host-2") && error.contains("did you mean host-"),
            "{error}"
        );
        assert!(unknown("2", &known).is_some());
        let unnamed = [NumberedInterface { number: 0, name: None }];
        assert!(unknown("eth0", &unnamed).unwrap().ends_with("write one of 0"));
    }
}
