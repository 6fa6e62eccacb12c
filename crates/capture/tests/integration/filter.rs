//! Which frames a filter wants.

use rocelab_capture::{CaptureReader, Filter, Format, Recipe, Verifier};

use crate::tunnels::{capture, ethernet, frames, ipv4, vxlan};

/// The numbers of the frames that are wanted.
fn wanted(file: &[u8], mut filter: Filter) -> Vec<u64> {
    let mut reader = CaptureReader::new(file).unwrap();
    let mut verifier = Verifier::new();
    let mut numbers = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        numbers.extend(Some(frame.number).filter(|_| filter.wants(&verifier.verify(&frame))));
    }
    numbers
}

fn addresses(texts: &[&str]) -> Filter {
    let mut filter = Filter::default();
    filter.addresses = texts.iter().map(|text| text.parse().unwrap()).collect();
    filter
}

fn made(description: &str) -> Vec<u8> {
    let recipe = Recipe::parse("frames.toml".as_ref(), description).unwrap();
    recipe.write(Format::PcapNg, Vec::new()).unwrap()
}

#[test]
fn addresses_of_all_layers_are_found() {
    let file = made(
        "source = \"10.0.0.1\"\ndestination = \"10.0.0.2\"\nsource_mac = \"02:00:00:00:00:0a\"\n\
         [[message]]\nverb = \"send\"\nbytes = 8\n[[message]]\nverb = \"acknowledge\"\n[[message]]\nverb = \"pfc\"\n",
    );
    assert_eq!(wanted(&file, addresses(&["10.0.0.1"])), [1, 2], "source and destination");
    assert_eq!(wanted(&file, addresses(&["10.0.0.9"])), [] as [u64; 0]);
    assert_eq!(wanted(&file, addresses(&["10.0.0.9", "10.0.0.2"])), [1, 2], "any of them");
    assert_eq!(wanted(&file, addresses(&["::ffff:10.0.0.1"])), [1, 2], "the GID");
    assert_eq!(wanted(&file, addresses(&["02-00-00-00-00-0A"])), [1, 2, 3]);
    assert_eq!(wanted(&file, addresses(&["01:80:c2:00:00:01"])), [3]);

    let version_1 = made(
        "version = 1\nsource = \"fe80::1\"\ndestination = \"fe80::2\"\n\
        [[message]]\nverb = \"send\"\nbytes = 8\n",
    );
    assert_eq!(wanted(&version_1, addresses(&["fe80::2"])), [1], "GIDs of the GRH");

    let tunnel = capture(1, &[ethernet(0x800, &ipv4(17, &vxlan(&frames()[0])))]);
    assert_eq!(wanted(&tunnel, addresses(&["192.0.2.1"])), [1], "around the frame");
    assert_eq!(wanted(&tunnel, addresses(&["10.0.0.2"])), [1], "the frame's own");

    // Other protocols of IP, too.
    let other = capture(1, &[ethernet(0x800, &ipv4(6, &[0; 20]))]);
    assert_eq!(wanted(&other, addresses(&["192.0.2.1"])), [1]);
}

#[test]
fn protocols_and_codepoints_are_found() {
    let file = made(
        "ecn = \"ect0\"\n[[message]]\nverb = \"send\"\nbytes = 8\n[[message]]\nverb = \"cnp\"\necn = \"not-ect\"\n\
         [[message]]\nverb = \"pfc\"\n[[message]]\nverb = \"pause\"\n[[message]]\nverb = \"send\"\nbytes = 8\necn = \"ce\"\n",
    );
    let of = |texts: &[&str]| {
        let mut filter = Filter::default();
        filter.protocols = texts.iter().map(|text| text.parse().unwrap()).collect();
        wanted(&file, filter)
    };
    assert_eq!(of(&["pfc"]), [3]);
    assert_eq!(of(&["pfc", "pause"]), [3, 4]);
    assert_eq!(of(&["cnp"]), [2]);
    assert_eq!(of(&["rocev2"]), [1, 2, 5]);
    assert_eq!(of(&["roce_v2_ipv6", "rocev1"]), [] as [u64; 0]);

    let marked = |texts: &[&str]| {
        let mut filter = Filter::default();
        filter.ecn = texts.iter().map(|text| text.parse().unwrap()).collect();
        wanted(&file, filter)
    };
    assert_eq!(marked(&["ce"]), [5]);
    assert_eq!(marked(&["ect0"]), [1]);
    assert_eq!(marked(&["not-ect", "CE"]), [2, 5], "flow control has no codepoint");

    let mut both = Filter::default();
    both.ecn.push("not-ect".parse().unwrap());
    both.protocols.push("cnp".parse().unwrap());
    assert_eq!(wanted(&file, both.clone()), [2], "all conditions hold together");
    both.addresses.push("10.9.9.9".parse().unwrap());
    assert_eq!(wanted(&file, both), [] as [u64; 0]);
}
