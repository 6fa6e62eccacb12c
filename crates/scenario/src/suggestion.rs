//! "Did you mean": the nearest of the names that exist.

/// The name nearest to `given`, if any is near enough to be meant.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// What to write instead of the unknown `given`: the nearest name, and all of them if they are few.
pub fn known_names(given: &str, known: &[&str]) -> String {
    let all = || format!("known here: {}", known.join(", "));
    match nearest(given, known.iter().copied()) {
        Some(name) if known.len() > 24 => format!("did you mean `{name}`?"),
        Some(name) => format!("did you mean `{name}`? ({})", all()),
        None => all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["headroom", "alpha", "buffer"];
        assert_eq!(nearest("headrom", names), Some("headroom"));
        assert_eq!(nearest("Alpha", names), Some("alpha"));
        assert_eq!(nearest("xyzzy", names), None);
        assert_eq!(known_names("xyzzy", &names), "known here: headroom, alpha, buffer");
    }
}
