//! What keeps lossless frames from being dropped beside the headroom of a port: what is refuted drops
//! in a run, and what is proved does not.

use rocelab_sim::proof::{HeadroomDoubt, PauseFinding, Proof, Verdict};

use crate::{plan, totals};

/// The largest frame of a path MTU of 1024: Ethernet, IPv4, UDP, BTH, RETH, immediate data, ICRC, FCS.
const FRAME: u64 = 1_024 + 14 + 20 + 8 + 12 + 16 + 4 + 4 + 4;

/// What a port of 100 Gbit/s and 3 m needs.
const NEEDED: u64 = FRAME + (FRAME + 12) + (64 + 8) + 375 + 1 + (FRAME + 8);

/// Four senders to one receiver over 100 Gbit/s, and data back to one of them, which its pauses must
/// wait for; `switch` are keys of it.
fn incast(switch: &str) -> String {
    let mut flows = String::new();
    for (from, to) in [(1, 0), (2, 0), (3, 0), (4, 0), (0, 1)] {
        flows.push_str(&format!(
            "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"10MB\" }},\n"
        ));
    }
    format!(
        "stop = \"1ms\"\n[roce]\npath_mtu = 1024\nservice = \"uc\"\n\
         [topology.single-switch]\nhosts = 5\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [congestion_control.none]\n[switch]\nbuffer = \"12MB\"\n{switch}\n\
         [workload.flows]\nlist = [\n{flows}]\n"
    )
}

/// What was proved, how many faults there are, and the frames that a run dropped for a cause.
fn checked(text: &str, cause: &str) -> (Proof, usize, u64) {
    let plan = plan(text);
    let proof = Proof::of(&plan);
    let faults = proof.faults();
    let totals = totals(plan);
    let dropped = totals.drops.get(cause).copied().unwrap_or(0);
    assert_eq!(totals.frames_dropped, dropped, "{:?}", totals.drops);
    (proof, faults, dropped)
}

#[test]
fn a_pool_that_is_too_small_for_one_port_drops_and_one_for_all_does_not() {
    let with = |pool: u64| {
        let switch = format!("xoff = \"100KB\"\nheadroom_pool = \"{pool}B\"");
        checked(&incast(&switch), "headroom_pool_exceeded")
    };
    let (proof, faults, dropped) = with(2_000);
    assert_eq!((proof.headroom[0].configured_bytes, faults), (2_000, 1), "{proof}");
    assert!(dropped > 0);
    // One less than all need together: it depends on the traffic.
    let (proof, faults, _) = with(5 * NEEDED - 1);
    assert_eq!((proof.headroom[0].verdict(), faults), (Verdict::Open, 0), "{proof}");
    let doubt = HeadroomDoubt::Pool { pool_bytes: 5 * NEEDED - 1, needed_bytes: 5 * NEEDED };
    assert_eq!(proof.headroom[0].doubts, [doubt]);
    assert!(proof.to_string().contains("        headroom             5 ports"), "{proof}");
    let (proof, faults, dropped) = with(5 * NEEDED);
    assert_eq!((proof.headroom[0].verdict(), faults, dropped), (Verdict::Proved, 0, 0), "{proof}");
}

#[test]
fn a_limit_of_lossless_queues_drops_unless_no_queue_can_reach_it() {
    let with = |limit: u64, rest: &str| {
        let switch = format!("lossless_egress_limit = \"{limit}B\"\n{rest}");
        checked(&incast(&switch), "egress_threshold")
    };
    // Four senders hold 100 KB each before they are paused.
    let (proof, faults, dropped) = with(390_000, "xoff = \"100KB\"");
    assert_eq!((proof.egress_limits[0].verdict(), faults), (Verdict::Refuted, 1), "{proof}");
    assert!(dropped > 0);
    let longest = 5 * (100_000 + NEEDED);
    let (proof, faults, _) = with(longest - 1, "xoff = \"100KB\"");
    assert_eq!((proof.egress_limits[0].longest_bytes, faults), (longest, 1), "{proof}");
    let (proof, faults, dropped) = with(longest, "xoff = \"100KB\"");
    assert_eq!((proof.egress_limits[0].verdict(), faults, dropped), (Verdict::Proved, 0, 0));
    // A dynamic threshold of 1: parts of 1/2 to 1/32 of the pool, one after the other. Four senders at
    // once come to 4/5 of it.
    let shared = 12_000_000 - 5 * NEEDED;
    let (proof, _, dropped) = with(shared * 7 / 10, "alpha = \"1\"");
    let longest = proof.egress_limits[0].longest_bytes;
    let expected = shared - shared / 32 + 5 * NEEDED;
    assert!(longest >= expected && longest < expected + 5 * FRAME, "{longest} {expected}");
    assert!(proof.faults() == 1 && dropped > 0, "{dropped}: {proof}");
    let (proof, faults, dropped) = with(longest, "alpha = \"1\"");
    assert_eq!((faults, dropped), (0, 0), "{proof}");
}

