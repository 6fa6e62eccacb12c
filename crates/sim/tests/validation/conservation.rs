//! Nothing is lost count of: in the middle of runs, at their end, with links that lose frames.

use rocelab_units::SimTime;

use crate::closed_form::VERSIONS;
use crate::support::{Dice, Run, try_plan, write_file};

/// Two racks of three hosts and two spines; every link loses a share of its frames.
fn lossy_leaf_spine(dice: &mut Dice, loss: &str) -> String {
    let mut links = String::new();
    for host in 0..6 {
        links.push_str(&format!(
            "{host} {} {}Gbps 100ns {loss}\n",
            6 + host / 3,
            dice.one(&[25, 100])
        ));
    }
    for (leaf, spine) in [(6, 8), (6, 9), (7, 8), (7, 9)] {
        links.push_str(&format!("{leaf} {spine} 100Gbps 500ns {loss}\n"));
    }
    format!("10 4 10\n6 7 8 9\n{links}")
}

fn workloads(dice: &mut Dice) -> String {
    let verb = |dice: &mut Dice| dice.one(&["write", "send", "read", "write-with-immediate"]);
    let (incast, permutation, poisson) = (verb(dice), verb(dice), verb(dice));
    format!(
        "[workload.incast]\nsenders = 4\nbytes = \"{}B\"\nverb = \"{incast}\"\nrepeat = 3\n\
         interval = \"100us\"\n\
         [workload.permutation]\nbytes = \"{}B\"\nverb = \"{permutation}\"\n\
         [workload.poisson]\nload = 0.3\ndistribution_file = \"small-flows.csv\"\ncount = 60\n\
         verb = \"{poisson}\"\n\
         [workload.flows]\nlist = [\n\
         {{ from = \"host-0\", to = \"host-5\", bytes = \"{}B\", verb = \"read\" }},\n\
         {{ from = \"host-5\", to = \"host-0\", bytes = \"{}B\", verb = \"send\", priority = 1 }},\n\
         {{ from = \"host-1\", to = \"host-2\", bytes = \"1B\", verb = \"write-with-immediate\" }},\n]\n",
        dice.between(1, 40_000),
        dice.between(1, 40_000),
        dice.between(1, 60_000),
        dice.between(1, 60_000),
    )
}

/// Small flows only: go-back-0 never ends a long message over links that lose frames.
const SMALL_FLOWS: &str = "bytes,cumulative_percent\n1,0\n300,40\n5000,80\n40000,100\n";

fn scenario(number: u64, loss: &str) -> String {
    write_file("small-flows.csv", SMALL_FLOWS);
    let mut dice = Dice::new("conservation", number);
    let file = format!("conservation-{number}-{loss}.txt");
    write_file(&file, &lossy_leaf_spine(&mut dice, loss));
    let version = dice.one(&VERSIONS);
    let is_v2 = version.toml().starts_with("version = 2");
    let algorithm = if is_v2 { dice.one(&["none", "dcqcn", "timely"]) } else { "none" };
    format!(
        "seed = {number}\n[roce]\n{}\npath_mtu = {}\nack_timeout = 8\nack_interval = {}\n\
         recovery = \"{}\"\n\
         [topology.file]\npath = \"{file}\"\n[congestion_control.{algorithm}]\n\
         [switch]\nbuffer = \"2MB\"\nalpha = \"1/{}\"\nlossless = {}\n{}",
        version.toml(),
        dice.one(&[256, 1024, 4096]),
        dice.one(&[1, 4, 16]),
        dice.one(&["go-back-n", "go-back-0"]),
        dice.one(&[2, 8, 32]),
        dice.one(&["[3]", "[]", "[1, 3]"]),
        workloads(&mut dice)
    )
}

/// Runs in small steps, each followed by an audit.
fn run_in_steps(text: &str) -> Run {
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut run = Run::new(plan);
    while run.step(500) {
        let progress = run.simulation.progress();
        assert!(progress.events < 5_000_000, "{progress:?} {:?}\n{text}", run.totals());
    }
    run
}

#[test]
fn nothing_is_lost_count_of_without_loss() {
    let mut frames = 0;
    for number in 0..20 {
        let text = scenario(number, "0");
        let run = run_in_steps(&text);
        run.assert_complete(&format!("scenario {number}:\n{text}"));
        frames += run.totals().frames_delivered;
    }
    println!("20 scenarios, {frames} frames");
}

#[test]
fn messages_complete_once_over_links_that_lose_frames() {
    let (mut lost, mut sent_again) = (0, 0);
    for number in 0..40 {
        for loss in ["0.0005", "0.003"] {
            let text = scenario(number, loss);
            let run = run_in_steps(&text);
            run.assert_complete(&format!("scenario {number}:\n{text}"));
            let again = run.simulation.network().nic_counters().retransmitted.packets;
            let drops = run.totals().drops.get("link_loss").copied().unwrap_or(0);
            lost += drops;
            sent_again += again;
        }
    }
    println!("80 scenarios, {lost} frames lost on links, {sent_again} packets sent again");
    assert!(lost > 1_000 && sent_again > 1_000, "{lost}, {sent_again}");
}

/// Guo et al., RDMA over Commodity Ethernet at Scale (SIGCOMM 2016), section 4.1: one packet in 256
/// is dropped, messages of 4 MB. With go-back-0 no message ever arrives; go-back-N goes on.
#[test]
fn go_back_0_livelocks_where_go_back_n_makes_progress() {
    let file = "one-in-256.txt";
    let links = "3 1 2\n2\n0 2 40Gbps 15ns 0\n1 2 40Gbps 15ns 0.00390625\n";
    write_file(file, links);
    let delivered = |recovery: &str| {
        let text = format!(
            "stop = \"20ms\"\n[roce]\nrecovery = \"{recovery}\"\nack_timeout = 8\n\
             [topology.file]\npath = \"{file}\"\n[congestion_control.none]\n[workload.flows]\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4MB\" }}]\n"
        );
        let mut run = Run::new(try_plan(&text).unwrap_or_else(|error| panic!("{error}")));
        while run.step(1 << 16) {}
        assert!(run.simulation.progress().now <= SimTime::from_ps(20_000_000_000));
        let counters = run.simulation.network().nic_counters();
        println!(
            "{recovery}: {} messages, {} packets sent again",
            counters.messages_delivered, counters.retransmitted.packets
        );
        counters.messages_delivered
    };
    assert_eq!(delivered("go-back-0"), 0);
    assert_eq!(delivered("go-back-n"), 1);
}
