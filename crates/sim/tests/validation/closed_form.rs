//! One message over an empty network takes the time of the closed form, to the picosecond.
//!
//! A frame of L bytes, FCS included, that starts on a link of rate R reaches the other end
//! (8 + L) x 8 / R + delay later; the next one starts (8 + L + 12) x 8 / R after it (preamble and
//! SFD ahead of it, interpacket gap behind it: IEEE 802.3). Each time rounds up to a picosecond.
//! Switches store and forward; hosts take no time. A SEND or WRITE completes when the
//! acknowledgement of its last packet is back, a READ when its last byte is in.

use std::fmt::Write;

use rocelab_sim::ideal_fct;

use crate::support::{Run, plan, write_file};

const PREAMBLE: u64 = 8;
const GAP: u64 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2Ipv4,
    V2Ipv6,
}

pub(crate) const VERSIONS: [Version; 3] = [Version::V1, Version::V2Ipv4, Version::V2Ipv6];

impl Version {
    /// As `[roce]` says it.
    pub(crate) fn toml(self) -> &'static str {
        match self {
            Self::V1 => "version = 1",
            Self::V2Ipv4 => "version = 2",
            Self::V2Ipv6 => "version = 2\nip = \"ipv6\"",
        }
    }

    /// Bytes from the destination MAC to the end of the BTH. v1 carries its priority in an 802.1Q
    /// tag unless it is told not to.
    const fn headers(self) -> u64 {
        const ETHERNET: u64 = 6 + 6 + 2;
        const BTH: u64 = 12;
        match self {
            Self::V1 => ETHERNET + 4 + 40 + BTH,
            Self::V2Ipv4 => ETHERNET + 20 + 8 + BTH,
            Self::V2Ipv6 => ETHERNET + 40 + 8 + BTH,
        }
    }

    /// Bytes of a frame, with extension headers, payload padded to four bytes, ICRC and FCS.
    pub(crate) const fn frame(self, extension: u64, payload: u64) -> u64 {
        let len = self.headers() + extension + payload.next_multiple_of(4) + 4 + 4;
        if len < 64 { 64 } else { len }
    }

    /// An acknowledgement: an AETH and no payload.
    pub(crate) const fn acknowledgement(self) -> u64 {
        self.frame(AETH, 0)
    }
}

const RETH: u64 = 16;
const AETH: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Send,
    Write,
    Read,
}

const VERBS: [(Verb, &str); 3] =
    [(Verb::Send, "send"), (Verb::Write, "write"), (Verb::Read, "read")];

