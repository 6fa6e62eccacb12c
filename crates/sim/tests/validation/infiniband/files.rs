//! Tables and service levels that go through files.

use std::fs;

use rocelab_sim::Ending;
use rocelab_subnet::dump::{Levels, Lfts};

use super::fabrics::ring;
use crate::support::{plan, run, try_plan};

/// The ring by the files in a folder, with or without the service levels.
fn by_files(folder: &std::path::Path, lmc: u8, has_levels: bool) -> String {
    let name = |file: &str| format!("{:?}", folder.join(file).display().to_string());
    let mut engine = format!("engine = \"file\"\nlfts = {}\n", name("lfts"));
    if has_levels {
        engine += &format!("sl_file = {}\n", name("sl.txt"));
    }
    let text = ring((5, 3, 2), ("file", 4)).replace("engine = \"file\"\n", &engine);
    text.replace("[infiniband]\n", &format!("[infiniband]\nlmc = {lmc}\n"))
}

/// Tables of LASH and DFSSSP need their service levels: with them a run by files is that of the engine; without them their ring
/// stands still, or has a loop.
#[test]
fn tables_and_service_levels_of_files_give_the_run_of_their_engine() {
    for (engine, lmc) in [("lash", 0), ("dfsssp", 0), ("dfsssp", 1), ("lash", 2)] {
        let folder = tempfile::tempdir().expect("a folder");
        let text = ring((5, 3, 2), (engine, 4));
        let text = text.replace("[infiniband]\n", &format!("[infiniband]\nlmc = {lmc}\n"));
        let plan = plan(&text);
        let routed = &plan.infiniband.as_ref().expect("it is of InfiniBand").routed;
        let (subnet, tables) = (&routed.subnet, &routed.routing.tables);
        assert!(tables.lanes > 1, "{engine}");
        let lfts = Lfts { subnet, tables: &tables.forwarding }.to_string();
        let levels = Levels { subnet, tables }.to_string();
        let write = |file: &str, text: &str| {
            fs::write(folder.path().join(file), text).expect("it can be written");
        };
        write("lfts", &lfts);
        write("sl.txt", &levels);
        let first = run(&text);
        let second = run(&by_files(folder.path(), lmc, true));
        assert_eq!((first.ending, second.ending), (Some(Ending::Finished), Some(Ending::Finished)));
        let digest = |run: &crate::support::Run| run.simulation.network().digest();
        assert_eq!(digest(&first), digest(&second), "{engine}, LMC {lmc}");
        let without = run(&by_files(folder.path(), lmc, false));
        assert_ne!(digest(&first), digest(&without), "{engine}, LMC {lmc}");

        write("sl.txt", &levels.replacen(" 0\n", " 9\n", 1));
        let error = try_plan(&by_files(folder.path(), lmc, true)).expect_err("there is no SL 9");
        let told = error.to_string();
        assert!(told.contains("sl.txt") && told.contains("from 0 to 7"), "{told}");
        let lacking: Vec<_> = levels.lines().skip(1).collect();
        write("sl.txt", &lacking.join("\n"));
        let error = try_plan(&by_files(folder.path(), lmc, true)).expect_err("one is missing");
        let told = error.to_string();
        assert!(told.contains("has no service level from LID"), "{told}");
    }
    let text = ring((5, 3, 2), ("lash", 4));
    let text = text.replace("\"lash\"\n", "\"lash\"\nsl_file = \"x\"\n");
    let told = try_plan(&text).expect_err("LASH has its own").to_string();
    assert!(told.contains("infiniband.sm.sl_file"), "{told}");
}
