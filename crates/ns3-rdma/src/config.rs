//! What a configuration says.

use std::path::{Path, PathBuf};

use crate::error::InputError;
use crate::keys::Entries;
use crate::rate::parse_rate;
use crate::time::{Arithmetic, truncated};

/// Bytes of a packet that its sequence header takes.
const LEAST_PAYLOAD: u32 = 24;
/// Bytes of an IP packet that is not fragmented.
const MOST_BYTES: u32 = 1_500;
/// The latest second that can be simulated: times stay far below 2^63 ps.
const LATEST: f64 = 4e6;

/// Which of the simulator's two branches it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Branch {
    /// `master`: DCQCN, with a trace.
    #[default]
    Master,
    /// `timely`: TIMELY in the application, which prints.
    Timely,
}

/// What a configuration does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The second since 1970 that the simulator would start in.
    pub seed: u32,
    /// Linux or Windows build.
    pub arithmetic: Arithmetic,
    /// Which branch.
    pub branch: Branch,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, arithmetic: Arithmetic::default(), branch: Branch::default() }
    }
}

/// Everything that the keys say.
#[derive(Clone, Debug)]
pub struct Config {
    /// The files that it names.
    pub files: Files,
    /// Bytes of a packet with its sequence header, and without other headers (24 to 1482).
    pub payload: u32,
    /// Whether applications send in chunks of 4 MB (`SEND_IN_CHUNKS`).
    pub in_chunks: bool,
    /// When receiving applications start and stop, in ns.
    pub receivers: (u64, u64),
    /// When the run ends (ns); nothing happens at that very time.
    pub stop: u64,
    /// Loss of links that have none of their own.
    pub loss: f64,
    /// Equal-cost multipath.
    pub multipath: Multipath,
    /// Priority flow control.
    pub pause: Pause,
    /// Whether switches mark and hosts react (`ENABLE_QCN`).
    pub qcn: bool,
    /// Marking in switches.
    pub marking: Marking,
    /// The reaction of senders.
    pub reaction: Reaction,
    /// Acknowledgements and retransmissions.
    pub recovery: Recovery,
}

/// The files that a configuration names.
#[derive(Clone, Debug)]
pub struct Files {
    /// Nodes and links.
    pub topology: PathBuf,
    /// Flows.
    pub flows: PathBuf,
    /// TCP flows.
    pub tcp_flows: PathBuf,
    /// Traced nodes.
    pub traced: PathBuf,
    /// The trace that is written.
    pub output: PathBuf,
}

/// How switches choose among shortest paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multipath {
    /// The first one.
    None,
    /// By a hash of addresses and ports.
    Flow,
    /// At random.
    Packet,
}

/// Priority flow control.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    /// Whether thresholds depend on the free memory.
    pub dynamic: bool,
    /// Length of a pause in us.
    pub time: u64,
}

/// Marking of all classes but 1.
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    /// No mark up to this queue, in bytes.
    pub kmin: u32,
    /// A mark for certain above this queue, in bytes.
    pub kmax: u32,
    /// The probability at `kmax`.
    pub pmax: f64,
}

/// DCQCN.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Between two CNPs, in us.
    pub cnp_interval: u64,
    /// Between two decreases of alpha, in us.
    pub alpha_interval: u64,
    /// Between two increases, in us, with a fraction.
    pub increase_interval: f64,
    /// Between two increases, in bytes.
    pub byte_counter: u32,
    /// Weight of the latest interval in alpha.
    pub gain: f64,
    /// Increases until fast recovery ends.
    pub fast_recovery: u32,
    /// Additive increase, bit/s.
    pub additive: u64,
    /// Hyper increase, bit/s.
    pub hyper: u64,
    /// Whether each cut lowers the target rate.
    pub clamp: bool,
    /// Whether a cut after a timer or byte event does.
    pub clamp_after_timer: bool,
}

/// Acknowledgements and retransmissions, in packets.
#[derive(Clone, Copy, Debug)]
pub struct Recovery {
    /// `L2_CHUNK_SIZE`.
    pub chunk: u32,
    /// `L2_ACK_INTERVAL`.
    pub ack_interval: u32,
    /// Whether a sender waits for the acknowledgement of a chunk.
    pub wait_for_ack: bool,
    /// Whether a loss takes it back to the start of a chunk.
    pub back_to_zero: bool,
    /// Whether the receiver does not go back with it.
    pub test_read: bool,
}

impl Config {
    /// Reads the `text` of the configuration at `path`.
    pub(crate) fn parse(
        path: &Path,
        text: &str,
        options: Options,
    ) -> Result<(Self, Entries), InputError> {
        let entries = Entries::read(path, text)?;
        let config = Self::of(&entries, path, options)?;
        Ok((config, entries))
    }

