//! What the simulator does not survive, or does with memory that nobody has set.

use crate::error::InputError;
use crate::input::Input;

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accident {
    /// Feedback finds that a flow's NIC has no packets that are not acknowledged: a null pointer.
    EmptyBuffer { stream: u32 },
    /// `L2_CHUNK_SIZE 0` is divided by.
    ChunkOfZero,
    /// A pause is renewed every 0 us.
    PauseOfZero,
    /// A timer of 0 us starts itself again.
    TimerOfZero { key: &'static str },
    /// A host has more flows than its NIC has room for.
    TooManyFlows { node: u32 },
    /// A packet for a socket that is gone.
    SocketGone { flow: u32 },
}

impl Accident {
    /// What is wrong with the `input` that led here, at `time` (ns).
    pub(crate) fn explain(self, input: &Input, time: u64) -> InputError {
        let entries = &input.entries;
        let when = format!("at {time} ns the simulator");
        let numbers = |stream: u32| {
            let flow = stream as usize % input.flows.len().max(1);
            let class = input.flows.get(flow).map_or(0, |flow| flow.class);
            (flow, class)
        };
        match self {
            Self::EmptyBuffer { stream } => {
                let (flow, class) = numbers(stream);
                let crashes = format!(
                    "{when} crashes: feedback for flow {flow}, counted from 0, of class {class} finds \
                     no packet that is not acknowledged"
                );
                if class == 7 && input.config.qcn {
                    let message = format!("{crashes}: with ENABLE_QCN 1 there are none of class 7");
                    let help = "give the flow a class from 0 to 6";
                    return entries.blame("FLOW_FILE", "", message, help);
                }
                let help = "send fewer acknowledgements (a larger L2_ACK_INTERVAL), or lose less";
                entries.blame("L2_ACK_INTERVAL", "0", crashes, help)
            }
            Self::ChunkOfZero => {
                let message = format!("{when} divides by zero");
                entries.blame("L2_CHUNK_SIZE", "0", message, "write at least 1, such as 4000")
            }
            Self::PauseOfZero => {
                let message = format!("{when} never ends: it pauses again every PAUSE_TIME/2 us");
                entries.blame("PAUSE_TIME", "", message, "write at least 2")
            }
            Self::TimerOfZero { key } => {
                let message = format!("{when} never ends: a timer of 0 us starts itself again");
                let help = if key == "RP_TIMER" { "write at least 2" } else { "write at least 1" };
                entries.blame(key, "0", message, help)
            }
            Self::TooManyFlows { node } => {
                let message = format!(
                    "{when} writes beyond its tables: the NIC of host {node} has room for 127 flows \
                     and answers"
                );
                let help = "distribute the flows over more hosts";
                entries.blame("FLOW_FILE", "", message, help)
            }
            Self::SocketGone { flow } => {
                let message = format!(
                    "{when} has an answer for, or a packet of, flow {flow}, counted from 0, whose \
                     socket is gone since it stopped: what becomes of it is not reproduced"
                );
                let help = "let the flow stop after SIMULATOR_STOP_TIME";
                entries.blame("FLOW_FILE", "", message, help)
            }
        }
    }
}
