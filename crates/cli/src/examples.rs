//! The examples below the help of each command. A test parses every one of them.

/// Of the program.
pub(crate) const PROGRAM: &str = "\
Examples:
  rocelab new incast
  rocelab run incast.toml
  rocelab report results/incast-1";

/// Of `rocelab run`.
pub(crate) const RUN: &str = "\
Examples:
  rocelab run scenarios/incast-v2.toml
  rocelab run scenarios/incast-v2.toml --out results/hpcc --set congestion_control=hpcc
  rocelab run scenarios/incast-v2.toml --seed 7 --set workload.incast.bytes=5MB --set 'capture.ports=[\"host-0\"]'
  rocelab run scenarios/fat320-websearch.toml --threads 4 --checkpoint-every 1ms";

/// Of `rocelab sweep`.
pub(crate) const SWEEP: &str = "\
Examples:
  rocelab sweep scenarios/websearch-sweep.toml
  rocelab sweep scenarios/websearch-sweep.toml --out results/tail
  rocelab sweep scenarios/websearch-sweep.toml --emit slurm";

/// Of `rocelab resume`.
pub(crate) const RESUME: &str = "\
Examples:
  rocelab resume results/fat320-websearch-1";

/// Of `rocelab branch`.
pub(crate) const BRANCH: &str = "\
Examples:
  rocelab branch results/incast-v2-1 --set switch.alpha=1/16 --out results/other-alpha";

/// Of `rocelab check`.
pub(crate) const CHECK: &str = "\
Examples:
  rocelab check scenarios/incast-v2.toml
  rocelab check scenarios --json
  rocelab check scenarios/incast-v2.toml --set switch.buffer=4MB";

/// Of `rocelab report`.
pub(crate) const REPORT: &str = "\
Examples:
  rocelab report results/incast-v2-1";

/// Of `rocelab compare`.
pub(crate) const COMPARE: &str = "\
Examples:
  rocelab compare results/incast-v2-1 results/incast-v1-1
  rocelab compare results/websearch-sweep --html tail.html";

/// Of `rocelab serve`.
pub(crate) const SERVE: &str = "\
Examples:
  rocelab serve results
  rocelab serve results --port 0";

/// Of `rocelab explain`.
pub(crate) const EXPLAIN: &str = "\
Examples:
  rocelab explain results/incast-v2-1
  rocelab explain results/incast-v2-1 --flow 3";

/// Of `rocelab headroom`.
pub(crate) const HEADROOM: &str = "\
Examples:
  rocelab headroom --rate 100Gbps --cable 300m
  rocelab headroom --rate 400Gbps --cable 2km --ports 64 --buffer 64MB --classes 2
  rocelab headroom results/incast-v2-1";

/// Of `rocelab convert`.
pub(crate) const CONVERT: &str = "\
Examples:
  rocelab convert config.txt
  rocelab convert config.txt -o converted.toml
  rocelab convert config.txt --roce 2";

/// Of `rocelab sm`.
pub(crate) const SM: &str = "\
Examples:
  rocelab sm net.txt --engine minhop --out tables
  rocelab sm net.txt --engine updn --roots roots.txt --out tables --force
  rocelab sm net.txt --engine dfsssp --lanes 4 --out tables
  rocelab sm net.txt --engine file --lfts opensm-lfts.dump --out tables";

/// Of `rocelab cc`.
pub(crate) const CC: &str = "\
Examples:
  rocelab cc new my-control --lang rust
  rocelab cc check my-control.wasm";

/// Of `rocelab cc new`.
pub(crate) const CC_NEW: &str = "\
Examples:
  rocelab cc new my-control
  rocelab cc new my-control --lang c
  rocelab cc new my-control --lang wat";

/// Of `rocelab cc check`.
pub(crate) const CC_CHECK: &str = "\
Examples:
  rocelab cc check my-control.wasm
  rocelab cc check my-control.wasm --parameter target=13us --fuel 10000";

/// Of `rocelab cc replay`.
pub(crate) const CC_REPLAY: &str = "\
Examples:
  rocelab cc replay my-control.wasm events.jsonl";

/// Of `rocelab topo`.
pub(crate) const TOPO: &str = "\
Examples:
  rocelab topo show scenarios/incast-v2.toml
  rocelab topo gids scenarios/incast-v2.toml";

/// Of `rocelab topo show`.
pub(crate) const TOPO_SHOW: &str = "\
Examples:
  rocelab topo show scenarios/incast-v2.toml
  rocelab topo show scenarios/incast-v2.toml --svg topology.svg";

/// Of `rocelab topo gids`.
pub(crate) const TOPO_GIDS: &str = "\
Examples:
  rocelab topo gids scenarios/incast-v2.toml";

/// Of `rocelab trace`.
pub(crate) const TRACE: &str = "\
Examples:
  rocelab trace info step.0.et step.1.et
  rocelab trace check schedule.goal
  rocelab trace convert workload.txt --to goal --out schedule.goal";

/// Of `rocelab trace info`.
pub(crate) const TRACE_INFO: &str = "\
Examples:
  rocelab trace info step.0.et step.1.et --groups groups.json
  rocelab trace info workload.txt --rate 400Gbps
  rocelab trace info cluster.topology";

