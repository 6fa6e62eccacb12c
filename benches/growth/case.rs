//! A network of a given size, with the same load for all sizes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;

use rocelab_benches::usage::Usage;
use rocelab_sim::{Planning, Scenario, Simulation};
use rocelab_units::{Duration, SimTime};

use crate::{Failure, instructions};

/// A fat tree of full bisection.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) hosts: u32,
    /// Its parameters, as in a scenario.
    topology: &'static str,
    /// Number of runs in a process: more for small networks, whose runs are short.
    times: u32,
    /// Simulated time for which instructions are counted (us). It is short because valgrind is
    /// about fifty times slower.
    pub(crate) counted_us: u32,
}

/// When measuring begins (us of simulated time): after several round trips, all links of the
/// pattern are in use.
pub(crate) const WARM_UP_US: u32 = 20;
/// When measuring ends. It is the same simulated time for all networks, because queues grow.
const END_US: u32 = 120;

/// By size.
pub(crate) const CASES: [Case; 4] = [
    Case {
        hosts: 32,
        topology: "[topology.clos]\npods = 4\nracks_per_pod = 2\nhosts_per_rack = 4\n\
                   aggregations_per_pod = 4\ncores = 8\n",
        times: 100,
        counted_us: 100,
    },
    Case {
        hosts: 320,
        topology: "[topology.clos]\npods = 5\nracks_per_pod = 8\nhosts_per_rack = 8\n\
                   aggregations_per_pod = 8\ncores = 64\n",
        times: 10,
        counted_us: 20,
    },
    Case { hosts: 1_024, topology: "[topology.fat-tree]\nk = 16\n", times: 4, counted_us: 8 },
    Case { hosts: 8_192, topology: "[topology.fat-tree]\nk = 32\n", times: 1, counted_us: 3 },
];

/// Every host sends to another at half the rate of its link, and receives from one.
const LOAD: &str =
    "[congestion_control.none]\nrate = \"50Gbps\"\n[workload.permutation]\nbytes = \"1GB\"\n";

/// The resources of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    /// Link traversals, including those of the warm-up.
    pub(crate) all_traversals: u64,
    traversals: u64,
    /// The resources after the warm-up, without building the network.
    run: Usage,
}

/// The figures of a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) hosts: u32,
    pub(crate) traversals: u64,
    usage: Usage,
    /// Instructions for each traversal, if they were counted.
    pub(crate) instructions: Option<f64>,
}

impl Measured {
    /// CPU time of a traversal (ns).
    pub(crate) fn cost_ns(&self) -> f64 {
        self.usage.cpu_s * 1e9 / self.traversals as f64
    }

    /// The largest memory of the process, divided by the hosts.
    pub(crate) fn bytes_per_host(&self) -> f64 {
        self.usage.peak_mib * f64::from(1 << 20) / f64::from(self.hosts)
    }
}

impl Case {
    fn scenario(&self, end_us: u32) -> String {
        let clos = if self.topology.contains("clos") {
            "core_link = { rate = \"100Gbps\", cable = \"50m\" }\n"
        } else {
            ""
        };
        format!(
            "stop = \"{end_us}us\"\n{}host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"50m\" }}\n{clos}{LOAD}",
            self.topology
        )
    }

    /// Runs it in this process, `times` times, and measures from the end of the warm-up on.
    pub(crate) fn run(&self, end_us: u32, times: u32) -> Result<Took, Failure> {
        let scenario = Scenario::parse(&self.scenario(end_us), Path::new("growth.toml"), &[])?;
        let plan = Arc::new(scenario.plan()?);
        let warm = SimTime::ZERO + Duration::from_us(WARM_UP_US.into());
        let mut took = Took { all_traversals: 0, traversals: 0, run: Usage::default() };
        for _ in 0..times {
            let mut simulation: Simulation = Simulation::new(Arc::clone(&plan))?;
            while simulation.progress().now < warm {
                simulation.advance(1 << 10);
            }
            let (before, traversals) = (Usage::so_far(), simulation.progress().traversals);
            while simulation.advance(1 << 20).is_none() {
                simulation.take_records();
            }
            let after = Usage::so_far();
            let cpu_s = took.run.cpu_s + after.cpu_s - before.cpu_s;
            took.run = Usage { cpu_s, ..after };
            let all = simulation.progress().traversals;
            took.all_traversals += all;
            took.traversals += all - traversals;
        }
        Ok(took)
    }

    /// Runs it `runs` times, each in a process of its own.
    pub(crate) fn measure(&self, runs: u32) -> Result<Measured, Failure> {
        let mut took = (0..runs.max(1))
            .map(|_| took_by(&mut self.command(std::env::current_exe()?)))
            .collect::<Result<Vec<_>, _>>()?;
        took.sort_by(|a, b| a.run.cpu_s.total_cmp(&b.run.cpu_s));
        let Took { traversals, run: usage, .. } = took[took.len() / 2];
        let instructions = instructions::of_a_traversal(self)?;
        Ok(Measured { hosts: self.hosts, traversals, usage, instructions })
    }

    /// The command of this program that makes a run in a process of its own.
    fn command(&self, program: PathBuf) -> Command {
        let mut command = Command::new(program);
        command.args(["--single", &self.hosts.to_string()]);
        command.args([END_US, self.times].map(|number| number.to_string()));
        command
    }
}

/// The resources of the run that a command makes.
pub(crate) fn took_by(command: &mut Command) -> Result<Took, Failure> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("a run ended with {}", output.status).into());
    }
    String::from_utf8(output.stdout)?.parse()
}

impl fmt::Display for Took {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.all_traversals, self.traversals, self.run)
    }
}

impl FromStr for Took {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let mut words = text.trim().splitn(3, ' ');
        let mut word = || words.next().ok_or("a run did not say its cost");
        let (all, traversals) = (word()?.parse()?, word()?.parse()?);
        Ok(Self { all_traversals: all, traversals, run: word()?.parse()? })
    }
}
