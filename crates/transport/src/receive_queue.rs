//! Receive queues: buffers for SENDs, posted ahead.

use std::collections::VecDeque;

use rocelab_state::{Result, State, load_value, save_value, unfit};

use crate::ReceiveRequest;

/// Where a queue pair's receive requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveQueueConfig {
    /// There is always a buffer, as large as the message. No receive completions are made.
    #[default]
    Endless,
    /// A queue of its own, empty at first.
    Own,
    /// The [shared receive queue](crate::Nic::create_shared_receive_queue) of this number.
    Shared(u32),
}

/// A queue pair's receive queue.
#[derive(Debug, Default)]
pub(crate) enum ReceiveQueue {
    #[default]
    Endless,
    Own(VecDeque<ReceiveRequest>),
    Shared(u32),
}

/// Whose it is is a setting.
impl State for ReceiveQueue {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let own = if let Self::Own(queue) = self { Some(queue) } else { None };
        save_value(&own, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        match (load_value(from)?, self) {
            (Some(saved), Self::Own(queue)) => *queue = saved,
            (None, Self::Endless | Self::Shared(_)) => {}
            _ => return Err(unfit("a queue pair's receive queue")),
        }
        Ok(())
    }
}

/// Receive queues that several queue pairs share, by number.
pub(crate) type SharedReceiveQueues = Vec<VecDeque<ReceiveRequest>>;

impl ReceiveQueue {
    pub(crate) fn new(config: ReceiveQueueConfig) -> Self {
        match config {
            ReceiveQueueConfig::Endless => Self::Endless,
            ReceiveQueueConfig::Own => Self::Own(VecDeque::new()),
            ReceiveQueueConfig::Shared(srqn) => Self::Shared(srqn),
        }
    }

    /// Whether a SEND finds a buffer without a look.
    pub(crate) const fn is_endless(&self) -> bool {
        matches!(self, Self::Endless)
    }

    /// The request that waits longest.
    pub(crate) fn take(&mut self, shared: &mut SharedReceiveQueues) -> Option<ReceiveRequest> {
        match self {
            Self::Endless => None,
            Self::Own(queue) => queue.pop_front(),
            Self::Shared(srqn) => shared.get_mut(*srqn as usize)?.pop_front(),
        }
    }

    /// All requests of its own, oldest first: the queue pair has failed. Those that are shared stay
    /// for the others.
    pub(crate) fn drain(&mut self) -> VecDeque<ReceiveRequest> {
        match self {
            Self::Own(queue) => core::mem::take(queue),
            Self::Endless | Self::Shared(_) => VecDeque::new(),
        }
    }
}
