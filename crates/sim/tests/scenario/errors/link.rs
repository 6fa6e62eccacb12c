//! `[[link]]`.

use super::{Expected, check, plan, with};

#[test]
fn links_that_cannot_be_are_refused() {
    let ports = "ports = [\"host-0\"]";
    plan(&with(&format!("[[link]]\n{ports}\nmtu = \"9000B\"\nbit_error_rate = 1e-12")), &[])
        .unwrap();
    let table = [
        ("ports = []\nmtu = \"1500B\"", 2, "link[0].ports", "[]", "no port is named", "leaf-0:3"),
        (
            "ports = [\"host-9\"]\nmtu = \"1500B\"",
            2,
            "link[0].ports[0]",
            "\"host-9\"",
            "no node `host-9`",
            "host-0",
        ),
        (
            "ports = [\"host-0\"]\nmtu = \"45B\"",
            3,
            "link[0].mtu",
            "\"45B\"",
            "no Ethernet link",
            "46B",
        ),
        (
            "ports = [\"host-0\"]\nmtu = \"70KB\"",
            3,
            "link[0].mtu",
            "\"70KB\"",
            "no Ethernet link",
            "65535B",
        ),
        (
            "ports = [\"host-0\"]\nbit_error_rate = 0.0",
            3,
            "link[0].bit_error_rate",
            "0.0",
            "no link works",
            "1e-12",
        ),
        (
            "ports = [\"host-0\"]\nbit_error_rate = 0.01",
            3,
            "link[0].bit_error_rate",
            "0.01",
            "no link works",
            "at most 0.001",
        ),
    ];
    for (keys, line, key, value, message, help) in table {
        let place = format!("s.toml:{line}");
        let expected = Expected { place: &place, key, value, message, help };
        check(&with(&format!("[[link]]\n{keys}")), expected);
    }
}
