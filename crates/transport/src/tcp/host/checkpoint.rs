//! What a host's TCP saves, and what it loads into one that was set up anew.

use rocelab_state::{Result, State, load_value, save_value, unfit};

use super::TcpHost;
use crate::tcp::TcpConnectionConfig;
use crate::tcp::connection::{TcpConnection, TcpEnd};

/// What is loaded has no more connections: numbers of 24 bits, as queue pairs have. Damaged bytes do
/// not ask for more memory than there is.
const MAX_CONNECTIONS: usize = 1 << 24;

/// Connections come and go: each is saved with what it was told at set-up.
impl State for TcpHost {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self {
            config,
            connections,
            inbound,
            outbound,
            waiting,
            ready,
            timers,
            completions,
            counters,
            accepted: _, // Somebody has asked for it.
            departing,
        } = self;
        save_value(config.parameters.congestion_control.name(), to)?;
        save_value(&(connections.len() as u64, self.connections().count() as u64), to)?;
        for connection in self.connections() {
            save_value(&(connection.config(), echoes(connection)), to)?;
            connection.save(to)?;
        }
        inbound.save(to)?;
        outbound.save(to)?;
        save_value(&(waiting, ready, timers, completions, counters, departing), to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        if load_value::<String>(from)? != self.config.parameters.congestion_control.name() {
            return Err(unfit("the congestion control of TCP"));
        }
        let (room, count): (u64, u64) = load_value(from)?;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if room > MAX_CONNECTIONS {
            return Err(unfit("the number of TCP connections"));
        }
        self.connections.clear();
        for _ in 0..count {
            self.load_connection(room, from)?;
        }
        self.connections.resize_with(room, || None);
        self.inbound.load(from)?;
        self.outbound.load(from)?;
        (self.waiting, self.ready, self.timers) = load_value(from)?;
        (self.completions, self.counters, self.departing) = load_value(from)?;
        self.check_numbers()
    }
}

impl TcpHost {
    /// Connections are saved in the order of their numbers, all below `room`.
    fn load_connection(&mut self, room: usize, from: &mut &[u8]) -> Result {
        let (config, echoes): (TcpConnectionConfig, bool) = load_value(from)?;
        let index = config.number as usize;
        if index < self.connections.len() || index >= room {
            return Err(unfit("the number of a TCP connection"));
        }
        let mut connection = if echoes {
            TcpConnection::new(config, &self.config)
        } else {
            TcpConnection::after(config, &self.config, 0)
        };
        connection.load(from)?;
        self.connections.resize_with(index, || None);
        self.connections.push(Some(Box::new(connection)));
        Ok(())
    }

    /// Whether all numbers of connections are in the table: also those that are forgotten may be in
    /// the stack, and have timers.
    fn check_numbers(&self) -> Result {
        let in_stack = self.outbound.entries().map(|(_, &number)| number);
        let most = self.ready.iter().copied().chain(in_stack).max();
        let reach = most.map_or(0, |most| most as usize + 1).max(self.timers.reach());
        if reach > self.connections.len() { Err(unfit("a TCP connection")) } else { Ok(()) }
    }
}

/// Which end it is follows from the set-up.
impl State for TcpEnd {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        match self {
            Self::Sender(sender) => sender.save(to),
            Self::Receiver(receiver) => receiver.save(to),
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        match self {
            Self::Sender(sender) => sender.load(from),
            Self::Receiver(receiver) => receiver.load(from),
        }
    }
}

/// Whether it is a connection as any other, and not one that was opened again to answer what comes
/// late, without marks.
const fn echoes(connection: &TcpConnection) -> bool {
    match connection.end() {
        TcpEnd::Sender(_) => true,
        TcpEnd::Receiver(receiver) => receiver.echoes(),
    }
}
