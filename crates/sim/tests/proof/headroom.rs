//! The calculated headroom never drops, and a frame less does.

use std::path::Path;

use rocelab_engine::RngStream;
use rocelab_fabric::{HeadroomInput, LosslessHop};
use rocelab_sim::network::Totals;
use rocelab_sim::proof::Proof;
use rocelab_units::{Bandwidth, Bytes, Duration};

use crate::{plan, totals};

/// A link with the frames of a path MTU, RoCE v2 over IPv4.
#[derive(Clone, Copy, Debug)]
struct Hop {
    gbps: u64,
    metres: u64,
    mtu: u64,
    /// Time from the arrival of a pause to its effect (ns).
    response: u64,
    cell: u64,
}

impl Hop {
    /// The largest frame: Ethernet, IPv4, UDP, BTH, RETH, immediate data, ICRC and FCS.
    fn frame(self) -> u64 {
        self.mtu + 14 + 20 + 8 + 12 + 16 + 4 + 4 + 4
    }

    /// Bytes that fit into two propagation delays and the response time.
    fn flight(self) -> u64 {
        (2 * self.metres * 5 + self.response) * self.gbps / 8
    }

    fn headroom(self) -> u64 {
        let hop = LosslessHop::from(HeadroomInput {
            rate: Bandwidth::from_gbps(self.gbps),
            delay: Duration::from_ns(5 * self.metres),
            largest_frame: Bytes::new(self.frame()),
            response: Duration::from_ns(self.response),
        });
        LosslessHop { cell: Bytes::new(self.cell), ..hop }.terms().total().get()
    }
}

/// Uniform, both ends included.
fn between(dice: &mut RngStream, low: u64, high: u64) -> u64 {
    low + dice.below(high - low + 1)
}

fn one<T: Copy>(dice: &mut RngStream, choices: &[T]) -> T {
    choices[usize::try_from(dice.below(choices.len() as u64)).expect("an index")]
}

/// Two to four senders to one receiver, each with its own bytes and start, and data to the senders
/// that pauses must wait for.
fn random_incast(number: u64) -> (Hop, String) {
    let mut dice = RngStream::new(number, "headroom");
    let hop = Hop {
        gbps: one(&mut dice, &[10, 25, 40, 50, 100, 200, 400, 800]),
        metres: one(&mut dice, &[1, 2, 3, 7, 10, 20, 50, 100, 200, 300, 500]),
        mtu: one(&mut dice, &[256, 512, 1024, 2048, 4096]),
        response: one(&mut dice, &[0, 0, 10, 100, 700, 2_000]),
        cell: one(&mut dice, &[1, 1, 80, 144, 208, 254]),
    };
    let senders = between(&mut dice, 2, 4);
    let headroom = hop.headroom();
    let xoff = between(&mut dice, 0, 4 * hop.frame());
    let verb = one(&mut dice, &["write", "send", "write-with-immediate", "read"]);
    let window = 8 * headroom * 1_000 / hop.gbps;
    let mut flows = String::new();
    for sender in 1..=senders {
        let bytes = between(&mut dice, headroom / 2, 2 * headroom + xoff);
        let start = between(&mut dice, 0, window);
        let (from, to) = if verb == "read" { (0, sender) } else { (sender, 0) };
        flows.push_str(&format!(
            "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"{bytes}B\", \
             start = \"{start}ps\", verb = \"{verb}\" }},\n"
        ));
        let back = between(&mut dice, 1, headroom);
        let start = between(&mut dice, 0, window);
        flows.push_str(&format!(
            "{{ from = \"host-5\", to = \"host-{sender}\", bytes = \"{back}B\", \
             start = \"{start}ps\" }},\n"
        ));
    }
    let Hop { gbps, metres, mtu, response, cell } = hop;
    let text = format!(
        "[roce]\npath_mtu = {mtu}\n[topology.single-switch]\nhosts = 6\n\
         link = {{ rate = \"{gbps}Gbps\", cable = \"{metres}m\" }}\n[congestion_control.none]\n\
         [switch]\nxoff = \"{xoff}B\"\nheadroom = \"{headroom}B\"\nbuffer = \"64MB\"\n\
         pause_response = \"{response}ns\"\ncell = \"{cell}B\"\n\
         [workload.flows]\nlist = [\n{flows}]\n"
    );
    (hop, text)
}

#[test]
fn the_calculated_headroom_never_drops_in_1_000_random_cases() {
    const CASES: u64 = 1_000;
    let (mut paused, mut pauses, mut frames) = (0, 0, 0);
    for number in 0..CASES {
        let (hop, text) = random_incast(number);
        let plan = plan(&text);
        assert_eq!(Proof::of(&plan).faults(), 0, "case {number}, {hop:?}\n{text}");
        let totals = totals(plan);
        assert_eq!(totals.frames_dropped, 0, "case {number}, {hop:?}: {:?}\n{text}", totals.drops);
        paused += u64::from(totals.pauses > 0);
        pauses += totals.pauses;
        frames += totals.frames_delivered;
    }
    println!("{paused} of {CASES} cases with pauses; {pauses} pauses, {frames} frames, no drop");
    assert!(paused > CASES * 9 / 10, "{paused}");
}

