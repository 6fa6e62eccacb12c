//! The keys of a configuration.

use crate::known_names;

/// The file of flow completion times.
pub const FCT_FILE: &str = "fct.txt";
/// The file of pause frames.
pub const PFC_FILE: &str = "pfc.txt";
/// The file of queue lengths.
pub const QUEUE_FILE: &str = "qlen.txt";

/// A key of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) values: Values,
    pub(super) role: Role,
}

/// How many words follow a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    One,
    Three,
    /// A count, and as many pairs of a port rate and a value.
    Pairs,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It holds for every run.
    Run,
    /// It is a parameter of a reaction to congestion.
    Algorithm,
    /// It names a file that we write too, under this name.
    Output(&'static str),
    /// It is read and changes no result, here or there.
    Nothing,
}

const fn key(name: &'static str, values: Values, role: Role) -> Key {
    Key { name, values, role }
}

const fn run(name: &'static str) -> Key {
    key(name, Values::One, Role::Run)
}

const fn algorithm(name: &'static str) -> Key {
    key(name, Values::One, Role::Algorithm)
}

const fn nothing(name: &'static str) -> Key {
    key(name, Values::One, Role::Nothing)
}

/// Every key, in the order of the simulator's own configurations.
pub(super) const KEYS: &[Key] = &[
    run("ENABLE_QCN"),
    nothing("USE_DYNAMIC_PFC_THRESHOLD"),
    nothing("PAUSE_TIME"),
    nothing("DATA_RATE"),
    nothing("LINK_DELAY"),
    run("PACKET_PAYLOAD_SIZE"),
    run("TOPOLOGY_FILE"),
    run("FLOW_FILE"),
    nothing("TRACE_FILE"),
    nothing("TRACE_OUTPUT_FILE"),
    key("FCT_OUTPUT_FILE", Values::One, Role::Output(FCT_FILE)),
    key("PFC_OUTPUT_FILE", Values::One, Role::Output(PFC_FILE)),
    run("SIMULATOR_STOP_TIME"),
    run("CC_MODE"),
    algorithm("ALPHA_RESUME_INTERVAL"),
    algorithm("RATE_DECREASE_INTERVAL"),
    algorithm("CLAMP_TARGET_RATE"),
    algorithm("RP_TIMER"),
    algorithm("EWMA_GAIN"),
    algorithm("FAST_RECOVERY_TIMES"),
    algorithm("RATE_AI"),
    algorithm("RATE_HAI"),
    algorithm("MIN_RATE"),
    algorithm("DCTCP_RATE_AI"),
    run("ERROR_RATE_PER_LINK"),
    run("L2_CHUNK_SIZE"),
    run("L2_ACK_INTERVAL"),
    run("L2_BACK_TO_ZERO"),
    run("HAS_WIN"),
    run("GLOBAL_T"),
    run("VAR_WIN"),
    algorithm("FAST_REACT"),
    algorithm("U_TARGET"),
    algorithm("MI_THRESH"),
    algorithm("INT_MULTI"),
    algorithm("MULTI_RATE"),
    algorithm("SAMPLE_FEEDBACK"),
    algorithm("PINT_LOG_BASE"),
    algorithm("PINT_PROB"),
    run("RATE_BOUND"),
    run("ACK_HIGH_PRIO"),
    key("LINK_DOWN", Values::Three, Role::Run),
    nothing("ENABLE_TRACE"),
    key("KMAX_MAP", Values::Pairs, Role::Run),
    key("KMIN_MAP", Values::Pairs, Role::Run),
    key("PMAX_MAP", Values::Pairs, Role::Run),
    run("BUFFER_SIZE"),
    key("QLEN_MON_FILE", Values::One, Role::Output(QUEUE_FILE)),
    run("QLEN_MON_START"),
    run("QLEN_MON_END"),
];

/// The key called `name`.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// What to write instead of a word that is no key.
pub(super) fn suggestion(word: &str) -> String {
    let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    match known_names(word, &names) {
        help if help.starts_with("did you mean") => help,
        _ => "write `KEY value`; docs/scenario.md lists the keys".into(),
    }
}
