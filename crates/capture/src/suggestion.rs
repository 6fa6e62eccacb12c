//! "Did you mean": the most similar of the known names.

/// Below this similarity (Jaro-Winkler, 0 to 1) nothing is suggested.
const NEAR: f64 = 0.7;

/// What to write instead of `given`: the most similar of `known`, and the whole list.
pub(crate) fn write_one_of(given: &str, known: &[&str]) -> String {
    let given = given.to_lowercase();
    let all = known.join(", ");
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, name)) => format!("did you mean {name}? write one of {all}"),
        None => format!("write one of {all}"),
    }
}
