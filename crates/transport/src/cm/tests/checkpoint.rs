//! A manager that is saved, and loaded into one that is set up anew, goes on as if nothing had
//! happened.

use rocelab_state::State as _;

use super::*;

fn saved(manager: &ConnectionManager) -> Vec<u8> {
    let mut bytes = Vec::new();
    manager.save(&mut bytes).unwrap();
    bytes
}

fn exchange(hosts: &mut Hosts) {
    for manager in &mut hosts.managers {
        let bytes = saved(manager);
        let mut anew = ConnectionManager::new(manager.config.clone());
        let mut rest = &bytes[..];
        anew.load(&mut rest).unwrap();
        assert!(rest.is_empty(), "all that was saved was loaded");
        assert_eq!(saved(&anew), bytes, "what was loaded is what was saved");
        *manager = anew;
    }
}

/// Two connections, one of which is over after a while, and what is lost of them.
fn run(losses: &[Loss], mut at_stop: impl FnMut(&mut Hosts)) -> Hosts {
    let mut hosts = Hosts::new(losses);
    let first = hosts.connect();
    let microseconds = (1..20).map(|us| us * 1_000_000);
    let seconds = (1..90).map(|s| s * 1_000_000_000_000);
    for (stop, ps) in (1..).zip(microseconds.chain(seconds)) {
        hosts.run_until(SimTime::from_ps(ps));
        match stop {
            8 => _ = hosts.connect(),
            40 => _ = hosts.managers[0].disconnect(hosts.now, first),
            _ => {}
        }
        at_stop(&mut hosts);
    }
    hosts
}

#[test]
fn what_is_loaded_goes_on_exactly() {
    for lost in [Req, Rep, Rtu, Dreq, Drep, Mra] {
        let losses = [(lost, 0), (lost, 1), (lost, 3)];
        let (uninterrupted, resumed) = (run(&losses, |_| ()), run(&losses, exchange));
        assert_eq!(uninterrupted.sent, resumed.sent, "{lost} lost");
        assert_eq!(uninterrupted.events, resumed.events, "{lost} lost");
        assert_eq!(uninterrupted.now, resumed.now, "{lost} lost");
        assert!(uninterrupted.events[0].len() > 2, "{:?}", uninterrupted.events);
        assert_eq!(
            uninterrupted.managers.map(|it| saved(&it)),
            resumed.managers.map(|it| saved(&it))
        );
    }
}

#[test]
fn what_was_cut_off_is_an_error() {
    let hosts = run(&[(Rtu, 0)], |_| ());
    let mut manager = hosts.managers[1].clone();
    let bytes = saved(&manager);
    for end in 0..bytes.len() {
        assert!(manager.load(&mut &bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
    assert!(manager.load(&mut &bytes[..]).is_ok());
}
