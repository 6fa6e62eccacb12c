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

/// The place of a layer that a line of a tree tells: the first byte and the last.
fn place(line: &str) -> Option<(usize, usize)> {
    let (_, place) = line.split_once(", byte")?;
    let place = place.trim_start_matches('s').split(':').next()?.trim();
    let (from, to) = place.split_once(" to ").unwrap_or((place, place));
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// However short the capture of a frame is: the layers have the captured bytes, and no others.
#[test]
fn no_layer_of_a_cut_frame_has_bytes_that_were_not_captured() {
    let description = "vlan = { pcp = 3, vid = 10 }\n[[message]]\nverb = \"write\"\nbytes = 30\n";
    let recipe = Recipe::parse("frames.toml".as_ref(), description).unwrap();
    let whole = recipe.write(rocelab_capture::Format::Pcap, Vec::new()).unwrap();
    let (head, frame) = whole.split_at(40);
    for len in 0..frame.len() {
        let mut file = [head, &frame[..len]].concat();
        file[32..36].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let mut verifier = Verifier::new();
        let tree = Tree(&verifier.verify(&reader.next_frame().unwrap().unwrap())).to_string();
        let layers = tree.lines().filter(|line| !line.starts_with(' '));
        let (there, not_there): (Vec<_>, Vec<_>) =
            layers.partition(|line| !line.starts_with("Not captured, bytes"));
        let mut at = 0;
        for (from, to) in there.iter().filter_map(|line| place(line)) {
            assert_eq!(from, at, "{tree}");
            at = to + 1;
        }
        assert_eq!(at, len, "{tree}");
        let expected = format!("bytes {len} to {}: ", frame.len() - 1);
        let single = format!("bytes {len} to {len}: 1 byte");
        assert!(
            matches!(not_there[..], [line] if line.contains(&expected) || line.contains(&single)),
            "{tree}"
        );
    }
}

#[test]
fn a_cut_layer_says_what_of_it_was_captured() {
    let description = "[[message]]\nverb = \"write\"\nbytes = 100\n";
    let recipe = Recipe::parse("frames.toml".as_ref(), description).unwrap();
    let whole = recipe.write(rocelab_capture::Format::Pcap, Vec::new()).unwrap();
    let mut file = whole[..40 + 80].to_vec();
    file[32..36].copy_from_slice(&80_u32.to_le_bytes());
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let tree = Tree(&verifier.verify(&reader.next_frame().unwrap().unwrap())).to_string();
    for part in [
        "\n    captured_len: 80\n    original_len: 174\n",
        "\nPayload, bytes 70 to 79: 10 of 100 bytes captured\n",
        "\nICRC: not captured, 4 bytes\n",
        "\nNot captured, bytes 80 to 173: 94 bytes",
    ] {
        assert!(tree.contains(part), "no {part} in {tree}");
    }
}
