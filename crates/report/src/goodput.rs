//! Goodput in words, with its period.

use rocelab_results::{Goodput, GoodputRule};

use crate::numbers::{memory, rate, time};

/// The rate, and the rule in short.
pub(crate) fn headline(bps: Option<u64>, goodput: Option<&Goodput>) -> String {
    let Some(bps) = bps else { return "none: nothing was delivered".to_owned() };
    // An older build, which counted completed flows only.
    if goodput.is_none() && bps == 0 {
        return "none: no flow completed".to_owned();
    }
    format!("{} {}", rate(bps), rule_words(goodput))
}

/// The rule in short. Results of older builds do not tell it, because there was only one.
pub(crate) fn rule_words(goodput: Option<&Goodput>) -> &'static str {
    match goodput.map(|goodput| goodput.rule) {
        Some(GoodputRule::BetweenStarts) => "between starts",
        Some(GoodputRule::Until95Percent) => "until 95 % arrived",
        Some(GoodputRule::WholeRun) => "over the whole run",
        Some(GoodputRule::MeasuredWindow) => "in the measured window",
        None => "from first start to last end",
    }
}

/// The lines about goodput: the rate with its rule and period, and what came after the period. Each
/// has a label and a text.
pub(crate) fn lines(bps: Option<u64>, goodput: Option<&Goodput>) -> Vec<(&'static str, String)> {
    let mut text = headline(bps, goodput);
    let Some(goodput) = goodput else { return vec![("Goodput", text)] };
    text = match goodput.rule {
        GoodputRule::BetweenStarts => {
            format!("{}, from the first to the last start", rate(goodput.bps()))
        }
        GoodputRule::Until95Percent => format!("{}, until 95 % had arrived", rate(goodput.bps())),
        GoodputRule::WholeRun => {
            format!("{}, whole run, since much never arrived", rate(goodput.bps()))
        }
        GoodputRule::MeasuredWindow => format!("{}, in the measured window", rate(goodput.bps())),
    };
    text += &format!(": {}", time(goodput.duration_ps));
    let tail = goodput.tail.map(|tail| {
        let (bytes, lasted) = (memory(tail.bytes), time(tail.duration_ps));
        match goodput.rule {
            GoodputRule::Until95Percent | GoodputRule::WholeRun | GoodputRule::MeasuredWindow => {
                ("Goodput tail", format!("the last 5 %: {bytes} in {lasted}"))
            }
            GoodputRule::BetweenStarts => {
                ("Goodput rest", format!("after the last start: {bytes} in {lasted}"))
            }
        }
    });
    std::iter::once(("Goodput", text)).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use rocelab_results::GoodputTail;

    use super::*;

    #[test]
    fn the_rule_is_told() {
        let tail = GoodputTail { bytes: 5_000_000, duration_ps: 2_000_000_000 };
        let until = Goodput {
            rule: GoodputRule::Until95Percent,
            bytes: 95_000_000,
            duration_ps: 1_000_000_000,
            tail: Some(tail),
        };
        let expected = [
            ("Goodput", "760.00 Gbit/s, until 95 % had arrived: 1.00 ms".to_owned()),
            ("Goodput tail", "the last 5 %: 5.00 MB in 2.00 ms".to_owned()),
        ];
        assert_eq!(lines(Some(until.bps()), Some(&until)), expected);
        let between = Goodput { rule: GoodputRule::BetweenStarts, ..until };
        let expected = [
            ("Goodput", "760.00 Gbit/s, from the first to the last start: 1.00 ms".to_owned()),
            ("Goodput rest", "after the last start: 5.00 MB in 2.00 ms".to_owned()),
        ];
        assert_eq!(lines(Some(between.bps()), Some(&between)), expected);
        assert_eq!(headline(None, None), "none: nothing was delivered");
        assert_eq!(headline(Some(0), None), "none: no flow completed");
    }
}
