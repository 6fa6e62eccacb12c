//! Powers, rounded correctly.

/// `base` to the power of `exponent`: the double nearest to the exact power, but for one case in
/// 2^40 or so.
///
/// The same bits everywhere, and those of a C library whose `pow` rounds correctly. `libm::pow`
/// may be off by one place, which changes rates; so the power is multiplied out in pairs of
/// doubles (Dekker, "A floating-point technique for extending the available precision", 1971).
/// Finite and above 0 for a `base` from 1 on as long as the result fits, else infinite.
pub(super) fn power(base: f64, exponent: u16) -> f64 {
    let mut result = Pair { high: 1.0, low: 0.0 };
    let mut square = Pair { high: base, low: 0.0 };
    let mut rest = exponent;
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.times(square);
        }
        rest >>= 1;
        if rest > 0 {
            square = square.times(square);
        }
    }
    if result.high.is_finite() { result.high } else { f64::INFINITY }
}

/// The exact sum of two doubles, the second less than half a place of the first.
#[derive(Clone, Copy, Debug)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// The product, to about 100 bits.
    fn times(self, other: Self) -> Self {
        let high = self.high * other.high;
        let rest = rest_of_product(self.high, other.high, high)
            + (self.high * other.low + self.low * other.high);
        let sum = high + rest;
        Self { high: sum, low: rest - (sum - high) }
    }
}

/// What `product`, which is `a * b` rounded, lacks to the exact product.
fn rest_of_product(a: f64, b: f64, product: f64) -> f64 {
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}

/// Two doubles of 26 bits whose sum is `value`.
fn halves(value: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0;
    let scaled = SPLITTER * value;
    let high = scaled - (scaled - value);
    (high, value - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_rounded_correctly() {
        // Exact rational powers of the doubles, rounded once, by Python's fractions. `libm::pow`
        // misses the 10th and the 18th of 1.05.
        for (base, exponent, bits) in [
            (1.05, 0, 0x3ff0_0000_0000_0000_u64),
            (1.05, 1, 0x3ff0_cccc_cccc_cccd_u64),
            (1.05, 2, 0x3ff1_a3d7_0a3d_70a4_u64),
            (1.05, 10, 0x3ffa_0ff3_cfea_3a53_u64),
            (1.05, 18, 0x4003_40c1_95b5_05b9_u64),
            (1.05, 128, 0x4080_1c03_eac4_7c4a_u64),
            (1.05, 255, 0x410e_e4fe_a4a9_ef91_u64),
            (1.01, 11, 0x3ff1_d9c7_0d61_c241_u64),
            (1.01, 346, 0x403f_465d_02a3_73c5_u64),
            (1.01, 1253, 0x410f_b789_fae1_2ca0_u64),
            (1.1, 284, 0x4260_9363_3925_b9f2_u64),
            (2.0, 1023, 0x7fe0_0000_0000_0000_u64),
        ] {
            let got = power(base, exponent);
            assert_eq!(got.to_bits(), bits, "{base} ^ {exponent} = {got}");
        }
    }

    #[test]
    fn what_does_not_fit_is_infinite() {
        assert_eq!(power(1.05, u16::MAX), f64::INFINITY);
        assert_eq!(power(2.0, 1024), f64::INFINITY);
    }
}
