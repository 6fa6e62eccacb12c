//! Wireshark's dissectors read in captures of the shipped scenarios what hosts and switches have been given there:
//! partitions, solicited events, second paths, code points, GIDs of both versions, and the frames that ask for MAC addresses.
//! Skipped, with a note, if tshark is missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::payload_guesses::PAYLOAD_GUESSES;
use crate::program::{Sandbox, repository_argument};

/// The least severity of expert notes that is a problem.
const WARNING: u32 = 0x0060_0000;

/// The different rows of these fields over all frames of a capture, where each frame is sound; none, with a note, if tshark is
/// missing.
#[track_caller]
fn rows(capture: &Path, fields: &[&str]) -> Option<BTreeSet<String>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(capture).args(["-T", "fields", "-E", "separator=/t"]);
    command.args(["-o", "eth.check_fcs:TRUE", "-o", "ip.check_checksum:TRUE"]);
    // RoCE v2 over IPv6 has a UDP checksum of 0, which is not allowed for plain UDP.
    command.args(["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]);
    // These dissectors guess the payload of RDMA, and report malformed packets.
    for guess in PAYLOAD_GUESSES {
        command.args(["--disable-heuristic", guess]);
    }
    let sound = ["_ws.malformed", "_ws.expert.severity", "eth.fcs.status", "ip.checksum.status"];
    command.args(sound.iter().chain(fields).flat_map(|field| ["-e", field]));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: cannot run tshark: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let mut columns = line.splitn(sound.len() + 1, '\t');
        let [malformed, severities, fcs, checksum] =
            sound.map(|field| columns.next().unwrap_or_else(|| panic!("{field}: {line}")));
        assert_eq!(malformed, "", "{line}");
        let is_worse = |one: &str| one.parse::<u32>().expect("a severity") >= WARNING;
        assert!(!severities.split(',').filter(|one| !one.is_empty()).any(is_worse), "{line}");
        assert!([fcs, checksum].iter().all(|status| ["", "1", "1,1"].contains(status)), "{line}");
        found.insert(columns.next().unwrap_or_default().to_owned());
    }
    assert!(!found.is_empty(), "there are frames");
    Some(found)
}

/// The same of a run of a shipped scenario, with these overrides.
#[track_caller]
fn of_scenario(name: &str, overrides: &[&str], fields: &[&str]) -> Option<BTreeSet<String>> {
    let sandbox = Sandbox::new();
    let scenario = repository_argument(&format!("scenarios/{name}.toml"));
    let mut arguments = vec!["run", &scenario, "--out", "results"];
    arguments.extend(overrides.iter().flat_map(|text| ["--set", text]));
    let ended = sandbox.rocelab(&arguments);
    // Some of them show flows that fail.
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    rows(&sandbox.path("results/capture.pcapng"), fields)
}

fn set<'a>(rows: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    rows.into_iter().map(str::to_owned).collect()
}

const ALL: &str = "capture.ports=[\"all\"]";

#[test]
fn partition_keys_of_full_and_limited_members() {
    let Some(found) = of_scenario("partitions", &[ALL], &["infiniband.bth.p_key"]) else { return };
    // 0x8001 and 0x0001: the first bit says that the sender is a full member.
    assert_eq!(found, set(["1", "32769"]));
}

#[test]
fn solicited_events() {
    let fields = ["infiniband.bth.se"];
    let Some(found) = of_scenario("completion-events", &[ALL], &fields) else { return };
    assert_eq!(found, set(["0", "1"]));
}

#[test]
fn second_paths() {
    let fields = ["infiniband.bth.m"];
    let only_one = "capture.ports=[\"host-0\"]";
    let Some(found) = of_scenario("path-migration", &[only_one], &fields) else { return };
    assert_eq!(found, set(["0", "1"]), "an alternate path is loaded; the queue pair has migrated");
}

#[test]
fn code_points() {
    let fields = ["infiniband", "ip.dsfield.dscp"];
    let rdma = |found: BTreeSet<String>| {
        found.into_iter().filter_map(|row| {
            let (_, dscp) = row.split_once('\t').filter(|(rdma, _)| !rdma.is_empty())?;
            Some(dscp.to_owned())
        })
    };
    let Some(found) = of_scenario("dscp", &[ALL], &fields) else { return };
    assert_eq!(rdma(found).collect::<BTreeSet<_>>(), set(["24", "26", "48"]));
}

#[test]
fn gids_of_both_versions_in_one_network() {
    let fields = ["eth.type", "infiniband.grh.sgid", "infiniband.grh.hoplmt", "ip.src", "ip.ttl"];
    let Some(found) = of_scenario("bridges-and-routers", &[ALL], &fields) else { return };
    let v1 = found.iter().filter(|row| row.starts_with("0x8915"));
    let v1: BTreeSet<_> = v1.map(|row| row.split('\t').nth(2).expect("a hop limit")).collect();
    assert_eq!(v1, BTreeSet::from(["64"]), "no bridge takes anything off");
    let v2: BTreeSet<_> = found
        .iter()
        .filter(|row| row.starts_with("0x0800"))
        .map(|row| row.split('\t').skip(3).collect::<Vec<_>>().join(" "))
        .collect();
    // host-2 and host-6 are two routers' subnets apart, host-2 and host-3 are in one.
    let expected = ["10.1.0.3 64", "10.1.0.3 63", "10.1.0.4 64", "10.2.0.3 64", "10.2.0.3 63"];
    assert_eq!(v2, set(expected));
}

#[test]
fn questions_for_mac_addresses() {
    let fields = ["arp.opcode", "arp.isgratuitous", "icmpv6.type", "icmpv6.checksum.status"];
    let Some(found) = of_scenario("neighbours", &[ALL], &fields) else { return };
    // A request, a reply, and the frames that wait for it.
    assert_eq!(found, set(["1\t\t\t", "2\t\t\t", "\t\t\t"]));
    let v6 = of_scenario("neighbours", &[ALL, "roce.ip=ipv6"], &fields);
    // Solicitation and advertisement (RFC 4861), both with a good checksum.
    assert_eq!(v6, Some(set(["\t\t135\t1", "\t\t136\t1", "\t\t\t"])));
}

#[test]
fn multicast_over_routers_and_bridges() {
    let common = ["eth.dst", "infiniband.bth.destqp", "infiniband.deth.srcqp"];
    let fields = |more: &[&'static str]| [&common[..], more].concat();
    let routed = of_scenario("multicast", &[ALL], &fields(&["ip.dst", "ip.ttl"]));
    let Some(routed) = routed else { return };
    // A leaf, a spine and a leaf each take one off.
    let expected = ["64", "63", "62", "61"]
        .map(|hops| format!("01:00:5e:7f:00:01\t0xffffff\t0x00000011\t239.255.0.1\t{hops}"));
    assert_eq!(routed, expected.into());
    let ipv6 = [ALL, "roce.ip=ipv6"];
    let Some(found) = of_scenario("multicast", &ipv6, &fields(&["ipv6.dst"])) else { return };
    assert_eq!(found, set(["33:33:00:00:00:01\t0xffffff\t0x00000011\tff15::1"]));
    let bridged = [ALL, "roce.version=1"];
    let gids = fields(&["infiniband.grh.dgid", "infiniband.grh.hoplmt"]);
    let Some(found) = of_scenario("multicast", &bridged, &gids) else { return };
    let expected = "33:33:ef:ff:00:01\t0xffffff\t0x00000011\tff0e::ffff:efff:1\t64";
    assert_eq!(found, set([expected]));
}