/// Frames of the packets that carry a message's payload: first, middle..., last; or only.
fn data_frames(version: Version, verb: Verb, bytes: u64, mtu: u64) -> Vec<u64> {
    let packets = bytes.div_ceil(mtu).max(1);
    let frame = |k: u64| {
        let payload = (bytes - k * mtu).min(mtu);
        let (first, last) = (k == 0, k + 1 == packets);
        let extension = match verb {
            Verb::Send => 0,
            Verb::Write if first => RETH,
            Verb::Read if first || last => AETH,
            Verb::Write | Verb::Read => 0,
        };
        version.frame(extension, payload)
    };
    (0..packets).map(frame).collect()
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
struct Link {
    bits_per_second: u64,
    delay_ps: u64,
}

impl Link {
    fn time(self, bytes: u64) -> u128 {
        (u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(self.bits_per_second))
    }

    fn last_bit(self, frame: u64) -> u128 {
        self.time(PREAMBLE + frame) + u128::from(self.delay_ps)
    }

    fn spacing(self, frame: u64) -> u128 {
        self.time(PREAMBLE + frame + GAP)
    }
}

/// When the frames, ready at the near end at the times given, reach the far end of `path`.
fn carry(path: &[Link], frames: &[u64], ready: Vec<u128>) -> Vec<u128> {
    path.iter().fold(ready, |ready, link| {
        let mut free = 0;
        let cross = |(&frame, ready): (&u64, u128)| {
            let start = ready.max(free);
            free = start + link.spacing(frame);
            start + link.last_bit(frame)
        };
        frames.iter().zip(ready).map(cross).collect()
    })
}

/// The completion time by recurrence over packets and links, exact for any mix of rates [ps].
fn completion(version: Version, verb: Verb, bytes: u64, mtu: u64, path: &[Link]) -> u128 {
    let back: Vec<Link> = path.iter().rev().copied().collect();
    let data = data_frames(version, verb, bytes, mtu);
    let last = |times: Vec<u128>| times.last().copied().expect("at least one frame");
    if verb == Verb::Read {
        let asked = last(carry(path, &[version.frame(RETH, 0)], vec![0]));
        return last(carry(&back, &data, vec![asked; data.len()]));
    }
    let arrivals = carry(path, &data, vec![0; data.len()]);
    last(carry(&back, &vec![version.acknowledgement(); data.len()], arrivals))
}

/// The textbook's formula for equal links, whose byte time is a whole number of picoseconds: all
/// frames but the last pass the first link, the longest one is waited for at every further link,
/// the last one arrives, and its acknowledgement returns.
fn textbook(version: Version, verb: Verb, bytes: u64, mtu: u64, path: &[Link]) -> u128 {
    let (link, links) = (path[0], path.len() as u128);
    let data = data_frames(version, verb, bytes, mtu);
    let (&last, before) = data.split_last().expect("at least one frame");
    let longest = data.iter().copied().max().expect("at least one frame");
    let other_way =
        if verb == Verb::Read { version.frame(RETH, 0) } else { version.acknowledgement() };
    before.iter().map(|&frame| link.spacing(frame)).sum::<u128>()
        + (links - 1) * link.last_bit(longest)
        + link.last_bit(last)
        + links * link.last_bit(other_way)
}

/// The same for equal frames (a SEND of whole packets) on any links: the sum over links for one
/// frame, and the other frames at the spacing of the slowest link.
fn textbook_mixed(version: Version, packets: u64, mtu: u64, path: &[Link]) -> u128 {
    let (frame, ack) = (version.frame(0, mtu), version.acknowledgement());
    let slowest = path.iter().map(|link| link.spacing(frame)).max().expect("at least one link");
    path.iter().map(|link| link.last_bit(frame) + link.last_bit(ack)).sum::<u128>()
        + u128::from(packets - 1) * slowest
}

/// A chain of switches between host 0 and host 1, as an edge list.
fn chain(path: &[Link]) -> String {
    let switches = path.len() - 1;
    let ids: Vec<String> = (2..2 + switches).map(|id| id.to_string()).collect();
    let mut text = format!("{} {switches} {}\n{}\n", switches + 2, path.len(), ids.join(" "));
    for (k, link) in path.iter().enumerate() {
        let near = if k == 0 { 0 } else { k + 1 };
        let far = if k + 1 == path.len() { 1 } else { k + 2 };
        let Link { bits_per_second, delay_ps } = link;
        writeln!(text, "{near} {far} {bits_per_second}bps {delay_ps}ps 0").expect("text grows");
    }
    text
}

/// Sends messages of all `sizes` with every verb over the chain, one long after the other, and
/// compares each with the closed form. Returns how many were compared.
fn compare(version: Version, mtu: u64, path: &[Link], sizes: &[u64], name: &str) -> usize {
    let file = format!("chain-{name}-{version:?}-{mtu}-{}.txt", path.len());
    write_file(&file, &chain(path));
    let mut text = format!(
        "[roce]\n{}\npath_mtu = {mtu}\n[congestion_control.none]\n\
         [topology.file]\npath = \"{file}\"\n",
        version.toml()
    );
    let mut cases = Vec::new();
    for &bytes in sizes {
        for (verb, verb_name) in VERBS {
            let start = 5 * cases.len();
            write!(
                text,
                "[[workload.flows.list]]\nfrom = \"host-0\"\nto = \"host-1\"\nbytes = \"{bytes}B\"\n\
                 verb = \"{verb_name}\"\nstart = \"{start}ms\"\n"
            )
            .expect("text grows");
            cases.push((verb, bytes));
        }
    }
    let mut run = Run::new(plan(&text));
    run.finish();
    run.assert_complete(&text);
    let equal = path.iter().all(|link| link.bits_per_second == path[0].bits_per_second)
        && path.iter().all(|link| link.delay_ps == path[0].delay_ps);
    let whole = |link: &Link| 8_000_000_000_000 % link.bits_per_second == 0;
    for ((&(verb, bytes), flow), measured) in
        cases.iter().zip(&run.plan.flows).zip(run.completion_times())
    {
        let context = format!("{version:?} MTU {mtu} {verb:?} {bytes} B over {path:?}");
        let expected = completion(version, verb, bytes, mtu, path);
        assert_eq!(u128::from(measured), expected, "{context}");
        assert_eq!(u128::from(ideal_fct(&run.plan, flow).ps()), expected, "ideal: {context}");
        if path.iter().all(whole) {
            if equal {
                assert_eq!(textbook(version, verb, bytes, mtu, path), expected, "{context}");
            }
            if verb == Verb::Send && bytes % mtu == 0 {
                let packets = bytes / mtu;
                assert_eq!(textbook_mixed(version, packets, mtu, path), expected, "{context}");
            }
        }
    }
    cases.len()
}

fn sizes(mtu: u64) -> [u64; 6] {
    [1, mtu - 1, mtu, mtu + 1, 10 * mtu, 17 * mtu + 3]
}

const GBPS: u64 = 1_000_000_000;

fn equal_links(switches: usize, gbps: u64, delay_ps: u64) -> Vec<Link> {
    vec![Link { bits_per_second: gbps * GBPS, delay_ps }; switches + 1]
}

#[test]
fn equal_links_take_the_textbook_time() {
    let mut compared = 0;
    for version in VERSIONS {
        for mtu in [256, 1024, 4096] {
            for switches in 1..=5 {
                for (gbps, delay) in [(10, 15_000), (40, 1_000_000), (100, 15_000), (400, 150_001)]
                {
                    let path = equal_links(switches, gbps, delay);
                    let name = format!("equal{gbps}");
                    compared += compare(version, mtu, &path, &sizes(mtu), &name);
                }
            }
        }
    }
    println!("{compared} messages over equal links to the picosecond");
}

#[test]
fn a_megabyte_takes_the_textbook_time() {
    let mut compared = 0;
    for version in VERSIONS {
        for mtu in [256, 1024, 4096] {
            for switches in [1, 5] {
                let path = equal_links(switches, 100, 15_000);
                compared += compare(version, mtu, &path, &[1_000_000], "megabyte");
            }
        }
    }
    println!("{compared} messages of 1 MB to the picosecond");
}

#[test]
fn links_of_different_rates_take_the_time_of_the_recurrence() {
    // Rates in Gb/s along the path; the byte time of 30, 56 and 7 Gb/s is no whole picosecond.
    const PATHS: [&[u64]; 9] = [
        &[100, 400],
        &[400, 100],
        &[10, 400, 10],
        &[400, 10, 400],
        &[25, 50, 100, 200],
        &[200, 100, 50, 25, 10],
        &[56, 56],
        &[30, 100, 7, 400],
        &[100, 56, 30, 7, 400, 25],
    ];
    let mut compared = 0;
    for version in VERSIONS {
        for mtu in [256, 1024, 4096] {
            for (number, rates) in PATHS.iter().enumerate() {
                let link = |(k, &gbps): (u64, &u64)| Link {
                    bits_per_second: gbps * GBPS,
                    delay_ps: 5_000 + 777 * k,
                };
                let path: Vec<Link> = (0..).zip(*rates).map(link).collect();
                let mut sizes = sizes(mtu).to_vec();
                sizes.push(200_000);
                compared += compare(version, mtu, &path, &sizes, &format!("mixed{number}"));
            }
        }
    }
    println!("{compared} messages over mixed links to the picosecond");
}

#[test]
fn dcqcn_and_timely_do_not_slow_a_lone_flow() {
    for algorithm in ["dcqcn", "timely", "none"] {
        let text = format!(
            "[roce]\nversion = 2\n[topology.single-switch]\nhosts = 2\n\
             link = {{ rate = \"100Gbps\", delay = \"15ns\" }}\n[congestion_control.{algorithm}]\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n"
        );
        let mut run = Run::new(plan(&text));
        run.finish();
        let path = equal_links(1, 100, 15_000);
        let expected = completion(Version::V2Ipv4, Verb::Write, 1_000_000, 1024, &path);
        assert_eq!(u128::from(run.completion_times()[0]), expected, "{algorithm}");
    }
}