/// Of `rocelab trace check`.
pub(crate) const TRACE_CHECK: &str = "\
Examples:
  rocelab trace check step.0.et step.1.et --groups groups.json
  rocelab trace check schedule.goal";

/// Of `rocelab trace convert`.
pub(crate) const TRACE_CONVERT: &str = "\
Examples:
  rocelab trace convert schedule.goal --to goal-binary --out schedule.bin
  rocelab trace convert schedule.bin --to goal
  rocelab trace convert step.0.et step.1.et --to goal --algorithm direct --out step.goal
  rocelab trace convert step.0.et --to decoded
  rocelab trace convert workload.txt --to json --out workload.json";

/// Of `rocelab pcap`.
pub(crate) const PCAP: &str = "\
Examples:
  rocelab pcap decode capture.pcapng
  rocelab pcap verify capture.pcapng";

/// Of `rocelab pcap decode`.
pub(crate) const PCAP_DECODE: &str = "\
Examples:
  rocelab pcap decode capture.pcapng --count 10
  rocelab pcap decode capture.pcapng --json
  rocelab pcap decode capture.pcapng --tree --hex --count 1
  rocelab pcap decode capture.pcapng --qp 0x11 --opcode RC_ACKNOWLEDGE --from 1ms --to 2ms
  rocelab pcap decode capture.pcapng --address 10.0.0.1 --ecn ce --protocol rocev2
  rocelab pcap decode capture.pcapng --hex | text2pcap - copy.pcapng
  tcpdump -i eth0 -w - udp port 4791 | rocelab pcap decode -";

/// Of `rocelab pcap verify`.
pub(crate) const PCAP_VERIFY: &str = "\
Examples:
  rocelab pcap verify capture.pcapng
  rocelab pcap verify capture.pcapng --json";

/// Of `rocelab pcap stats`.
pub(crate) const PCAP_STATS: &str = "\
Examples:
  rocelab pcap stats capture.pcapng";

/// Of `rocelab pcap fix-icrc`.
pub(crate) const PCAP_FIX_ICRC: &str = "\
Examples:
  rocelab pcap fix-icrc edited.pcapng --out right.pcapng";

/// Of `rocelab pcap make`.
pub(crate) const PCAP_MAKE: &str = "\
Examples:
  rocelab pcap make frames.toml --out frames.pcapng
  rocelab pcap make frames.toml -o - | tshark -r -";

/// Of `rocelab new`.
pub(crate) const NEW: &str = "\
Examples:
  rocelab new --list
  rocelab new incast
  rocelab new storage my-storage.toml";

/// Of `rocelab schema`.
pub(crate) const SCHEMA: &str = "\
Examples:
  rocelab schema > rocelab.schema.json";

/// Of `rocelab completions`.
pub(crate) const COMPLETIONS: &str = "\
Examples:
  rocelab completions bash > ~/.local/share/bash-completion/completions/rocelab
  rocelab completions zsh > ~/.zfunc/_rocelab
  rocelab completions fish > ~/.config/fish/completions/rocelab.fish";

/// Of `rocelab man`.
pub(crate) const MAN: &str = "\
Examples:
  rocelab man ~/.local/share/man/man1
  rocelab man | man -l -
  rocelab man --page rocelab-pcap-decode";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{Command, CommandFactory, Parser};

    use crate::Arguments;

    /// A command of ours on the line of a shell, as its words: what stands before or after it is of other programs.
    fn words(line: &str) -> Vec<String> {
        let ours = line.split(" | ").find(|part| part.starts_with("rocelab")).expect("rocelab");
        let ours = ours.split(" > ").next().unwrap_or(ours);
        let parts = ours.split('\'').enumerate();
        let mut words = Vec::new();
        for (number, part) in parts {
            match number % 2 {
                0 => words.extend(part.split_whitespace().map(str::to_owned)),
                _ => words.push(part.to_owned()),
            }
        }
        words
    }

    fn leaves<'a>(command: &'a Command, path: &str, all: &mut Vec<(String, &'a Command)>) {
        all.push((path.to_owned(), command));
        for below in command.get_subcommands() {
            leaves(below, &format!("{path} {}", below.get_name()), all);
        }
    }

    #[test]
    fn every_command_has_examples_that_are_valid_and_of_this_command() {
        let program = Arguments::command();
        let mut commands = Vec::new();
        leaves(&program, "rocelab", &mut commands);
        assert!(commands.len() > 20, "{}", commands.len());
        for (path, command) in commands {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<_> = help.lines().skip(1).map(str::trim).collect();
            assert!(help.starts_with("Examples:\n") && !lines.is_empty(), "{path} has none");
            for line in lines {
                assert!(words(line).join(" ").starts_with(&path), "{line}: is not of {path}");
                let parsed = Arguments::try_parse_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn scenarios_of_examples_exist() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let this = include_str!("examples.rs");
        let (constants, _) = this.split_once("#[cfg(test)]").unwrap();
        let named = constants.split_whitespace().filter(|word| word.starts_with("scenarios/"));
        let named: Vec<_> = named.map(|word| word.trim_end_matches([';', '"'])).collect();
        assert!(named.len() > 10, "{named:?}");
        for file in named {
            assert!(repository.join(file).is_file(), "{file}");
        }
    }
}
