//! The usual name of results.

/// The longest part of a name that settings make, in bytes.
const LONGEST: usize = 80;

/// The usual name of the results of a scenario, its seed, and keys that were set to values from outside: runs with other
/// settings have other names. `incast-1`, and with `switch.alpha` set to `1/16` `incast-1-switch.alpha=1_16`; where characters had
/// to be replaced or much was left out, a checksum of the settings follows.
pub fn results_name(scenario: &str, seed: u64, settings: &[(String, String)]) -> String {
    let settings: Vec<_> = settings.iter().filter(|(key, _)| key != "seed").collect();
    if settings.is_empty() {
        return format!("{scenario}-{seed}");
    }
    let said: Vec<_> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let said = said.join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_=,".contains(c);
    let mut plain: String = said.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    plain.truncate(LONGEST);
    if plain != said {
        plain += &format!("-{:08x}", crc32fast::hash(said.as_bytes()));
    }
    format!("{scenario}-{seed}-{plain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(settings: &[(&str, &str)]) -> String {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        results_name("incast", 7, &settings.iter().map(own).collect::<Vec<_>>())
    }

    #[test]
    fn settings_are_part_of_the_name() {
        assert_eq!(name(&[]), "incast-7");
        assert_eq!(name(&[("seed", "7")]), "incast-7");
        let two = [("switch.ecn.kmin", "50KB"), ("stop", "1ms")];
        assert_eq!(name(&two), "incast-7-switch.ecn.kmin=50KB,stop=1ms");
    }

    #[test]
    fn settings_that_look_alike_have_names_of_their_own() {
        let (slash, under) = (name(&[("switch.alpha", "1/16")]), name(&[("switch.alpha", "1_16")]));
        assert!(slash.starts_with("incast-7-switch.alpha=1_16-"), "{slash}");
        assert_eq!(under, "incast-7-switch.alpha=1_16");
        let long = |end: &str| name(&[("labels.arm", &("x".repeat(300) + end))]);
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() < 110);
    }
}
