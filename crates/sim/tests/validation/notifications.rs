//! Notification packets of DCQCN, on every service that carries data.

use crate::support::run;

/// Three hosts that send to one, as the trial of a user had it: packets marked, notifications, pauses.
fn counts(service: &str, congestion_control: &str) -> [u64; 3] {
    let verb = if service == "ud" { "verb = \"send\"\nmessage = \"1KB\"\n" } else { "" };
    let run = run(&format!(
        "stop = \"3ms\"\n[topology.single-switch]\nhosts = 5\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[roce]\n\
         service = \"{service}\"\n[congestion_control.{congestion_control}]\n[workload.flows]\n{verb}list = [\n\
         {{ from = \"host-0\", to = \"host-4\", bytes = \"10MB\" }},\n\
         {{ from = \"host-1\", to = \"host-4\", bytes = \"10MB\" }},\n\
         {{ from = \"host-2\", to = \"host-4\", bytes = \"10MB\" }},\n]\n"
    ));
    let counters = run.simulation.network().nic_counters();
    assert_eq!(counters.cnps_sent.packets, counters.cnps_received, "{service}");
    [run.totals().ecn_marks, counters.cnps_received, run.totals().pauses]
}

#[test]
fn marks_are_told_to_senders_of_every_service() {
    for service in ["rc", "uc", "ud"] {
        let [marks, notifications, pauses] = counts(service, "dcqcn");
        let [.., without] = counts(service, "none");
        println!("{service}: {marks} marks, {notifications} CNPs, {pauses} pauses of {without}");
        assert!(marks > 0 && notifications > 0, "{service}");
        assert!(pauses < without / 10, "{service}: {pauses} of {without}");
    }
}
