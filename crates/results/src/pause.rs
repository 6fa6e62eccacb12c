//! PFC events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::column::words;
use crate::declaration::record;

record! {
    /// A row of `pfc.csv`: what a PFC frame did to one priority of the port that received it, in
    /// order of time.
    pub struct PauseRecord<'a> as "pfc" in "pfc.csv" {
        /// When.
        time_ps: u64 => "ps";
        /// The node that received the frame and obeys it.
        node: Cow<'a, str>;
        /// The port that stops or continues to send.
        port: u16;
        /// Priority, 0 to 7.
        priority: u8;
        /// `pause`: it was not paused, now it is; `refresh`: it was paused, and its time starts
        /// anew; `resume`: zero quanta ended the pause; `expire`: its time expired.
        event: PauseEvent;
        /// Pause time in the frame; 0 resumes.
        quanta: u16 => "512 bit times of the port";
        /// For `resume` and `expire`: duration of the pause.
        duration_ps: Option<u64> => "ps";
    }
}

/// What happened to the pause of a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseEvent {
    /// It was not paused, and now it is.
    Pause,
    /// It was paused, and its time started anew.
    Refresh,
    /// It was paused, and a frame with zero quanta ended the pause.
    Resume,
    /// It was paused, and the time of the pause expired.
    Expire,
}

impl PauseEvent {
    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Refresh => "refresh",
            Self::Resume => "resume",
            Self::Expire => "expire",
        }
    }
}

words!(PauseEvent);
