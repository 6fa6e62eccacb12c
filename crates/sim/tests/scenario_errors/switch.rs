//! `[switch]`.

use crate::{Expected, check, with};

#[test]
fn switch() {
    check(
        &with("[switch.ecn]\nkmin = \"400KB\"\nkmax = \"100KB\"\npmax = 0.2"),
        Expected {
            place: "s.toml:2",
            key: "switch.ecn.kmin",
            value: "\"400KB\"",
            message: "kmin 400KB is above kmax 100KB",
            help: "larger kmax",
        },
    );
    check(
        &with("[switch]\necn = { kmin = \"1KB\", kmax = \"2KB\", pmax = 1.5 }"),
        Expected {
            place: "s.toml:2",
            key: "switch.ecn.pmax",
            value: "1.5",
            message: "a probability",
            help: "from 0 to 1",
        },
    );
    check(
        &with("[switch]\nlossless = [3, 8]"),
        Expected {
            place: "s.toml:2",
            key: "switch.lossless[1]",
            value: "8",
            message: "priority 8 does not exist",
            help: "0 to 7",
        },
    );
    check(
        &with("[switch]\nlossless = [3,\n 4, 3]"),
        Expected {
            place: "s.toml:3",
            key: "switch.lossless[2]",
            value: "3",
            message: "priority 3 is named twice",
            help: "once",
        },
    );
    check(
        &with("[switch]\nheadroom = \"10MB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.headroom",
            value: "\"10MB\"",
            message: "headroom 40MB and reserves 0B of 4 ports and 1 lossless priorities leave \
                      nothing of the buffer of 32MB",
            help: "the buffer larger than 40MB",
        },
    );
    check(
        &with("[switch]\nreserve = \"9MB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.reserve",
            value: "\"9MB\"",
            message: "reserves 36MB",
            help: "the buffer larger than",
        },
    );
    check(
        &with("[switch]\nbuffer = \"10KB\""),
        Expected {
            place: "s.toml:2",
            key: "switch.buffer",
            value: "\"10KB\"",
            message: "leave nothing of the buffer of 10KB",
            help: "the buffer larger than",
        },
    );
    check(
        &with("[switch]\nalpha = \"0\""),
        Expected {
            place: "s.toml:2",
            key: "switch.alpha",
            value: "\"0\"",
            message: "stores no frame",
            help: "1/8",
        },
    );
    check(
        &with("[switch.scheduler.dwrr]\nweights = [1, 0]"),
        Expected {
            place: "s.toml:2",
            key: "switch.scheduler.dwrr.weights[1]",
            value: "0",
            message: "out of range",
            help: "1 to 100",
        },
    );
    check(
        &with("[switch]\npause_quanta = 0"),
        Expected {
            place: "s.toml:2",
            key: "switch.pause_quanta",
            value: "0",
            message: "means: resume",
            help: "1 to 65535",
        },
    );
}