/// A sender that is paused at the worst moment.
///
/// The receiver (host 0) is behind a link so slow that nothing leaves the switch while it matters:
/// host 2's packet occupies it. Host 1 sends full packets until it is paused, over the link in
/// question; the pause is due when its fifth packet has arrived. It waits for a full packet of host
/// 3's, which sends to host 1 without a gap; `start` (ps) shifts one against the other. Unreliable
/// connections, so that no acknowledgement gets between.
fn worst_case(hop: Hop, headroom: u64, start: u64) -> Totals {
    let Hop { gbps, metres, mtu, response, cell } = hop;
    let file = format!("worst-{gbps}-{metres}-{response}-{cell}.topology.txt");
    let delay = 5 * metres;
    let links = format!(
        "5 1 4\n4\n0 4 1Mbps 15ns 0\n1 4 {gbps}Gbps {delay}ns 0\n\
         2 4 {gbps}Gbps 15ns 0\n3 4 {gbps}Gbps 15ns 0\n"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join(&file), links).expect("the folder takes files");
    let (xoff, packets) = (4 * hop.frame(), headroom / hop.frame() + 20);
    let stop = 20_000_000 + start + 4 * 8 * headroom * 1_000 / gbps;
    // Until the pause is due: five packets and the cable.
    let ahead = 20 + 2 * (start / 1_000 + delay) * gbps / 8 / hop.frame();
    let text = format!(
        "stop = \"{stop}ps\"\n[roce]\npath_mtu = {mtu}\nservice = \"uc\"\n\
         [topology.file]\npath = \"{file}\"\n[congestion_control.none]\n\
         [switch]\nxoff = \"{xoff}B\"\nheadroom = \"{headroom}B\"\nbuffer = \"1GB\"\n\
         pause_response = \"{response}ns\"\ncell = \"{cell}B\"\n\
         [workload.flows]\nverb = \"write-with-immediate\"\nmessage = \"{mtu}B\"\nlist = [\n\
         {{ from = \"host-2\", to = \"host-0\", bytes = \"{mtu}B\" }},\n\
         {{ from = \"host-3\", to = \"host-1\", bytes = \"{}B\" }},\n\
         {{ from = \"host-1\", to = \"host-0\", bytes = \"{}B\", start = \"{start}ps\" }},\n]\n",
        ahead * mtu,
        packets * mtu,
    );
    let plan = plan(&text);
    let link = plan.topology.links.iter().position(|l| l.rate == Bandwidth::from_gbps(gbps));
    assert_eq!(link, Some(1));
    totals(plan)
}

#[test]
fn a_largest_frame_less_drops_in_the_worst_case_of_every_cable_length() {
    const PHASES: u64 = 40;
    let lengths = [1, 3, 10, 30, 100, 300, 1_000].map(|metres| (metres, 0));
    // The standard's response time at 100 Gbit/s takes as long as a cable of 200 m.
    for (metres, response) in lengths.into_iter().chain([(10, 2_017), (300, 2_017)]) {
        // What fits between the first and the last frame is a number of frames and a rest. Equal
        // frames leave the rest unused, so a small one is the worst; but the search must meet it.
        let rest = |hop: &Hop| (hop.frame() + 80 + hop.flight()) % (hop.frame() + 20);
        let hops = [100, 40, 200, 400].into_iter().flat_map(|gbps| {
            [4096, 2048, 1024, 512, 256].map(|mtu| Hop { gbps, metres, mtu, response, cell: 1 })
        });
        let step = |hop: &Hop| (hop.frame() + 20).div_ceil(PHASES);
        let gaps = |hop: &Hop| 20 * (hop.flight() / hop.frame() + 2);
        let is_worst =
            |hop: &Hop| rest(hop) > 2 * step(hop) && rest(hop) + gaps(hop) + 13 < hop.frame();
        let hop = hops.into_iter().find(is_worst).expect("a rate and MTU that suit the cable");
        let byte_ps = 8_000 / hop.gbps;
        let starts: Vec<_> =
            (0..PHASES).map(|phase| 2_000_000 + phase * step(&hop) * byte_ps).collect();
        let dropped = |headroom: u64| {
            let cases = starts.iter().map(|&start| worst_case(hop, headroom, start));
            cases
                .map(|totals| {
                    assert!(totals.pauses > 0, "{hop:?}: {totals:?}");
                    totals.frames_dropped
                })
                .filter(|&frames| frames > 0)
                .count()
        };
        let needed = hop.headroom();
        assert_eq!(dropped(needed), 0, "{hop:?}");
        let less = dropped(needed - hop.frame());
        println!("{hop:?}: {needed} bytes, a frame less drops in {less} of {PHASES} phases");
        assert!(less > 0, "{hop:?}: {needed} is more than a frame too much");
    }
}
