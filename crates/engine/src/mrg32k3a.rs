//! The random numbers of simulators that descend from ns-3: L'Ecuyer's combined generator MRG32k3a
//! (1999), cut into streams that start 2^127 steps apart, which are cut into substreams that start
//! 2^76 steps apart.
//!
//! Such a simulator makes all its generators from one seed, six times the same number, and uses
//! substream 1 of whatever stream it assigns. HPCC's ns-3 simulator has the seed 1.

/// A seed that the generator cannot have: zero, or not below its smaller modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSeed;

/// The seed of all streams of a run: six times this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// The seed of a simulator that nobody has given one.
    pub const ONE: Self = Self(1);
    /// The largest seed.
    pub const MOST: u32 = 4_294_944_442;

    /// The seed `number`.
    ///
    /// # Errors
    /// If the number is zero, or above [`Seed::MOST`].
    pub const fn new(number: u32) -> Result<Self, InvalidSeed> {
        if number == 0 || number > Self::MOST {
            return Err(InvalidSeed);
        }
        Ok(Self(number as u64))
    }
}

/// The number of the stream that lossy links draw from, each from the start.
pub const LOSS_STREAM: u64 = (1 << 63) + 50;

/// A new stream for every draw, as HPCC's ns-3 simulator marks packets.
#[derive(Clone, Debug)]
pub struct AutoStreams {
    /// The start of substream 1 of the stream that is next.
    next: Generator,
}

impl AutoStreams {
    /// The streams of `seed` from number `first` on.
    pub const fn new(seed: Seed, first: u64) -> Self {
        Self { next: Generator::at_stream(seed, first) }
    }

    /// The first number of the next stream, above 0 and below 1.
    #[inline]
    pub fn next_uniform(&mut self) -> f64 {
        let draw = self.next.clone().next_uniform();
        self.skip();
        draw
    }

    /// Leaves the next stream to somebody who does not draw.
    #[inline]
    pub fn skip(&mut self) {
        self.next = self.next.jump(&STREAM);
    }
}

/// One stream, from its start.
#[derive(Clone, Debug)]
pub struct Stream(Generator);

impl Stream {
    /// Stream `number` of `seed`.
    pub const fn new(seed: Seed, number: u64) -> Self {
        Self(Generator::at_stream(seed, number))
    }

    /// The next number, above 0 and below 1.
    #[inline]
    pub fn next_uniform(&mut self) -> f64 {
        self.0.next_uniform()
    }
}

/// A modulus 2^32 - C.
#[derive(Clone, Copy, Debug)]
struct Modulus<const C: u64>;

/// That of the first component.
const ONE: Modulus<209> = Modulus;
/// That of the second component.
const OTHER: Modulus<22_853> = Modulus;

impl<const C: u64> Modulus<C> {
    const VALUE: u64 = (1 << 32) - C;

    /// A sum of three products, modulo this; all factors are below 2^32.
    #[inline]
    const fn sum_of_products(self, a: [u64; 3], b: [u64; 3]) -> u64 {
        let sum = Self::folded(a[0] * b[0]) + Self::folded(a[1] * b[1]) + Self::folded(a[2] * b[2]);
        sum % Self::VALUE
    }

    /// A state times a number below 2^32: the recurrence is linear.
    const fn scaled(self, state: State, by: u64) -> State {
        let [a, b, c] = state;
        [a * by % Self::VALUE, b * by % Self::VALUE, c * by % Self::VALUE]
    }

    /// A smaller number with the same remainder: 2^32 is C more than the modulus.
    #[inline]
    const fn folded(product: u64) -> u64 {
        (product >> 32) * C + (product & 0xffff_ffff)
    }
}

/// The last three values of a component, the oldest first.
type State = [u64; 3];

/// A jump of one component: what it multiplies the state by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matrix([State; 3]);

impl Matrix {
    const IDENTITY: Self = Self([[1, 0, 0], [0, 1, 0], [0, 0, 1]]);

    #[inline]
    const fn times<const C: u64>(&self, state: State, modulus: Modulus<C>) -> State {
        let Self([a, b, c]) = *self;
        [
            modulus.sum_of_products(a, state),
            modulus.sum_of_products(b, state),
            modulus.sum_of_products(c, state),
        ]
    }

