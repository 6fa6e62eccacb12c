//! `rocelab sm`: the tables of an InfiniBand subnet.

use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use rocelab_subnet::{
    Engine, Guid, NodeKind, Options, Routing, SERVICE_LEVELS, ServiceLevels, Subnet, SubnetError,
    Topology, credit_loops, dump, ibnetdiscover, lft_file, roots, route, sl_file,
};

use rocelab_sim::{Plan, Planning, Scenario, SubnetManagerPlan, subnet_topology};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::{COPY_OR_OUT, Inputs};

/// What is written, by the names that OpenSM gives them.
const LFTS: &str = "opensm-lfts.dump";
const LIDS: &str = "guid2lid";
const LEVELS: &str = "sl.txt";

/// Arguments of `rocelab sm`.
#[derive(Debug, Args)]
pub(crate) struct SmArguments {
    /// A subnet, as `ibnetdiscover` prints it or `ibsim` reads it, or a scenario (.toml).
    #[arg(value_name = "NET_OR_SCENARIO")]
    net: PathBuf,
    /// The routing engine. [default: that of the scenario]
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(Engine::ALL.map(Engine::name)))]
    engine: Option<String>,
    /// Give each port of a channel adapter 2^LMC LIDs. [default: that of the scenario, or 0]
    #[arg(long, value_name = "LMC", value_parser = clap::value_parser!(u8).range(0..=7))]
    lmc: Option<u8>,
    /// A file with the GUIDs of the root switches, one to a line, for `updn` and `ftree`. [default: those of the
    /// scenario; else the engine finds them]
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// The forwarding tables of the engine `file`, as in opensm-lfts.dump.
    #[arg(long, value_name = "FILE", required_if_eq("engine", "file"))]
    lfts: Option<PathBuf>,
    /// The service levels of the engine `file`, as in sl.txt. [default: those of the scenario; else SL 0]
    #[arg(long, value_name = "FILE", requires = "lfts")]
    sl_file: Option<PathBuf>,
    /// The node that runs the subnet manager, by its name or GUID. [default: the first one, of a scenario the first host]
    #[arg(long, value_name = "NODE")]
    manager: Option<String>,
    /// Data lanes of all ports, for `dfsssp` and `lash`, which refuse a subnet that needs more. [default: those of the
    /// scenario; else 8]
    #[arg(long, value_name = "N", value_parser = PossibleValuesParser::new(["1", "2", "4", "8", "15"]))]
    lanes: Option<String>,
    /// Write the tables into this folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the tables if the folder exists.
    #[arg(long)]
    force: bool,
}

/// Routes a subnet, and writes LIDs, forwarding tables and service levels.
pub(crate) fn execute(arguments: &SmArguments) -> Result<Exit, Failure> {
    let plan = match is_scenario(&arguments.net) {
        true => Some(Scenario::load(&arguments.net, &[])?.plan()?),
        false => None,
    };
    let manager = plan.as_ref().and_then(|plan| Some(&plan.infiniband.as_ref()?.manager));
    let engine = arguments.engine(manager)?;
    arguments.refuse_options_without_effect(engine)?;
    let subnet = arguments.subnet(plan.as_ref())?;
    let options = arguments.options(&subnet, manager)?;
    let folder = Folder::new(arguments)?;
    let routing = route(&subnet, engine, &options);
    folder.write(&[
        (LFTS, &dump::Lfts { subnet: &subnet, tables: &routing.tables.forwarding }),
        (LIDS, &dump::GuidToLid { subnet: &subnet }),
        (LEVELS, &dump::Levels { subnet: &subnet, tables: &routing.tables }),
    ])?;
    answer::print_notes(&arguments.net, &notes(&subnet));
    let mut text = summary(&subnet, engine, &routing);
    let _ = writeln!(text, "tables: {}", arguments.out.display());
    answer::print(&text)?;
    Ok(Exit::Done)
}

