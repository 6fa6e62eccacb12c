//! Captures of TCP, as tshark reads them. Skipped, with a note, without it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rocelab_sim::Simulation;

use crate::support::try_plan;

/// Runs TCP and RDMA into host-0 with a capture there and at the switch; the file, and segments with
/// payload that arrived.
fn captured(name: &str, roce: &str, more: &str) -> (PathBuf, u64) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tcp-{name}"));
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    let text = format!(
        "[roce]\n{roce}\n[topology.single-switch]\nhosts = 4\n\
         link = {{ rate = \"10Gbps\", cable = \"3m\" }}\n{more}\n\
         [[workload.incast]]\ntransport = \"tcp\"\nsenders = 3\nbytes = \"300KB\"\n\
         [[workload.incast]]\nsenders = 1\nbytes = \"10KB\"\n\
         [capture]\nports = [\"host-0\"]\n"
    );
    let plan = try_plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    simulation.run_to_end();
    simulation.finish_capture().expect("the folder takes files");
    (folder.join("capture.pcapng"), simulation.network().tcp_counters().data_received)
}

/// The values of `fields`, a row a frame of TCP; none without tshark.
fn tshark(file: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    command.args(["-Y", "tcp", "-T", "fields", "-r"]).arg(file);
    for field in fields {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no tshark");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

const FIELDS: [&str; 8] = [
    "tcp.checksum.status",
    "_ws.malformed",
    "_ws.expert.severity",
    "tcp.len",
    "tcp.dstport",
    "tcp.options.sack_le",
    "tcp.window_size_value",
    "tcp.analysis.retransmission",
];

/// tshark's "warning"; notes and chats are below it.
const WARNING: u32 = 0x0060_0000;

#[test]
fn segments_are_well_formed() {
    for (number, roce) in
        ["version = 1", "version = 2", "version = 2\nip = \"ipv6\"\ntagging = \"tagged\""]
            .into_iter()
            .enumerate()
    {
        let (file, received) = captured(&format!("clean-{number}"), roce, "");
        let Some(rows) = tshark(&file, &FIELDS) else { return };
        let mut data = 0;
        for row in &rows {
            assert_eq!((row[0].as_str(), row[1].as_str()), ("1", ""), "good checksum: {row:?}");
            let severity = row[2].split(',').filter(|text| !text.is_empty());
            let severity = severity.map(|text| text.parse::<u32>().expect("a number")).max();
            assert!(severity.unwrap_or(0) < WARNING, "{row:?}");
            let is_data = row[4] == "5001";
            assert_eq!(row[3] == "0", !is_data, "{row:?}");
            data += u64::from(is_data);
            // 6 MiB shifted by 7 bits.
            assert_eq!(row[6], "49152", "{row:?}");
        }
        assert_eq!(data, received, "{roce}");
    }
}

#[test]
fn losses_show_as_retransmissions_and_selective_acknowledgements() {
    let small = "[switch]\nbuffer = \"200KB\"\nheadroom = \"10KB\"\nalpha = \"1\"\n[tcp]\nmin_rto = \"5ms\"";
    let (file, _) = captured("lossy", "version = 2", small);
    let Some(rows) = tshark(&file, &FIELDS) else { return };
    assert!(rows.iter().all(|row| row[0] == "1" && row[1].is_empty()), "{rows:?}");
    let blocks = rows.iter().filter(|row| !row[5].is_empty()).count();
    println!("{blocks} of {} segments have blocks", rows.len());
    assert!(blocks > 0 && rows.iter().all(|row| row[5].is_empty() || row[4] != "5001"));
}