    const fn squared<const C: u64>(self, modulus: Modulus<C>) -> Self {
        self.after(self, modulus)
    }

    /// The jump that takes `before` first.
    const fn after<const C: u64>(self, before: Self, modulus: Modulus<C>) -> Self {
        let Self([a, b, c]) = before;
        let x = self.times([a[0], b[0], c[0]], modulus);
        let y = self.times([a[1], b[1], c[1]], modulus);
        let z = self.times([a[2], b[2], c[2]], modulus);
        Self([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]])
    }
}

/// A jump taken `exponent` times.
const fn power<const C: u64>(mut jump: Matrix, mut exponent: u64, modulus: Modulus<C>) -> Matrix {
    let mut product = Matrix::IDENTITY;
    while exponent > 0 {
        if exponent & 1 != 0 {
            product = product.after(jump, modulus);
        }
        jump = jump.squared(modulus);
        exponent >>= 1;
    }
    product
}

/// A jump of both components.
#[derive(Clone, Copy, Debug)]
struct Jump {
    first: Matrix,
    second: Matrix,
}

/// From one stream to the next: 2^127 steps.
const STREAM: Jump = Jump {
    first: Matrix([
        [2_427_906_178, 3_580_155_704, 949_770_784],
        [226_153_695, 1_230_515_664, 3_580_155_704],
        [1_988_835_001, 986_791_581, 1_230_515_664],
    ]),
    second: Matrix([
        [1_464_411_153, 277_697_599, 1_610_723_613],
        [32_183_930, 1_464_411_153, 1_022_607_788],
        [2_824_425_944, 32_183_930, 2_093_834_863],
    ]),
};

/// The start of substream 1 of stream 0: 2^76 steps from the seed of six ones.
const SUBSTREAM_1: Generator = Generator {
    first: [1_786_595_909, 1_318_450_546, 2_975_062_582],
    second: [2_586_387_715, 1_104_109_601, 3_270_994_274],
};

/// MRG32k3a.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Generator {
    first: State,
    second: State,
}

impl Generator {
    /// The start of substream 1 of stream `number` of `seed`. Both components jump by matrices, and
    /// powers of one matrix may be taken in any order.
    const fn at_stream(seed: Seed, number: u64) -> Self {
        let Self { first, second } = SUBSTREAM_1;
        Self {
            first: ONE.scaled(power(STREAM.first, number, ONE).times(first, ONE), seed.0),
            second: OTHER.scaled(power(STREAM.second, number, OTHER).times(second, OTHER), seed.0),
        }
    }

    #[inline]
    const fn jump(&self, jump: &Jump) -> Self {
        Self {
            first: jump.first.times(self.first, ONE),
            second: jump.second.times(self.second, OTHER),
        }
    }

    /// One step, and its number.
    #[inline]
    fn next_uniform(&mut self) -> f64 {
        const MODULUS: u64 = Modulus::<209>::VALUE;
        /// 1 / (m1 + 1).
        const SCALE: f64 = 1.0 / (MODULUS + 1) as f64;
        let (a, b) = self.step();
        let difference = if a > b { a - b } else { a + MODULUS - b };
        difference as f64 * SCALE
    }

