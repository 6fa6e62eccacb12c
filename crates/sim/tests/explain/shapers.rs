//! Rate limits of a host's priorities are named, with the time that they took.

use rocelab_sim::explain::{Category, Cause, Explanation, Stage};

use super::unfinished::{explained, star};

const SHAPED: &str = "[host]\nshapers = { 3 = { rate = \"10Gbps\" } }\n";

/// What the limit of priority 3 took: the stage, the place, and the time (ps).
fn shaped(one: &Explanation) -> Vec<(Stage, &str, u64)> {
    let cause = Some(Cause::Shaper { queue: 3, rate_bps: 10_000_000_000 });
    let parts = one.parts.iter().filter(|part| part.category == Category::Shaping);
    let found = parts.map(|part| {
        assert_eq!(part.cause, cause, "{one}");
        (part.stage, &*part.place, part.ps)
    });
    found.collect()
}

/// 98 packets. With 62 bytes around each payload, a RETH of 16, and 20 of preamble and gap, all but the last are 107,298 bytes. The
/// last one leaves when all of them but a burst of 9,216 bytes would have left at 10 Gbit/s, 0.8 ns a byte. They are sent at
/// 100 Gbit/s meanwhile, 0.08 ns a byte; the rest of the time is the shaper's.
#[test]
fn a_rate_limit_of_a_priority_is_named_with_its_time() {
    let one = explained(&star(SHAPED, "100KB", ""));
    let expected = (107_298 - 9_216) * 800 - 107_298 * 80;
    assert_eq!(shaped(&one), [(Stage::Sender, "host-0", expected)], "{one}");
    assert!(one.to_string().contains("held by a shaper"), "{one}");
    assert!(one.to_string().contains("priority 3 at 10Gbps"), "{one}");
    // Another priority has no limit.
    let other = star(&SHAPED.replace("3 =", "4 ="), "100KB", "");
    assert!(shaped(&explained(&other)).is_empty());
}

/// The data of a READ is held back where it is sent, and so are TCP's segments.
#[test]
fn a_rate_limit_holds_back_answers_and_segments_too() {
    for (more, stage, place) in [
        ("verb = \"read\"", Stage::Responder, "host-1"),
        ("transport = \"tcp\"", Stage::Sender, "host-0"),
    ] {
        let tcp =
            if more.contains("tcp") { "[tcp]\npriority = 3\ninitial_window = 1000\n" } else { "" };
        let text = star(SHAPED, "100KB", tcp);
        let text = text.replace("[workload.flows]\n", &format!("[workload.flows]\n{more}\n"));
        let one = explained(&text);
        let found = shaped(&one);
        assert!(
            found.iter().any(|&(at, by, ps)| (at, by) == (stage, place) && ps > 50_000_000),
            "{one}"
        );
    }
}

/// The run ends while the limit holds back what is left.
#[test]
fn an_unfinished_flow_names_the_limit_too() {
    let one = explained(&star(SHAPED, "100MB", ""));
    assert_eq!(one.status, "unfinished", "{one}");
    assert!(shaped(&one).iter().map(|&(_, _, ps)| ps).sum::<u64>() > 800_000_000, "{one}");
}
