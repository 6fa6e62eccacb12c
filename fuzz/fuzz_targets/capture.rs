//! Whatever the bytes: reading them as a capture and verifying it never panics, ends, and gives no
//! frame that is not in them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_capture::{CaptureReader, Decoded, Verifier};

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
        }
    }
    assert!(captured <= bytes.len());
    assert_eq!(verifier.totals().frames, frames);
    assert!(serde_json::to_string(&verifier.summary()).is_ok());
    for connection in verifier.flows().connections() {
        assert!(serde_json::to_string(&connection).is_ok());
    }
});