impl SmArguments {
    /// The routing engine: that of the option, or that of the scenario's subnet manager.
    fn engine(&self, manager: Option<&SubnetManagerPlan>) -> Result<Engine, Failure> {
        let Some(name) = &self.engine else {
            return manager.map(|manager| manager.engine).ok_or_else(|| {
                let file = self.net.display();
                Failure::Input(format!(
                    "--engine is missing, and {file} says none; give a routing engine, such as --engine updn"
                ))
            });
        };
        let engine = Engine::ALL.into_iter().find(|engine| engine.name() == *name);
        engine.ok_or_else(|| Failure::Defect(format!("engine {name}")))
    }

    /// Refuses files that the engine would not read.
    fn refuse_options_without_effect(&self, engine: Engine) -> Result<(), Failure> {
        let refuse = |option: &str, file: &Path, engines: &str| {
            Failure::Input(format!(
                "{option} = {}: {engine} does not read it; leave it out, or use --engine {engines}",
                file.display()
            ))
        };
        match (&self.roots, &self.lfts, engine) {
            (Some(file), _, one) if ![Engine::UpDown, Engine::FatTree].contains(&one) => {
                Err(refuse("--roots", file, "updn or ftree"))
            }
            (_, Some(file), one) if one != Engine::File => Err(refuse("--lfts", file, "file")),
            (_, _, one) if ![Engine::Dfsssp, Engine::Lash].contains(&one) => match &self.lanes {
                Some(lanes) => Err(refuse("--lanes", Path::new(lanes), "dfsssp or lash")),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn subnet(&self, plan: Option<&Plan>) -> Result<Subnet, Failure> {
        let topology = match plan {
            Some(plan) => self.topology_of(plan)?,
            None => {
                let text = read("NET", &self.net)?;
                ibnetdiscover::read(&self.net, &text).map_err(wrong_file)?
            }
        };
        // That of a scenario is at its first host.
        let first = plan.and_then(|plan| plan.topology.hosts().next()).unwrap_or(0);
        let manager = self.manager(&topology, first as usize)?;
        let wrong = |error: SubnetError| {
            let help = match error {
                SubnetError::NoManager | SubnetError::ManagerIsAlone { .. } => {
                    "name another node with --manager"
                }
                SubnetError::LmcTooLarge { .. } => "use a smaller --lmc",
                SubnetError::NotEnoughLids => "use a smaller --lmc, or fewer nodes",
                SubnetError::TooFar { .. } => {
                    "shorten the chain of switches, or name a node in its middle with --manager"
                }
            };
            Failure::Input(format!("{}: {error}; {help}", self.net.display()))
        };
        let of_scenario = plan.and_then(|plan| Some(plan.infiniband.as_ref()?.manager.lmc));
        let lmc = self.lmc.or(of_scenario).unwrap_or(0);
        Subnet::new(topology, manager, lmc).map_err(wrong)
    }

    /// The node that runs the subnet manager.
    fn manager(&self, topology: &Topology, first: usize) -> Result<usize, Failure> {
        let Some(wanted) = &self.manager else { return Ok(first) };
        let guid = Guid::parse(wanted);
        let mut found = (0..).zip(topology.nodes()).filter(|(_, node)| node.name == *wanted);
        let by_guid = || topology.nodes().iter().position(|node| Some(node.guid) == guid);
        match (found.next(), found.next()) {
            (Some((node, _)), None) => Ok(node),
            (Some(_), Some(_)) => Err(Failure::Input(format!(
                "--manager = {wanted}: several nodes of {} have this name; write the GUID of one",
                self.net.display()
            ))),
            (None, _) => by_guid().ok_or_else(|| {
                Failure::Input(format!(
                    "--manager = {wanted}: {} has no such node; write the name or the GUID of one",
                    self.net.display()
                ))
            }),
        }
    }

    /// The nodes and cables of a scenario, whatever its links are of.
    fn topology_of(&self, plan: &Plan) -> Result<Topology, Failure> {
        let every_link = plan.topology.all_links_active();
        subnet_topology(&plan.topology, &every_link).map_err(|reason| {
            Failure::Input(format!(
                "NET_OR_SCENARIO = {}: the topology is no subnet: {reason}; use a smaller one",
                self.net.display()
            ))
        })
    }

    /// What the options say, and else what the scenario's `manager` has.
    fn options(
        &self,
        subnet: &Subnet,
        manager: Option<&SubnetManagerPlan>,
    ) -> Result<Options, Failure> {
        let mut options = Options::default();
        if let Some(SubnetManagerPlan { roots, lanes, tables, levels, .. }) = manager {
            (options.tables, options.levels) = (tables.clone(), levels.clone());
            let place = |root: &u32| {
                subnet.switches().iter().position(|&one| u32::try_from(one) == Ok(*root))
            };
            options.roots = roots.as_ref().map(|all| all.iter().filter_map(place).collect());
            options.lanes = *lanes;
        }
        if let Some(lanes) = &self.lanes {
            options.lanes = lanes.parse().unwrap_or(options.lanes);
        }
        if let Some(path) = &self.roots {
            let text = read("--roots", path)?;
            options.roots = Some(roots::read(path, &text, subnet).map_err(wrong_file)?);
        }
        if let Some(path) = &self.lfts {
            let text = read("--lfts", path)?;
            options.tables = Some(lft_file::read(path, &text, subnet).map_err(wrong_file)?);
            options.levels = self.levels(path, &text, subnet)?;
        }
        Ok(options)
    }

    /// The service levels in the file that an option names; `text` is that of the tables.
    fn levels(
        &self,
        tables: &Path,
        text: &str,
        subnet: &Subnet,
    ) -> Result<Option<ServiceLevels>, Failure> {
        let Some(path) = &self.sl_file else { return Ok(None) };
        let lids = lft_file::lids_now(tables, text, subnet).map_err(wrong_file)?;
        let text = read("--sl-file", path)?;
        let most = u8::try_from(SERVICE_LEVELS).unwrap_or(u8::MAX);
        sl_file::read(path, &text, subnet, &lids, most).map(Some).map_err(wrong_file)
    }

    fn inputs(&self) -> Inputs<'_> {
        let others = [&self.roots, &self.lfts, &self.sl_file].into_iter().flatten();
        let net = Inputs::file(&self.net, "the subnet itself");
        others.map(|path| Inputs::file(path, "a file that is read")).fold(net, Inputs::and)
    }
}

/// Whether it is a scenario by its name.
fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

fn wrong_file(error: rocelab_subnet::InputError) -> Failure {
    Failure::Input(error.to_string())
}

/// The text of a file that the user named by `option`.
fn read(option: &str, path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        Failure::Input(format!("{option} = {}: {error}; name a text file", path.display()))
    })
}

