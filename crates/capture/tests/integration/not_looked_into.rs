//! Frames that may have RoCE in them, but are not looked into; and packets that are damaged, but not missing.

use rocelab_capture::{CaptureReader, Format, Observation, Recipe, Verifier};

use crate::tunnels::{capture, ethernet, frames, ipv4, ipv6, vxlan};

fn verify(file: &[u8]) -> (Verifier, Vec<Observation>) {
    let mut reader = CaptureReader::new(file).unwrap();
    let mut verifier = Verifier::new();
    let mut observations = Vec::new();
    while let Some(frame) = reader.next_frame() {
        observations.extend(verifier.verify(&frame.unwrap()).observations);
    }
    (verifier, observations)
}

/// The reasons, and how many frames have them.
fn reasons(link_type: u32, frames: &[Vec<u8>]) -> Vec<(String, u64)> {
    let (verifier, observations) = verify(&capture(link_type, frames));
    let told = observations.iter().filter(|one| one.name() == "not_looked_into").count() as u64;
    let reasons: Vec<_> =
        verifier.not_looked_into().map(|(reason, count)| (reason.name(), count)).collect();
    assert_eq!(told, reasons.iter().map(|(_, count)| count).sum::<u64>());
    reasons
}

#[test]
fn each_frame_says_why_it_was_not_looked_into() {
    let frame = &frames()[0];
    let mut fragment = frame.clone();
    fragment[20] |= 0x20;
    let mut options = frame.clone();
    options[14] = 0x46;
    let mut deep = frame.clone();
    for _ in 0..5 {
        deep = ethernet(0x800, &ipv4(17, &vxlan(&deep)));
    }
    let mut without_vni = ethernet(0x800, &ipv4(17, &vxlan(frame)));
    without_vni[42] = 0;
    let routed = ethernet(0x800, &ipv4(47, &[0x40, 0, 8, 0, 0, 0, 0, 0]));
    let tags = [&frame[..12], &[0x81, 0, 0, 5].repeat(3), &frame[12..]].concat();
    for (name, frame) in [
        ("fragment", fragment),
        ("ipv4_options", options),
        ("ipv6_extension_headers", ethernet(0x86dd, &ipv6(60, &frame[34..]))),
        ("tunnel_depth", deep),
        ("vxlan", without_vni),
        ("gre", routed),
        ("tags", tags),
    ] {
        assert_eq!(reasons(1, &[frame.clone(), frame]), [(name.to_owned(), 2)]);
    }
    assert_eq!(reasons(147, &frames()), [("link_type_147".to_owned(), 12)]);
    // Those that are looked into, and those that are known not to be RoCE.
    assert_eq!(reasons(1, &frames()), []);
    let tcp = ethernet(0x800, &ipv4(6, &[0; 20]));
    assert_eq!(reasons(1, &[tcp, ethernet(0x806, &[0; 28])]), []);
}

/// Frame 7 of the capture has a wrong ICRC. Without the frames after it that send its PSN again, nothing explains a gap but
/// that frame.
#[test]
fn a_damaged_packet_is_not_missing() {
    let mut all = frames();
    let (verifier, observations) = verify(&capture(1, &all));
    assert!(verifier.totals().faults == 1);
    let gaps = |observations: &[Observation]| {
        observations.iter().filter(|one| one.name() == "gap").count()
    };
    assert_eq!(gaps(&observations), 0, "{observations:?}");
    let missing = |verifier: &Verifier| {
        verifier.flows().flows().iter().map(|flow| flow.missing()).sum::<u64>()
    };
    assert_eq!(missing(&verifier), 0);

    // The same packet, really missing.
    all.remove(6);
    let (verifier, observations) = verify(&capture(1, &all));
    assert_eq!(gaps(&observations), 1, "{observations:?}");
    assert_eq!(missing(&verifier), 1);

    // Another packet damaged, and the one before it missing.
    let mut all = frames();
    all.remove(5);
    let (_, observations) = verify(&capture(1, &all));
    let told: Vec<_> = observations.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|one| one.starts_with("gap: 1 missing from psn ")), "{told:?}");
}

/// An acknowledgement of a packet with a wrong ICRC says nothing of the capture; one of a packet that is not in it does.
#[test]
fn an_acknowledged_damaged_packet_is_no_gap() {
    let faults = |rest: &str| {
        let description = format!(
            "[[message]]\nverb = \"write\"\nbytes = 5000\n{rest}\n[[message]]\nverb = \"acknowledge\"\n"
        );
        let recipe = Recipe::parse("frames.toml".as_ref(), &description).unwrap();
        let file = recipe.write(Format::PcapNg, Vec::new()).unwrap();
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let mut verifier = Verifier::new();
        let mut faults = Vec::new();
        while let Some(frame) = reader.next_frame() {
            faults.extend(verifier.verify(&frame.unwrap()).faults.iter().map(|fault| fault.name()));
        }
        faults
    };
    assert_eq!(faults("faults = [\"icrc\"]\nfaulty = [1]"), ["icrc"]);
    assert_eq!(faults("omit = [1]"), ["psn_gap"]);
    assert_eq!(faults("omit = [2]\nfaults = [\"icrc\"]\nfaulty = [1]"), ["icrc", "psn_gap"]);
}
