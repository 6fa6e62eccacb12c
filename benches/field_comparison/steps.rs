//! The steps of the comparison.

/// Flows and a network of a golden run.
#[derive(Debug)]
pub(crate) struct Case {
    /// The folder in `crates/sim/tests/golden/hpcc-ns3` and the scenario in
    /// `scenarios/field-comparison`.
    pub(crate) name: &'static str,
    /// Number of seeds for the native model. A seed determines the random choices of marks and
    /// paths.
    pub(crate) seeds: u32,
    /// The steps from that simulator's rules to the native defaults, one difference at a time.
    pub(crate) steps: &'static [Step],
}

/// A step: one more difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) says: &'static str,
    pub(crate) rules: Rules,
    /// Keys and their values. The keys of earlier steps with the same rules stay set.
    pub(crate) sets: &'static [(&'static str, &'static str)],
    /// Whether its keys are set in this step only.
    pub(crate) aside: bool,
}

/// The rules of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// `[profile.hpcc-ns3]`: the case's `config.txt`.
    Profile,
    /// The case's scenario.
    Native,
}

const PROFILE: Step =
    Step { says: "that simulator's rules", rules: Rules::Profile, sets: &[], aside: false };
const PAYLOAD: Step = Step {
    says: "packets of 1024 bytes",
    rules: Rules::Profile,
    sets: &[("profile.hpcc-ns3.payload", "1024B")],
    aside: false,
};
const NATIVE: Step =
    Step { says: "native, set up alike", rules: Rules::Native, sets: &[], aside: false };
const MEMORY: Step = Step {
    says: "native reserve, headroom and XON",
    rules: Rules::Native,
    sets: &[("switch.reserve", "0B"), ("switch.headroom", "auto"), ("switch.xon_offset", "2496B")],
    aside: false,
};
const SHORT_PAUSES: Step = Step {
    says: "pauses of 200 quanta (1.02 us)",
    rules: Rules::Native,
    sets: &[("switch.pause_quanta", "200")],
    aside: true,
};
const MARKS: Step = Step {
    says: "marks as packets join a queue",
    rules: Rules::Native,
    sets: &[("switch.ecn.mark_at", "enqueue")],
    aside: false,
};
const CNP_PRIORITY: Step = Step {
    says: "CNPs ahead of data",
    rules: Rules::Native,
    sets: &[("roce.cnp_priority", "6")],
    aside: false,
};
const TIMEOUT: Step = Step {
    says: "timeouts: the native defaults",
    rules: Rules::Native,
    sets: &[("roce.ack_timeout", "14")],
    aside: false,
};
const RARE_CNPS: Step = Step {
    says: "a CNP in 50 us at most",
    rules: Rules::Native,
    sets: &[("congestion_control.dcqcn.cnp_interval", "50us")],
    aside: true,
};

/// Rates that are higher by the ratio of the frame lengths, so that a full packet takes the same
/// time.
macro_rules! equal_times {
    ($topology:literal $(, $more:expr)*) => {
        Step {
            says: "native, full packets as quick",
            rules: Rules::Native,
            sets: &[("topology.file.path", $topology) $(, $more)*],
            aside: true,
        }
    };
}

/// All cases, in the order of the page.
pub(crate) const CASES: [Case; 5] = [
    Case {
        name: "pfcstorm-nocc",
        seeds: 10,
        steps: &[
            PROFILE,
            PAYLOAD,
            equal_times!("pfcstorm-nocc.faster-links.topology.txt"),
            NATIVE,
            MEMORY,
            SHORT_PAUSES,
            TIMEOUT,
        ],
    },
    Case {
        name: "incast16-dcqcn",
        seeds: 10,
        steps: &[
            PROFILE,
            PAYLOAD,
            equal_times!("incast16-dcqcn.faster-links.topology.txt"),
            NATIVE,
            MARKS,
            MEMORY,
            CNP_PRIORITY,
            TIMEOUT,
            RARE_CNPS,
        ],
    },
    Case {
        name: "dumbbell-dcqcn",
        seeds: 10,
        steps: &[
            PROFILE,
            PAYLOAD,
            equal_times!("dumbbell-dcqcn.faster-links.topology.txt"),
            NATIVE,
            MARKS,
            MEMORY,
            CNP_PRIORITY,
            TIMEOUT,
            RARE_CNPS,
        ],
    },
    Case {
        name: "leafspine-websearch-dcqcn",
        seeds: 3,
        steps: &[
            PROFILE,
            PAYLOAD,
            equal_times!(
                "leafspine-websearch-dcqcn.faster-links.topology.txt",
                ("switch.ecn.per_rate", "26023500kbps")
            ),
            NATIVE,
            MARKS,
            CNP_PRIORITY,
            TIMEOUT,
            RARE_CNPS,
        ],
    },
    Case {
        name: "leafspine-websearch-hpcc",
        seeds: 3,
        steps: &[PROFILE, PAYLOAD, NATIVE, TIMEOUT],
    },
];
