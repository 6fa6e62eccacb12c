//! A frame as a tree.

use rocelab_capture::{CaptureReader, Recipe, Tree, Verifier};

/// The tree of each frame of a description.
fn trees(description: &str) -> Vec<String> {
    let recipe = Recipe::parse("frames.toml".as_ref(), description).unwrap();
    let file = recipe.write(rocelab_capture::Format::PcapNg, Vec::new()).unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let mut trees = Vec::new();
    while let Some(frame) = reader.next_frame() {
        trees.push(Tree(&verifier.verify(&frame.unwrap())).to_string());
    }
    trees
}

#[test]
fn every_layer_has_its_bytes_and_every_byte_a_layer() {
    let description = "version = 1\nvlan = { pcp = 3, vid = 10 }\nfcs = true\n\
        [[message]]\nverb = \"write\"\nbytes = 5\nimmediate = 7\n\
        [[message]]\nverb = \"compare-swap\"\n[[message]]\nverb = \"pfc\"\n\
        [[message]]\nverb = \"send\"\ntransport = \"UD\"\nbytes = 3\n";
    for tree in trees(description) {
        let mut at = 0;
        for line in tree.lines().filter(|line| !line.starts_with(' ')) {
            let Some((_, place)) = line.split_once(", byte") else { continue };
            let place = place.trim_start_matches('s').split(':').next().unwrap().trim();
            let (from, to) = place.split_once(" to ").unwrap_or((place, place));
            assert_eq!(from.parse(), Ok(at), "{line}\n{tree}");
            at = to.parse::<usize>().unwrap() + 1;
        }
        let len = tree.lines().find_map(|line| line.trim().strip_prefix("captured_len: "));
        assert_eq!(len.unwrap().parse(), Ok(at), "{tree}");
    }
}

#[test]
fn a_wrong_checksum_says_which_is_right() {
    let description = "[[message]]\nverb = \"send\"\nbytes = 4\nfaults = [\"icrc\"]\n";
    let tree = trees(description).remove(0);
    let icrc = tree.lines().find(|line| line.starts_with("ICRC, bytes 58 to 61: 0x")).unwrap();
    assert!(icrc.contains(", bad: 0x") && icrc.ends_with(" is right"), "{tree}");
    assert!(tree.contains("\nBTH, bytes 42 to 53\n    opcode: RC_SEND_ONLY\n"), "{tree}");
    assert!(tree.contains("\nFault: icrc: found "), "{tree}");
}