/// What the manager does not reach.
fn notes(subnet: &Subnet) -> Vec<String> {
    let [first, ..] = subnet.unreached() else { return Vec::new() };
    let name = plain(&subnet.topology().nodes()[*first].name);
    let note = match subnet.unreached().len() {
        1 => format!("the subnet manager does not reach {name}"),
        count => format!("the subnet manager does not reach {count} nodes, such as {name}"),
    };
    vec![note]
}

/// What was done, line by line.
fn summary(subnet: &Subnet, asked: Engine, routing: &Routing) -> String {
    let mut text = String::new();
    if let Some(reason) = &routing.refused {
        let _ = writeln!(text, "{asked} refused the subnet: {reason}");
    }
    let _ = writeln!(text, "{} tables configured", routing.engine);
    let count = |kind| subnet.end_ports().iter().filter(|one| one.kind == kind).count();
    let _ = writeln!(
        text,
        "subnet: {} switches, {} ports of channel adapters, {} of routers; LIDs up to {}",
        count(NodeKind::Switch),
        count(NodeKind::ChannelAdapter),
        count(NodeKind::Router),
        subnet.last_lid()
    );
    let _ = writeln!(text, "data lanes used: {}", routing.tables.lanes);
    text.push_str(&missing_paths(subnet, routing));
    let own_lanes: [u8; SERVICE_LEVELS] =
        std::array::from_fn(|level| u8::try_from(level).unwrap_or(0));
    let loops = credit_loops(subnet, &routing.tables, &own_lanes);
    if loops.is_empty() {
        text.push_str("credit loops: none\n");
    }
    for one in loops {
        let _ = writeln!(text, "credit loop on lane {}: {}", one.lane, plain(&one.named(subnet)));
    }
    text
}