#[test]
fn a_pause_that_ends_before_it_is_asked_for_again_is_no_protection() {
    let with = |quanta: u64| {
        let switch = format!("xoff = \"100KB\"\npause_quanta = {quanta}");
        checked(&incast(&switch), "headroom_exceeded")
    };
    let (proof, faults, dropped) = with(10);
    let [PauseFinding::Short(short)] = &proof.pauses[..] else { panic!("{proof}") };
    // Half of its 512 bit times each must outlast a frame, its preamble and its gap.
    let least = (FRAME + 20) * 8 / 256 + 1;
    assert_eq!((short.ports, short.least_quanta, faults), (5, least, 1), "{proof}");
    assert!(dropped > 0);
    assert_eq!(with(least - 1).1, 1);
    let (proof, faults, dropped) = with(least);
    assert_eq!((proof.pauses.len(), faults, dropped), (0, 0, 0), "{proof}");
}

/// Flows between two leaves by the priority `sent`, where switches go by DSCP.
fn classified(sent: u8, switch: &str) -> String {
    let mut flows = String::new();
    for sender in 4..8 {
        flows.push_str(&format!(
            "{{ from = \"host-{sender}\", to = \"host-0\", bytes = \"10MB\" }},\n"
        ));
    }
    format!(
        "stop = \"1ms\"\n[roce]\npath_mtu = 1024\nservice = \"uc\"\n\
         [topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"400Gbps\", cable = \"3m\" }}\n\
         [congestion_control.none]\n[switch]\nxoff = \"100KB\"\ntrust = \"dscp\"\n{switch}\n\
         [workload.flows]\npriority = {sent}\nlist = [\n{flows}]\n"
    )
}

#[test]
fn frames_that_hosts_send_with_another_priority_are_not_stopped_by_its_pauses() {
    let (proof, faults, dropped) =
        checked(&classified(5, "priority_of = { 40 = 3 }"), "headroom_exceeded");
    let [PauseFinding::Unheard(unheard)] = &proof.pauses[..] else { panic!("{proof}") };
    assert_eq!((unheard.sent_priority, unheard.lossless_priority), (5, 3));
    // Those of the five hosts that send or answer; switches take the frames for 3 all alike.
    assert_eq!((unheard.links, faults), (5, 1), "{proof}");
    assert!(unheard.sender.starts_with("host-") && dropped > 0, "{unheard:?}");
    // The same map does no harm where nobody sends with 5, nor where 5 is no priority of its own.
    for (sent, switch) in
        [(3, "priority_of = { 40 = 3 }"), (5, "priority_of = { 40 = 5 }\nlossless = [5]")]
    {
        let (proof, faults, dropped) = checked(&classified(sent, switch), "");
        assert_eq!((proof.pauses.len(), faults, dropped), (0, 0, 0), "{proof}");
    }
}