    /// Both components' next values.
    #[inline]
    const fn step(&mut self) -> (u64, u64) {
        // Coefficients of the oldest, the middle and the latest value. The negative ones, of the
        // oldest, stand as what they lack of the modulus.
        const FIRST: State = [Modulus::<209>::VALUE - 810_728, 1_403_580, 0];
        const SECOND: State = [Modulus::<22_853>::VALUE - 1_370_589, 0, 527_612];
        let a = ONE.sum_of_products(FIRST, self.first);
        let b = OTHER.sum_of_products(SECOND, self.second);
        self.first = [self.first[1], self.first[2], a];
        self.second = [self.second[1], self.second[2], b];
        (a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(stream: u64) -> f64 {
        AutoStreams::new(Seed::ONE, stream).next_uniform()
    }

    #[test]
    fn streams_begin_as_in_the_reference() {
        assert_eq!(draw(26), 0.698_337_424_372_831_5);
        assert_eq!(draw(27), 0.910_617_889_698_716_3);
        assert_eq!(draw(28), 0.313_379_562_036_820_94);
        assert_eq!(draw(112), 0.108_951_592_040_697_86);
        assert_eq!(draw(230), 0.464_085_444_000_031);
        assert_eq!(draw(2258), 0.350_151_305_746_164_1);
    }

    #[test]
    fn every_draw_and_every_skip_takes_a_stream() {
        let mut streams = AutoStreams::new(Seed::ONE, 26);
        assert_eq!(streams.next_uniform(), draw(26));
        streams.skip();
        assert_eq!(streams.next_uniform(), draw(28));
        for _ in 29..230 {
            streams.skip();
        }
        assert_eq!(streams.next_uniform(), draw(230));
    }

    /// Jumps are powers of one step, whose matrix follows from the recurrence.
    #[test]
    fn jumps_are_so_many_steps() {
        let (m1, m2) = (Modulus::<209>::VALUE, Modulus::<22_853>::VALUE);
        let first = Matrix([[0, 1, 0], [0, 0, 1], [m1 - 810_728, 1_403_580, 0]]);
        let second = Matrix([[0, 1, 0], [0, 0, 1], [m2 - 1_370_589, 0, 527_612]]);
        let doublings = |count, one: Matrix, other: Matrix| {
            (0..count).fold((one, other), |(a, b), _| (a.squared(ONE), b.squared(OTHER)))
        };
        let (a, b) = doublings(127, first, second);
        assert_eq!((a, b), (STREAM.first, STREAM.second));
        let (a, b) = doublings(76, first, second);
        let seed = Generator { first: [1; 3], second: [1; 3] };
        assert_eq!(seed.jump(&Jump { first: a, second: b }), SUBSTREAM_1);
        let mut stepped = seed.clone();
        stepped.step();
        assert_eq!(seed.jump(&Jump { first, second }), stepped);
    }

    #[test]
    fn links_lose_as_in_the_reference() {
        let mut stream = Stream::new(Seed::ONE, LOSS_STREAM);
        let expected =
            [0.460_392_457_377_545_36, 0.056_660_465_380_497_47, 0.094_335_827_189_928_88];
        assert_eq!([0; 3].map(|_| stream.next_uniform()), expected);
        let lost = |probability: f64, count| {
            let mut stream = Stream::new(Seed::ONE, LOSS_STREAM);
            let draws = (0..11_000u32).map(|draw| (draw, stream.next_uniform()));
            let lost = draws.filter(|&(_, uniform)| uniform < probability).map(|(draw, _)| draw);
            lost.take(count).collect::<Vec<_>>()
        };
        let thousandth = [1_460, 2_955, 4_085, 5_168, 6_402, 7_688, 9_430, 10_424];
        assert_eq!(lost(0.001, 8), thousandth);
        assert_eq!(lost(0.004, 9), [1_136, 1_244, 1_346, 1_422, 1_436, 1_460, 1_625, 1_749, 2_236]);
    }

    #[test]
    fn the_stream_of_losses_begins_as_in_the_reference() {
        let start = Generator {
            first: [3_279_226_084, 1_647_008_504, 4_192_081_390],
            second: [2_021_140_269, 4_060_494_385, 1_283_720_922],
        };
        assert_eq!(Stream::new(Seed::ONE, LOSS_STREAM).0, start);
    }

    #[test]
    fn a_seed_is_six_times_a_number() {
        let seed = Seed::new(7).unwrap();
        let stepped = |state: &Generator| {
            let mut state = state.clone();
            (0..5).map(|_| state.next_uniform()).collect::<Vec<_>>()
        };
        let scaled = |state: State, modulus: u64| state.map(|value| value * 7 % modulus);
        let start = Generator {
            first: scaled(SUBSTREAM_1.first, Modulus::<209>::VALUE),
            second: scaled(SUBSTREAM_1.second, Modulus::<22_853>::VALUE),
        };
        assert_eq!(stepped(&Stream::new(seed, 0).0), stepped(&start));
        assert_eq!(Seed::new(0), Err(InvalidSeed));
        assert_eq!(Seed::new(Seed::MOST + 1), Err(InvalidSeed));
    }
}