    fn of(entries: &Entries, path: &Path, options: Options) -> Result<Self, InputError> {
        let read = Reader { entries };
        let instant = |key, default| {
            let seconds = read.number(key, default)?;
            if seconds > LATEST {
                let help = format!("write at most {LATEST} seconds");
                return Err(entries.blame(key, "", "is too late", help));
            }
            Ok(options.arithmetic.nanoseconds(seconds))
        };
        let loss = read.number("ERROR_RATE_PER_LINK", 0.0)?;
        if loss > 1.0 {
            let help = "write a number from 0 to 1";
            return Err(entries.blame("ERROR_RATE_PER_LINK", "", "is not a probability", help));
        }
        Ok(Self {
            files: Files::of(entries, path)?,
            payload: payload(entries, options.branch, read.flag("SEND_IN_CHUNKS", true)?)?,
            in_chunks: read.flag("SEND_IN_CHUNKS", true)?,
            receivers: (instant("APP_START_TIME", 1.0)?, instant("APP_STOP_TIME", 9.0)?),
            stop: instant("SIMULATOR_STOP_TIME", 3.01)?,
            loss,
            multipath: multipath(entries)?,
            pause: Pause {
                dynamic: read.flag("USE_DYNAMIC_PFC_THRESHOLD", true)?,
                time: pause_time(entries)?,
            },
            qcn: read.flag("ENABLE_QCN", true)?,
            marking: Marking {
                kmin: read.cells("KMIN", 60)?,
                kmax: read.cells("KMAX", 60)?,
                pmax: read.number("PMAX", 1.0)?,
            },
            reaction: Reaction::of(read)?,
            recovery: Recovery {
                chunk: read.integer("L2_CHUNK_SIZE", 0)?,
                ack_interval: read.integer("L2_ACK_INTERVAL", 0)?,
                wait_for_ack: read.flag("L2_WAIT_FOR_ACK", false)?,
                back_to_zero: read.flag("L2_BACK_TO_ZERO", false)?,
                test_read: read.flag("L2_TEST_READ", false)?,
            },
        })
    }
}

impl Files {
    /// Paths are relative to the folder of the configuration at `path`.
    fn of(entries: &Entries, path: &Path) -> Result<Self, InputError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = |key, example| Ok(folder.join(entries.needed(key, example)?));
        Ok(Self {
            topology: file("TOPOLOGY_FILE", "topology.txt")?,
            flows: file("FLOW_FILE", "flow.txt")?,
            tcp_flows: file("TCP_FLOW_FILE", "flow_tcp_0.txt")?,
            traced: file("TRACE_FILE", "trace.txt")?,
            output: file("TRACE_OUTPUT_FILE", "mix.tr")?,
        })
    }
}

impl Reaction {
    fn of(read: Reader<'_>) -> Result<Self, InputError> {
        Ok(Self {
            cnp_interval: read.whole("CNP_INTERVAL", 50.0)?,
            alpha_interval: read.whole("ALPHA_RESUME_INTERVAL", 55.0)?,
            increase_interval: read.number("RP_TIMER", 0.0)?,
            byte_counter: read.integer("BYTE_COUNTER", 0)?,
            gain: read.number("DCTCP_GAIN", 0.0)?,
            fast_recovery: read.integer("FAST_RECOVERY_TIMES", 5)?,
            additive: read.rate("RATE_AI", "40Mb/s")?,
            hyper: read.rate("RATE_HAI", "200Mb/s")?,
            clamp: read.flag("CLAMP_TARGET_RATE", false)?,
            clamp_after_timer: read.flag("CLAMP_TARGET_RATE_AFTER_TIMER", false)?,
        })
    }
}

fn payload(entries: &Entries, branch: Branch, in_chunks: bool) -> Result<u32, InputError> {
    let key = "PACKET_PAYLOAD_SIZE";
    let payload = Reader { entries }.integer(key, 1_000)?;
    // What IP has beside what the key says.
    let most = MOST_BYTES - (wire_headers(branch, in_chunks) - LINK_HEADER);
    if (LEAST_PAYLOAD..=most).contains(&payload) {
        return Ok(payload);
    }
    let message = format!(
        "the simulator crashes: its header takes {LEAST_PAYLOAD} bytes, and above {most} IP would \
         have to fragment packets"
    );
    Err(entries.blame(key, "", message, format!("write {LEAST_PAYLOAD} to {most}")))
}

/// Bytes of the link's header, of point-to-point links.
const LINK_HEADER: u32 = 2;

/// Bytes that packets on the wire have beside `PACKET_PAYLOAD_SIZE`: headers of link (2), IP (20) and UDP
/// (8), and of the sequence header (14, or 15 in the branch `timely`) what the key does not count.
pub(crate) const fn wire_headers(branch: Branch, in_chunks: bool) -> u32 {
    match (branch, in_chunks) {
        (Branch::Timely, _) => 45,
        (Branch::Master, true) => 30,
        (Branch::Master, false) => 20,
    }
}

fn pause_time(entries: &Entries) -> Result<u64, InputError> {
    let time = Reader { entries }.whole("PAUSE_TIME", 5.0)?;
    if u32::try_from(time).is_ok() {
        return Ok(time);
    }
    Err(entries.blame("PAUSE_TIME", "", "is too long", "write a number below 2^32"))
}

