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