/// Pairs of channel adapters that the tables have no path for; empty if there is a path for each.
fn missing_paths(subnet: &Subnet, routing: &Routing) -> String {
    let missing = routing.tables.missing_paths(subnet);
    let Some((from, to)) = missing.first else { return String::new() };
    let name = |end_port: usize| {
        let node = subnet.end_ports()[end_port].id.node;
        plain(&subnet.topology().nodes()[node].name)
    };
    format!(
        "paths: {} of {} pairs of channel adapters have none, such as {} -> {}\n",
        missing.pairs,
        missing.all,
        name(from),
        name(to)
    )
}

/// A text of the file without characters that a terminal obeys.
fn plain(text: &str) -> String {
    let shown = |character: char| match character.is_control() {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    text.chars().map(shown).collect()
}

/// The folder of the tables, and one beside it where they are written first.
struct Folder {
    path: PathBuf,
    partial: PathBuf,
}

impl Folder {
    /// The folder that `--out` names, unless something is in the way.
    fn new(arguments: &SmArguments) -> Result<Self, Failure> {
        let path = arguments.out.clone();
        let shown = path.display();
        let refuse = |what: &str| Err(Failure::Input(format!("--out = {shown}: {what}")));
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return refuse("has no name; name a folder");
        };
        match Found::at(&path) {
            Found::Nothing => {}
            Found::NoFolder => return refuse("is no folder; name another one"),
            _ if !arguments.force => return refuse("exists; replace it with --force"),
            Found::OnlyTables => {}
            Found::OtherFiles => {
                return refuse(
                    "has other files than tables, which would be lost; name another one",
                );
            }
        }
        // Behind a link, the folder itself is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let partial = path.with_file_name(format!(".{name}.partial"));
        if matches!(Found::at(&partial), Found::NoFolder | Found::OtherFiles) {
            return refuse(&format!(
                "{} is in the way, where tables are written first; move it, or name another folder",
                partial.display()
            ));
        }
        let removed = [path.clone(), partial.clone()];
        arguments.inputs().refuse_removing(&removed, &path, COPY_OR_OUT)?;
        Ok(Self { path, partial })
    }

    /// Writes all files, or none.
    fn write(&self, files: &[(&str, &dyn Display)]) -> Result<(), Failure> {
        let written = self.fill(files).map_err(|error| (self.partial.clone(), error));
        let written =
            written.and_then(|()| self.move_to_place().map_err(|error| (self.path.clone(), error)));
        written.map_err(|(path, error)| {
            // What is half done must not look whole; the first error is the one to tell.
            let _ = fs::remove_dir_all(&self.partial);
            Failure::Machine { path, error }
        })
    }

    fn fill(&self, files: &[(&str, &dyn Display)]) -> std::io::Result<()> {
        match fs::remove_dir_all(&self.partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&self.partial)?;
        for (name, content) in files {
            // Tables of a large subnet are too long for a text in memory.
            let mut file = BufWriter::new(File::create(self.partial.join(name))?);
            write!(file, "{content}")?;
            file.flush()?;
        }
        Ok(())
    }

    fn move_to_place(&self) -> std::io::Result<()> {
        // The old tables are there until the new ones are: they are moved away, and come back if the new ones cannot.
        let old = self.partial.with_extension("old");
        match fs::rename(&self.path, &old) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return fs::rename(&self.partial, &self.path);
            }
            moved => moved?,
        }
        if let Err(error) = fs::rename(&self.partial, &self.path) {
            fs::rename(&old, &self.path)?;
            return Err(error);
        }
        fs::remove_dir_all(&old)
    }
}

/// What is where tables are to be.
enum Found {
    Nothing,
    NoFolder,
    /// A folder of tables, or an empty one.
    OnlyTables,
    OtherFiles,
}

impl Found {
    fn at(path: &Path) -> Self {
        let mut entries = match fs::read_dir(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::Nothing,
            Err(_) => return Self::NoFolder,
            Ok(entries) => entries,
        };
        let is_other = |entry: std::io::Result<fs::DirEntry>| {
            let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
            ![LFTS, LIDS, LEVELS].iter().any(|ours| *ours == name)
        };
        if entries.any(is_other) { Self::OtherFiles } else { Self::OnlyTables }
    }
}
