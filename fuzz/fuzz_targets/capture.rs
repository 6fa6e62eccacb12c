//! Whatever the bytes: reading them as a capture, verifying it and showing its frames never panics, ends, and gives no
//! frame that is not in them. With corrected ICRCs it is as long, and has no more to correct.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_capture::{CaptureReader, Decoded, HexDump, IcrcCorrection, Tree, Verifier};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = CaptureReader::new(bytes) else { return };
    let mut verifier = Verifier::new();
    let mut frames = 0;
    let mut captured = 0;
    while let Some(frame) = reader.next_frame() {
        let Ok(frame) = frame else { break };
        frames += 1;
        captured += frame.bytes.len();
        assert_eq!(frame.number, frames);
        let verified = verifier.verify(&frame);
        if frames < 16 {
            assert!(serde_json::to_string(&verified).is_ok());
            assert!(serde_json::to_string(&Decoded(&verified)).is_ok());
            assert!(!Tree(&verified).to_string().is_empty());
            assert_eq!(HexDump(verified.bytes).to_string().is_empty(), verified.bytes.is_empty());
        }
    }
    assert!(captured <= bytes.len());
    assert_eq!(verifier.totals().frames, frames);
    assert!(serde_json::to_string(&verifier.summary()).is_ok());
    for connection in verifier.flows().connections() {
        assert!(serde_json::to_string(&connection).is_ok());
    }
    check_correction(bytes);
});

fn check_correction(bytes: &[u8]) {
    let correction = |bytes| IcrcCorrection::of(CaptureReader::new(bytes)?);
    let Ok(found) = correction(bytes) else { return };
    let mut output = Vec::new();
    assert!(found.write(bytes, &mut output).is_ok());
    assert_eq!(output.len(), bytes.len());
    assert_eq!(correction(&output).map(|left| left.corrected).unwrap_or(1), 0);
}