#[test]
fn switches_that_classify_differently_do_not_stop_each_other_unless_they_share_a_queue() {
    // The spine has 5 for 3, whatever the leaves have.
    let spine = "[[switch.override]]\nswitches = [\"spine-0\"]\npriority_of = { 24 = 5 }\n\
                 lossless = [5]\nxoff = \"10KB\"\n";
    let slow = "[[switch.override]]\nports = [\"spine-0:0\"]\n\
                shapers = { 5 = { rate = \"20Gbps\" } }\n";
    let (proof, faults, dropped) =
        checked(&classified(3, &format!("{spine}{slow}")), "headroom_exceeded");
    let finding = |finding: &PauseFinding| match finding {
        PauseFinding::Unheard(unheard) => {
            (unheard.sent_priority, unheard.lossless_priority, unheard.links)
        }
        PauseFinding::Short(_) => panic!("{finding:?}"),
    };
    let found: Vec<_> = proof.pauses.iter().map(finding).collect();
    assert_eq!((&found[..], faults), (&[(3, 3, 2), (3, 5, 2)][..], 2), "{proof}");
    assert!(dropped > 0);
    let shared = "queue_of = { 5 = 3 }\n";
    let spine = spine.replace("lossless", &format!("{shared}lossless"));
    let (proof, faults, dropped) = checked(&classified(3, &format!("{shared}{spine}")), "");
    assert_eq!((proof.pauses.len(), faults, dropped), (0, 0, 0), "{proof}");
}

/// Two senders to a host whose NIC handles 20 Gbit/s.
fn slow_receiver(xoff: u64, rest: &str) -> String {
    format!(
        "stop = \"1ms\"\n[roce]\npath_mtu = 1024\n\
         [topology.single-switch]\nhosts = 3\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [switch]\nbuffer = \"12MB\"\n\
         [[slow_receiver]]\nhosts = [\"host-0\"]\nrate = \"20Gbps\"\nbuffer = \"64000B\"\n\
         xoff = \"{xoff}B\"\n{rest}\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-1\", to = \"host-0\", bytes = \"2MB\" }},\n\
         {{ from = \"host-2\", to = \"host-0\", bytes = \"2MB\" }},\n]\n"
    )
}

#[test]
fn a_slow_receiver_needs_room_for_what_comes_after_its_pause() {
    const CAUSE: &str = "receiver_full";
    let none = "[congestion_control.none]\n";
    let (proof, faults, dropped) = checked(&slow_receiver(64_000 - NEEDED, none), CAUSE);
    assert_eq!((proof.receivers[0].verdict(), faults, dropped), (Verdict::Proved, 0, 0), "{proof}");
    let (proof, faults, _) = checked(&slow_receiver(64_001 - NEEDED, none), CAUSE);
    assert_eq!((proof.receivers[0].verdict(), faults), (Verdict::Refuted, 1), "{proof}");
    let (proof, faults, dropped) = checked(&slow_receiver(64_000 - FRAME, none), CAUSE);
    assert_eq!((proof.receivers[0].verdict(), faults), (Verdict::Refuted, 1), "{proof}");
    assert!(dropped > 0);
    // CNPs to a host have a priority that it does not pause.
    let dcqcn = "[congestion_control.dcqcn]\n";
    let proof = Proof::of(&plan(&slow_receiver(64_000 - NEEDED, dcqcn)));
    assert_eq!(proof.receivers[0].not_paused, [6]);
    assert_eq!((proof.receivers[0].verdict(), proof.faults()), (Verdict::Open, 0), "{proof}");
}

#[test]
fn what_the_sum_is_not_for_is_not_said_to_be_proved() {
    let proof_of = |text: &str| Proof::of(&plan(text));
    let cut_through = proof_of(&incast("forwarding = \"cut-through\""));
    assert_eq!(cut_through.headroom[0].doubts, [HeadroomDoubt::CutThrough]);
    let silent = "[layer2.learning]\nmac_ageing = \"5ms\"\narp_timeout = \"1s\"\n";
    let flooding = proof_of(&format!("{}{silent}", incast("")));
    assert_eq!(flooding.headroom[0].doubts, [HeadroomDoubt::Flooding]);
    for proof in [cut_through, flooding] {
        assert_eq!((proof.headroom[0].verdict(), proof.faults()), (Verdict::Open, 0));
        assert!(!proof.to_string().contains("ok    headroom"), "{proof}");
    }
    let failing = "[[failure]]\nkind = \"link-down\"\nport = \"switch-0:1\"\nat = \"1ms\"\n\
                   [watchdog.switch]\n\
                   [[ingress.access_list]]\nports = [\"switch-0\"]\ndeny = [5]\n";
    let failing = proof_of(&format!("{}{failing}", incast("")));
    for word in ["failures and faults", "watchdog.switch", "ingress"] {
        assert!(failing.not_checked.iter().any(|message| message.contains(word)), "{failing}");
    }
}
