//! Links, switches and hosts that fail: what is lost, what goes on, and who notices.

use rocelab_sim::network::PauseEvent;
use rocelab_sim::{Ending, ideal_fct};

use crate::support::{Run, run};

/// Two leaves with two hosts each, two spines; `failures` is what fails, `flows` what is sent.
fn clos(failures: &str, flows: &str) -> String {
    format!(
        "convergence = \"100us\"\n[roce]\nack_timeout = 7\n[topology.leaf-spine]\nleaves = 2\n\
         spines = 2\nhosts_per_leaf = 2\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
         [switch]\nbuffer = \"4MB\"\n{failures}\n[workload.flows]\nlist = [{flows}]\n"
    )
}

const ACROSS: &str = "{ from = \"host-0\", to = \"host-2\", bytes = \"20MB\" },\
                      { from = \"host-1\", to = \"host-3\", bytes = \"20MB\" },";

fn drops(run: &Run, reason: &str) -> u64 {
    run.totals().drops.get(reason).copied().unwrap_or(0)
}

fn assert_all_complete(run: &Run) {
    let (completed, failed, all) = run.simulation.network().flow_counts();
    assert_eq!((completed as usize, failed), (all, 0));
    assert_eq!(run.ending, Some(Ending::Finished));
}

#[test]
fn flows_survive_a_link_that_goes_down_and_comes_back() {
    // Whichever spine a flow takes: both links of leaf-0 fail, one after the other.
    let failures = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"200us\"\nlasts = \"500us\"\n\
                    [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:3\"\nat = \"900us\"\nlasts = \"500us\"\n";
    let run = run(&clos(failures, ACROSS));
    assert!(drops(&run, "link_down") > 0);
    assert_all_complete(&run);
    assert!(run.totals().frames_dropped == drops(&run, "link_down"), "{:?}", run.totals().drops);
}

#[test]
fn routes_go_around_after_the_convergence_delay() {
    let down = |convergence: &str| {
        let failures = "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"200us\"\n\
                        [[failure]]\nkind = \"link-down\"\nport = \"leaf-1:2\"\nat = \"200us\"\n";
        let text = clos(failures, ACROSS).replace("\"100us\"", convergence);
        let run = run(&text);
        assert_all_complete(&run);
        drops(&run, "link_down")
    };
    let (soon, late) = (down("\"10us\""), down("\"100us\""));
    println!("{soon} frames lost with a convergence of 10 us, {late} with 100 us");
    assert!(soon < late, "{soon} {late}");
}

#[test]
fn a_switch_that_reboots_loses_what_it_holds() {
    let failures = "[[failure]]\nkind = \"switch-reboot\"\nswitch = \"spine-0\"\nat = \"200us\"\n\
                    lasts = \"300us\"\nrepeat = 3\ninterval = \"600us\"\n";
    let run = run(&clos(failures, ACROSS));
    assert!(drops(&run, "link_down") > 0);
    assert_all_complete(&run);
}

#[test]
fn a_link_at_a_tenth_of_its_rate_takes_ten_times_as_long() {
    let flows = "{ from = \"host-0\", to = \"host-1\", bytes = \"10MB\" },";
    let failures =
        "[[failure]]\nkind = \"link-rate\"\nport = \"host-1:0\"\nrate = \"10Gbps\"\nat = \"0s\"\n";
    let run = run(&clos(failures, flows));
    let ideal = ideal_fct(&run.plan, &run.plan.flows[0]).ps() as f64;
    let ratio = run.completion_times()[0] as f64 / ideal;
    assert!((9.9..10.1).contains(&ratio), "{ratio}");
    assert_eq!(run.totals().frames_dropped, 0);
}

/// host-2's NIC storms from 100 us on, for 20 ms; the others send to each other.
fn storm(watchdogs: &str) -> Run {
    let failures = format!(
        "[[failure]]\nkind = \"pause-storm\"\nhost = \"host-2\"\nat = \"100us\"\nlasts = \"20ms\"\n{watchdogs}"
    );
    // To the host of the storm, and one that shares links with it.
    let flows = "{ from = \"host-0\", to = \"host-2\", bytes = \"400MB\" },\
                 { from = \"host-1\", to = \"host-2\", bytes = \"400MB\" },\
                 { from = \"host-1\", to = \"host-3\", bytes = \"40MB\", start = \"1ms\" },";
    run(&format!("stop = \"19ms\"\n{}", clos(&failures, flows)))
}

/// Whether the third flow, which does not go to the host of the storm, is through.
fn victim_ended(run: &Run) -> bool {
    run.flow_ends().iter().any(|end| end.flow == 2)
}

#[test]
fn one_nic_that_pauses_without_end_blocks_others() {
    let run = storm("");
    assert!(!victim_ended(&run), "it waits behind frames for the host of the storm");
    assert!(run.count_pauses(|event| *event == PauseEvent::Pause) > 3);
    assert_eq!(drops(&run, "headroom_exceeded"), 0);
}

#[test]
fn the_watchdog_of_the_nic_bounds_it() {
    let run = storm("[watchdog.nic]\ndetect = \"2ms\"\n");
    assert!(victim_ended(&run));
    assert!(drops(&run, "receiver_stopped") > 0, "nobody handles what arrives");
}

#[test]
fn the_watchdog_of_the_switch_bounds_it() {
    for action in ["drop", "forward"] {
        let run = storm(&format!(
            "[watchdog.switch]\ndetect = \"2ms\"\nrestore = \"2ms\"\npoll = \"1ms\"\naction = \"{action}\"\n"
        ));
        assert!(victim_ended(&run), "{action}");
        assert!(run.totals().storms >= 1, "{action}");
        let reason = if action == "drop" { "watchdog" } else { "receiver_stopped" };
        assert!(drops(&run, reason) > 0, "{action}: {:?}", run.totals().drops);
    }
}

#[test]
fn a_host_is_reached_again_when_its_only_link_is_back() {
    let text = "[roce]\nack_timeout = 7\n[topology.single-switch]\nhosts = 5\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
                [[failure]]\nkind = \"link-down\"\nport = \"switch-0:1\"\nat = \"5us\"\nlasts = \"80us\"\n\
                [workload.incast]\nsenders = 4\nbytes = \"1MB\"\n";
    let run = run(text);
    assert_eq!(drops(&run, "no_route"), 0, "it has a way when nothing is broken");
    assert!(drops(&run, "link_down") > 0);
    assert_all_complete(&run);
}

#[test]
fn what_a_link_that_is_down_cuts_off_is_lost_to_it_whatever_the_routes() {
    let lost = |convergence: &str| {
        let text = format!(
            "stop = \"1ms\"\nconvergence = \"{convergence}\"\n[topology.single-switch]\nhosts = 3\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n[[failure]]\n\
             kind = \"link-down\"\nport = \"host-1\"\nat = \"20us\"\nlasts = \"10us\"\n\
             [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }}]\n"
        );
        let run = run(&text);
        assert_eq!(drops(&run, "no_route"), 0, "{convergence}");
        drops(&run, "link_down")
    };
    let late = lost("1s");
    assert!(late > 100, "{late}");
    assert_eq!(lost("0s"), late);
}
