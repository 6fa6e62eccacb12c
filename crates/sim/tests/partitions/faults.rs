//! Links that treat frames as rules say.

use crate::support::{assert_cuts_change_nothing, clos, flows};

const PAIRS: &[(u32, u32)] = &[(0, 2), (1, 2), (3, 1)];

#[test]
fn frames_that_are_late_twice_or_out_of_order() {
    let rules = "[congestion_control.none]\n[[faults]]\naction = \"delay\"\ndelay = \"3us\"\nevery = 50\nfrom = \"leaf-0\"\n\
         [[faults]]\naction = \"reorder\"\nbehind = 3\ndelay = \"8us\"\nprobability = 0.01\n\
         [[faults]]\naction = \"duplicate\"\nevery = 40\nopcode = \"data\"\n\
         [[faults]]\naction = \"corrupt\"\npart = \"header\"\nprobability = 0.002\n\
         [[faults]]\naction = \"drop\"\npattern = \"ip-identification\"\n";
    let text = clos(
        "integrity = true\n[roce]\nack_timeout = 5",
        &format!("{rules}{}", flows("500KB", PAIRS)),
    );
    let evidence = [
        "/faults/0/acted",
        "/faults/1/acted",
        "/faults/2/acted",
        "/faults/3/acted",
        "/faults/4/acted",
    ];
    assert_cuts_change_nothing(&text, &evidence);
}

#[test]
fn pause_frames_that_are_lost_and_late() {
    let rules = "[switch]\nxoff = \"30KB\"\npause_quanta = 300\n[congestion_control.none]\n\
         [[faults]]\naction = \"drop\"\nopcode = \"PFC\"\nevery = 5\n\
         [[faults]]\naction = \"delay\"\ndelay = \"2us\"\nopcode = \"PFC\"\nevery = 3\n\
         [[faults]]\naction = \"corrupt\"\nprobability = 0.002\n";
    let text = clos("[roce]\nack_timeout = 6", &format!("{rules}{}", flows("1MB", PAIRS)));
    let evidence = ["/faults/0/acted", "/faults/1/acted", "/faults/2/acted", "/pfc/pauses"];
    assert_cuts_change_nothing(&text, &evidence);
}

/// Datagrams and unreliable connections: who has sent all is done when nothing is under way any more.
#[test]
fn messages_that_nobody_repeats() {
    for service in ["ud", "uc"] {
        let rules = "[congestion_control.none]\n[[faults]]\naction = \"drop\"\nevery = 90\n";
        let more = format!(
            "{rules}[[workload.flows]]\nmessage = \"1000B\"\nlist = [\n\
             {{ from = \"host-0\", to = \"host-2\", bytes = \"200KB\", verb = \"send\" }},\n\
             {{ from = \"host-1\", to = \"host-3\", bytes = \"100KB\", verb = \"send\", start = \"30us\" }},\n\
             {{ from = \"host-3\", to = \"host-0\", bytes = \"1000B\", verb = \"send\", start = \"90us\" }},\n]\n"
        );
        let text = clos(&format!("[roce]\nservice = \"{service}\""), &more);
        assert_cuts_change_nothing(&text, &["/drops/fault", "/messages"]);
    }
}
