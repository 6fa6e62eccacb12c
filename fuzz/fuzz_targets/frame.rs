//! Whatever the bytes: parsing a frame never panics, and what parses comes back byte for byte.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_wire::{Frame, ParseError};

fuzz_target!(|bytes: &[u8]| {
    check(bytes, Frame::parse(bytes));
    check(bytes, Frame::parse_with_fcs(bytes));
});

fn check(bytes: &[u8], parsed: Result<Frame<'_>, ParseError>) {
    match parsed {
        Ok(frame) => {
            let mut emitted = vec![0; bytes.len()];
            assert_eq!(frame.emit(&mut emitted), Ok(bytes.len()));
            assert_eq!(emitted, bytes);
            let _ = (frame.icrc_ok(), frame.fcs_ok(), frame.to_string());
        }
        Err(error) => assert!(error.offset() <= bytes.len()),
    }
}
