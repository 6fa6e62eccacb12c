//! The tests of every header.

/// Tests: literal bytes to value, value to literal bytes, every length that is too short, text on
/// one line, and that any bytes that can be parsed are emitted unchanged.
macro_rules! header_tests {
    ($header:ty, bytes: $bytes:expr, value: $value:expr, display: $display:expr $(,)?) => {
        header_tests! {
            $header, bytes: $bytes, value: $value, display: $display,
            arbitrary: |bytes: [u8; <$header>::LEN]| bytes,
        }
    };
    (
        $header:ty, bytes: $bytes:expr, value: $value:expr, display: $display:expr,
        arbitrary: $legal:expr $(,)?
    ) => {
        #[test]
        fn deconstruct() {
            assert_eq!(<$header>::parse(&$bytes), Ok($value));
        }

        #[test]
        fn construct() {
            assert_eq!($value.to_bytes(), $bytes);
        }

        #[test]
        fn impossible_length() {
            for had in 0..<$header>::LEN {
                let error = <$header>::parse(&$bytes[..had]).expect_err("too short");
                let expected = $crate::ParseError::Truncated {
                    layer: error.layer(),
                    needed: <$header>::LEN,
                    had,
                    offset: 0,
                };
                assert_eq!(error, expected);
            }
        }

        #[test]
        fn display() {
            assert_eq!($value.to_string(), $display);
        }

        proptest::proptest! {
            #[test]
            fn any_bytes_come_back(bytes in proptest::prelude::any::<[u8; <$header>::LEN]>()) {
                let legal: fn([u8; <$header>::LEN]) -> [u8; <$header>::LEN] = $legal;
                let bytes = legal(bytes);
                proptest::prop_assert_eq!(<$header>::parse(&bytes).unwrap().to_bytes(), bytes);
            }
        }
    };
}

pub(crate) use header_tests;
