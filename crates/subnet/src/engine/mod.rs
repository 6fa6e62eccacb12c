//! Routing engines: the rules by which OpenSM fills forwarding tables.

mod dfsssp;
mod dnup;
mod dor;
mod ftree;
mod heap;
mod lash;
mod minhop;
mod sssp;
mod turns;
pub(crate) mod updn;

use std::fmt;

use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, ServiceLevels, Tables};

/// A routing engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Shortest ways; each switch balances alone.
    MinHop,
    /// Up/down.
    UpDown,
    /// Down/up.
    DownUp,
    /// Dimension order routing.
    Dor,
    /// Fat tree.
    FatTree,
    /// Single-source shortest path.
    Sssp,
    /// Deadlock-free single-source shortest path.
    Dfsssp,
    /// Layered shortest path.
    Lash,
    /// Tables from a file.
    File,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 9] = [
        Self::MinHop,
        Self::UpDown,
        Self::DownUp,
        Self::Dor,
        Self::FatTree,
        Self::Sssp,
        Self::Dfsssp,
        Self::Lash,
        Self::File,
    ];

    /// Its name, as OpenSM's option `-R` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MinHop => "minhop",
            Self::UpDown => "updn",
            Self::DownUp => "dnup",
            Self::Dor => "dor",
            Self::FatTree => "ftree",
            Self::Sssp => "sssp",
            Self::Dfsssp => "dfsssp",
            Self::Lash => "lash",
            Self::File => "file",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What engines are told beside the subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Data lanes of all ports: 1, 2, 4, 8 or 15. More of them are not used.
    pub lanes: u8,
    /// Root switches, for up/down and fat tree; without them, engines find them.
    pub roots: Option<Vec<usize>>,
    /// The tables of the engine `file`: see [`lft_file`](crate::lft_file).
    pub tables: Option<ForwardingTables>,
    /// The service levels of the engine `file`: see [`sl_file`](crate::sl_file). None: SL 0 for all.
    pub levels: Option<ServiceLevels>,
}

impl Default for Options {
    /// Eight lanes, and roots that engines find.
    fn default() -> Self {
        Self { lanes: 8, roots: None, tables: None, levels: None }
    }
}

/// Tables, and which engine made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    /// The tables.
    pub tables: Tables,
    /// The engine that was really used.
    pub engine: Engine,
    /// Why it is not the engine that was asked for, if it is not.
    pub refused: Option<String>,
}

/// Why an engine that needs more than `lanes` refuses a subnet; `needed` routes it on so many lanes and says how many are used.
fn too_few_lanes(lanes: u8, needed: impl Fn(u8) -> Option<u8>) -> String {
    /// As many as a port has for data (IBTA 7.6.4).
    const MOST_LANES: u8 = 15;
    let verb = if lanes == 1 { "is" } else { "are" };
    let more = if lanes < MOST_LANES { needed(MOST_LANES) } else { None };
    match more {
        Some(needed) => format!("{needed} data lanes would be needed, and there {verb} {lanes}"),
        None => {
            format!("more than {MOST_LANES} data lanes would be needed, and there {verb} {lanes}")
        }
    }
}

fn from_file(options: &Options) -> Result<Tables, String> {
    let tables = options.tables.clone().ok_or("no file of tables is named")?;
    let service_levels = options.levels.clone().unwrap_or(ServiceLevels::Zero);
    let lanes = service_levels.lanes();
    Ok(Tables { forwarding: tables, service_levels, lanes })
}

/// Routes a subnet with an engine; if that engine refuses the subnet, with min-hop, as OpenSM does.
pub fn route(subnet: &Subnet, engine: Engine, options: &Options) -> Routing {
    let routed = match engine {
        Engine::MinHop => Ok(minhop::route(subnet)),
        Engine::UpDown => updn::route(subnet, options.roots.as_deref()),
        Engine::DownUp => Ok(dnup::route(subnet)),
        Engine::Dor => Ok(dor::route(subnet)),
        Engine::FatTree => ftree::route(subnet, options.roots.as_deref()),
        Engine::Sssp => Ok(sssp::route(subnet)),
        Engine::Dfsssp => dfsssp::route(subnet, options.lanes),
        Engine::Lash => lash::route(subnet, options.lanes),
        Engine::File => from_file(options),
    };
    match routed {
        Ok(tables) => Routing { tables, engine, refused: None },
        Err(reason) => {
            Routing { tables: minhop::route(subnet), engine: Engine::MinHop, refused: Some(reason) }
        }
    }
}
