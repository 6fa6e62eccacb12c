//! A run ends when nothing can move any more, and not before.

use rocelab_sim::Ending;

use crate::support::{plan, run, try_plan};

fn two_flows(link: &str, second_start: &str) -> String {
    format!(
        "[roce]\nack_timeout = 0\n[topology.single-switch]\nhosts = 2\nlink = {{ {link} }}\n\
         [congestion_control.none]\n[workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"3KB\" }},\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"3KB\", start = \"{second_start}\" }},\n]\n"
    )
}

#[test]
fn a_late_flow_over_a_long_link_is_waited_for() {
    let run = run(&two_flows("rate = \"100Gbps\", delay = \"50us\"", "5s"));
    assert_eq!(run.ending, Some(Ending::Finished));
    assert_eq!(run.flow_ends().len(), 2);
}

#[test]
fn the_slowest_link_is_waited_for() {
    let run = run(&two_flows("rate = \"1Mbps\", delay = \"1s\"", "0s"));
    assert_eq!(run.ending, Some(Ending::Finished));
}

#[test]
fn slow_pacing_is_waited_for() {
    let slow = two_flows("rate = \"100Gbps\", delay = \"50us\"", "0s")
        .replace("[congestion_control.none]", "[congestion_control.none]\nrate = \"1kbps\"");
    assert_eq!(run(&slow).ending, Some(Ending::Finished));
}

#[test]
fn what_can_never_move_again_is_told() {
    // The data is lost, and there is no ACK timeout to send it again.
    let text = "[roce]\nack_timeout = 0\n[topology.file]\npath = \"lost.txt\"\n\
                [congestion_control.none]\n[workload.flows]\nlist = [\n\
                { from = \"host-0\", to = \"host-1\", bytes = \"1KB\" },\n]\n";
    crate::support::write_file("lost.txt", "3 1 2\n2\n0 2 100Gbps 15ns 1\n1 2 100Gbps 15ns 0\n");
    assert_eq!(run(text).ending, Some(Ending::Stalled));
}

#[test]
fn values_at_the_ends_of_their_ranges_run_or_are_refused() {
    let with = |rest: &str| {
        format!(
            "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"1Mbps\", cable = \"3m\" }}\n\
             [roce]\npath_mtu = 256\n[workload.incast]\nsenders = 2\nbytes = \"2KB\"\n{rest}"
        )
    };
    for refused in [
        "[switch]\nxon_offset = \"18446744TB\"",
        "[switch]\nxoff = \"18446744TB\"",
        "[switch]\nbuffer = \"4294967295B\"",
        "[congestion_control.dcqcn]\nincrease_timer = \"18446744s\"",
        "[congestion_control.dcqcn]\nrate_decrease_interval = \"18446744s\"",
    ] {
        assert!(try_plan(&with(refused)).is_err(), "{refused}");
    }
    let slow = run(&with("[switch]\nbuffer = \"9KB\"\nalpha = \"4294967295\"\nxoff = \"400B\""));
    assert_eq!(slow.ending, Some(Ending::Finished));
    assert!(slow.totals().pauses > 0, "pauses of 65535 quanta at 1 Mb/s last 33 s and fit");
    let ports = "[topology.single-switch]\nhosts = 65534\nlink = { rate = \"1Gbps\", cable = \"3m\" }\n\
                 [switch]\nbuffer = \"4GB\"\nlossless = []\n\
                 [workload.incast]\nsenders = 2\nbytes = \"1KB\"\n";
    assert_eq!(run(ports).ending, Some(Ending::Finished));
    assert!(try_plan(&ports.replace("65534", "65535")).is_err());
    let largest = plan(&with("[switch]\nbuffer = \"4GB\""));
    assert_eq!(largest.switch.buffer.get(), 4_000_000_000);
}

#[test]
fn a_slow_receiver_and_a_slow_link_are_waited_for() {
    let text = two_flows("rate = \"100Gbps\", cable = \"3m\"", "0s");
    let slow = "[[slow_receiver]]\nhosts = [\"host-1\"]\nrate = \"5kbps\"\nbuffer = \"100KB\"\n";
    let failure =
        "[[failure]]\nkind = \"link-rate\"\nport = \"host-0\"\nat = \"200ns\"\nrate = \"1bps\"\n";
    for more in [slow, failure] {
        assert_eq!(run(&format!("{text}{more}")).ending, Some(Ending::Finished), "{more}");
    }
}