fn multipath(entries: &Entries) -> Result<Multipath, InputError> {
    let read = Reader { entries };
    let packet = read.flag("PACKET_LEVEL_ECMP", false)?;
    match (packet, read.flag("FLOW_LEVEL_ECMP", false)?) {
        (false, false) => Ok(Multipath::None),
        (false, true) => Ok(Multipath::Flow),
        (true, false) => Ok(Multipath::Packet),
        (true, true) => {
            let message = "the simulator aborts: it also has FLOW_LEVEL_ECMP 1";
            Err(entries.blame("PACKET_LEVEL_ECMP", "", message, "set one of the two to 0"))
        }
    }
}

/// Reads values of all kinds.
#[derive(Clone, Copy)]
struct Reader<'a> {
    entries: &'a Entries,
}

impl Reader<'_> {
    fn flag(self, key: &str, default: bool) -> Result<bool, InputError> {
        let read = |word: &str| Some(word.parse::<u32>().ok()? != 0);
        self.entries.value(key, default, "0 or 1", read)
    }

    fn integer(self, key: &str, default: u32) -> Result<u32, InputError> {
        self.entries.value(key, default, "a whole number below 2^32", |word| word.parse().ok())
    }

    fn number(self, key: &str, default: f64) -> Result<f64, InputError> {
        let read =
            |word: &str| word.parse().ok().filter(|&value: &f64| (0.0..1e18).contains(&value));
        self.entries.value(key, default, "a number from 0 to 10^18", read)
    }

    /// A time in us, without its fraction.
    fn whole(self, key: &str, default: f64) -> Result<u64, InputError> {
        let time = self.number(key, default)?;
        if time < 1e12 {
            return Ok(truncated(time));
        }
        Err(self.entries.blame(
            key,
            "",
            "is too long",
            "write a number of microseconds below 10^12",
        ))
    }

    /// A queue in units of 1030 bytes, as bytes, which the simulator has in 32 bits.
    fn cells(self, key: &str, default: u32) -> Result<u32, InputError> {
        self.integer(key, default)?.checked_mul(1_030).ok_or_else(|| {
            let message = "in bytes (times 1030) this does not fit into the simulator's 32 bits";
            self.entries.blame(key, "", message, "write at most 4169871")
        })
    }

    fn rate(self, key: &str, example: &str) -> Result<u64, InputError> {
        parse_rate(self.entries.needed(key, example)?).ok_or_else(|| {
            let help = format!("write one such as `{example}`");
            self.entries.blame(key, "", "is not a rate", help)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &str = "TOPOLOGY_FILE t FLOW_FILE f TCP_FLOW_FILE c TRACE_FILE n \
                         TRACE_OUTPUT_FILE mix.tr RATE_AI 40Mb/s RATE_HAI 200Mb/s\n";

    fn parse(text: &str) -> Result<Config, InputError> {
        let text = format!("{FILES}{text}");
        Ok(Config::parse(Path::new("d/config.txt"), &text, Options::default())?.0)
    }

    #[test]
    fn absent_keys_have_the_defaults_of_the_simulator() {
        let config = parse("").unwrap();
        assert!(config.qcn && config.in_chunks && config.pause.dynamic);
        assert_eq!((config.payload, config.pause.time, config.stop), (1_000, 5, 3_009_999_999));
        assert_eq!((config.marking.kmin, config.marking.kmax), (61_800, 61_800));
        assert_eq!((config.reaction.cnp_interval, config.reaction.alpha_interval), (50, 55));
        assert_eq!(config.multipath, Multipath::None);
        assert_eq!(config.files.topology, Path::new("d/t"));
    }

    #[test]
    fn microseconds_lose_their_fraction_but_for_the_increase_timer() {
        let config = parse("CNP_INTERVAL 10.9 ALPHA_RESUME_INTERVAL 5.5 RP_TIMER 1.5").unwrap();
        assert_eq!((config.reaction.cnp_interval, config.reaction.alpha_interval), (10, 5));
        assert_eq!(config.reaction.increase_interval, 1.5);
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (text, says) in [
            ("PACKET_PAYLOAD_SIZE 1473", "d/config.txt:2:21: PACKET_PAYLOAD_SIZE = 1473: the sim"),
            ("PACKET_PAYLOAD_SIZE 1483 SEND_IN_CHUNKS 0", "write 24 to 1482"),
            ("PAUSE_TIME 5000000000", "PAUSE_TIME = 5000000000: is too long"),
            ("PACKET_LEVEL_ECMP 1 FLOW_LEVEL_ECMP 1", "the simulator aborts"),
            ("KMAX 1.5", "KMAX = 1.5: is not a whole number"),
            ("KMAX 4169872", "does not fit into"),
            ("PMAX x", "PMAX = x: is not a number"),
            ("RATE_AI fast", "RATE_AI = fast: is not a rate"),
            ("ERROR_RATE_PER_LINK 2", "is not a probability"),
            ("SIMULATOR_STOP_TIME 1e9", "is too late"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let error = Config::parse(Path::new("c"), "KMAX 1", Options::default()).unwrap_err();
        assert!(error.to_string().contains("TOPOLOGY_FILE: is missing"), "{error}");
    }
}
