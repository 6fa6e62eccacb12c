//! `[roce]`.

use super::{Expected, check, plan, with};

#[test]
fn entropies_that_no_packet_can_have() {
    let text = |version: u8, list: &str| {
        with(&format!("[roce]\nversion = {version}\nentropy = {{ list = {list} }}"))
    };
    plan(&text(2, "[0, 65535]"), &[]).unwrap();
    plan(&text(1, "[1048575]"), &[]).unwrap();
    for (version, list, message, help) in [
        (2, "[]", "no UDP source port", "0 to 65535"),
        (1, "[]", "no flow label", "0 to 1048575"),
        (2, "[1, 65536]", "65536 is no UDP source port", "0 to 65535"),
        (1, "[1048576]", "1048576 is no flow label", "0 to 1048575"),
    ] {
        check(
            &text(version, list),
            Expected { place: "s.toml:3", key: "roce.entropy.list", value: list, message, help },
        );
    }
    check(
        &with("[roce]\nentropy = \"fixed\""),
        Expected {
            place: "s.toml:2",
            key: "roce.entropy",
            value: "\"fixed\"",
            message: "fixed",
            help: "random",
        },
    );
}

/// What a number may be, is said with the bounds of its key, and not with those of its type.
#[test]
fn numbers_that_are_out_of_bounds() {
    for (text, key, value, help) in [
        (
            "[roce]\nneighbours = { attempts = -1 }",
            "roce.neighbours.attempts",
            "-1",
            "from 1 to 255",
        ),
        (
            "[roce]\nneighbours = { attempts = 256 }",
            "roce.neighbours.attempts",
            "256",
            "from 1 to 255",
        ),
        ("[roce]\nretry_count = -1", "roce.retry_count", "-1", "from 0 to 7"),
        ("[roce]\nmax_outstanding = -1", "roce.max_outstanding", "-1", "from 1 to 8388608"),
        ("[roce]\nhop_limit = \"7\"", "roce.hop_limit", "\"7\"", "from 1 to 255"),
        ("[roce]\nack_interval = -1", "roce.ack_interval", "-1", "from 1 to 4294967295"),
        ("[[faults]]\naction = \"drop\"\nnth = -1", "faults[0].nth", "-1", "from 1 up"),
    ] {
        let place = format!("s.toml:{}", text.lines().count());
        check(&with(text), Expected { place: &place, key, value, message: "invalid", help });
    }
}
