//! Automatic path migration: a queue pair that has a second path, and takes it when the first one fails.
//!
//! States and the MigReq bit as in IBTA, volume 1, clause 17.2.8: a queue pair says by MigReq 0 that it has an alternate path
//! loaded (Rearm, Armed), and by 1 that it uses the only one that it has (Migrated). It is armed once it has heard from its peer
//! that that has one too; then either of the two may migrate, and the other follows at the first packet with MigReq 1.

use rocelab_units::SimTime;

use super::pair::QueuePair;
use crate::nic::Shared;
use crate::packet::has_alternate_path;
use crate::{AlternatePath, Packet, PathMigration};

/// Where a queue pair with an alternate path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
enum PathState {
    /// It uses the only path that it has.
    Migrated,
    /// An alternate path is loaded; whether the peer has one too is not known.
    Rearm,
    /// Both have one.
    Armed,
}

/// The paths of a queue pair that has two.
#[derive(Debug)]
pub(super) struct Migration {
    config: AlternatePath,
    state: PathState,
    /// The entropy of the path that is not used.
    other: u32,
    /// When an alternate path is loaded again.
    rearm_at: SimTime,
    /// Whether the program has asked for a migration, and it took place.
    asked: bool,
}

rocelab_state::state!(Migration { values: state, other, rearm_at, asked; kept: config });

impl Migration {
    pub(super) const fn new(config: AlternatePath) -> Self {
        let (state, other) = (PathState::Rearm, config.entropy);
        Self { config, state, other, rearm_at: SimTime::NEVER, asked: false }
    }
}

impl QueuePair {
    /// A packet has arrived: what it says of the peer's paths, before anything else is made of it.
    pub(crate) fn note_path(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        let migration = self.paths.as_mut().and_then(|paths| paths.migration.as_mut());
        let Some(migration) = migration else { return };
        if !packet.opcode().is_request() && !packet.opcode().is_response() {
            return; // Congestion notifications say nothing of paths.
        }
        if migration.rearm_at <= now {
            migration.rearm_at = SimTime::NEVER;
            migration.state = PathState::Rearm;
            self.address.set_migrated(false);
        }
        let asks = match (migration.state, has_alternate_path(packet)) {
            (PathState::Rearm, true) => {
                migration.state = PathState::Armed;
                false
            }
            (PathState::Armed, asked) => {
                let due = migration.config.migrate_at.is_some_and(|at| at <= now);
                let own = due && !migration.asked;
                migration.asked |= own;
                own || !asked
            }
            _ => false,
        };
        if asks {
            self.migrate(now, shared);
        }
    }

    /// Takes the other path, if it is armed; whether it was.
    #[cold]
    pub(super) fn migrate(&mut self, now: SimTime, shared: &mut Shared) -> bool {
        let migration = self.paths.as_mut().and_then(|paths| paths.migration.as_mut());
        let Some(migration) = migration else { return false };
        if migration.state != PathState::Armed {
            return false;
        }
        migration.state = PathState::Migrated;
        let rearm = migration.config.rearm.map(|after| now.saturating_add(after));
        migration.rearm_at = rearm.unwrap_or(SimTime::NEVER);
        self.address.exchange_entropy(&mut migration.other);
        self.address.set_migrated(true);
        shared.migrations.push(PathMigration { time: now, qpn: self.qpn });
        true
    }
}
