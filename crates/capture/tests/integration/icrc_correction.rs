//! Captures whose ICRCs are made right.

use rocelab_capture::{CaptureReader, Format, IcrcCorrection, Recipe, Verifier};

/// Frames with faults: wrong ICRCs, of which one is around an FCS.
const DESCRIPTION: &str = "fcs = true\n\
    [[message]]\nverb = \"write\"\nbytes = 5000\nfaults = [\"icrc\"]\nfaulty = [1, 3]\n\
    [[message]]\nverb = \"acknowledge\"\nfaults = [\"icrc\", \"fcs\"]\n\
    [[message]]\nverb = \"pfc\"\n";

fn corrected(file: &[u8]) -> (IcrcCorrection, Vec<u8>) {
    let correction = IcrcCorrection::of(CaptureReader::new(file).unwrap()).unwrap();
    let mut output = Vec::new();
    correction.write(file, &mut output).unwrap();
    (correction, output)
}

/// Texts of the faults of all frames.
fn faults(file: &[u8]) -> Vec<String> {
    let mut reader = CaptureReader::new(file).unwrap();
    let mut verifier = Verifier::new();
    let mut all = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        all.extend(verifier.verify(&frame).faults.iter().map(ToString::to_string));
    }
    all
}

#[test]
fn icrcs_are_right_and_nothing_else_is_changed() {
    for format in [Format::Pcap, Format::PcapNg] {
        let recipe = Recipe::parse("frames.toml".as_ref(), DESCRIPTION).unwrap();
        let file = recipe.write(format, Vec::new()).unwrap();
        assert_eq!(faults(&file).iter().filter(|fault| fault.starts_with("icrc")).count(), 3);
        let (correction, output) = corrected(&file);
        assert_eq!((correction.frames, correction.corrected), (7, 3));
        let left = faults(&output);
        assert!(left.iter().all(|fault| !fault.starts_with("icrc")), "{left:?}");
        // The FCS of the first two was right, and is right again. That of the third one was wrong, and is left so.
        assert_eq!(left.iter().filter(|fault| fault.starts_with("fcs")).count(), 1, "{left:?}");
        let changed = file.iter().zip(&output).filter(|(one, other)| one != other).count();
        assert_eq!(file.len(), output.len());
        assert!((3..=20).contains(&changed), "{changed} bytes, of at most five CRCs");
        // A second time there is nothing to do.
        let (again, same) = corrected(&output);
        assert_eq!((again.corrected, same == output), (0, true));
    }
}

#[test]
fn a_capture_that_became_shorter_is_an_error() {
    let recipe = Recipe::parse("frames.toml".as_ref(), DESCRIPTION).unwrap();
    let file = recipe.write(Format::Pcap, Vec::new()).unwrap();
    let correction = IcrcCorrection::of(CaptureReader::new(&file[..]).unwrap()).unwrap();
    let shorter = &file[..1_000];
    assert!(correction.write(shorter, Vec::new()).is_err());
}
