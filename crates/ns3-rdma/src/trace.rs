//! `mix.tr`: a line for each packet that a traced node receives, or loses.

use std::io::{self, Write};

use crate::chunks::Chunks;
use crate::output::{Arrival, Packet, Trace};
use crate::time::Arithmetic;

/// Writes `mix.tr`.
#[derive(Debug)]
pub struct MixTrace<W> {
    lines: Chunks<W>,
    arithmetic: Arithmetic,
    /// The times (ns) from the first to before the second that are written as this text.
    last_time: (u64, u64, Vec<u8>),
    /// Whether a reception has been written: from then on times have seven digits, before it six.
    has_received: bool,
}

impl<W: Write> MixTrace<W> {
    /// A trace that is written into `to`.
    pub fn new(to: W, arithmetic: Arithmetic) -> Self {
        let last_time = (0, 0, Vec::with_capacity(24));
        Self { lines: Chunks::new(to), arithmetic, last_time, has_received: false }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first one of all writes.
    pub fn finish(self) -> io::Result<W> {
        self.lines.finish()
    }

    /// Writes the time of a reception. Most are written as the one before is.
    fn time(&mut self, time: u64) {
        // From 1 s to 10 s the last of seven digits is a microsecond.
        const SECOND: u64 = 1_000_000_000;
        const MICROSECOND: u64 = 1_000;
        let (from, to, text) = &mut self.last_time;
        if time < *from || time >= *to {
            text.clear();
            push_seconds(text, time, 7, self.arithmetic);
            // A time that is just between two microseconds is written by itself.
            let middle = (time + MICROSECOND / 2) / MICROSECOND * MICROSECOND;
            let is_plain = (SECOND..10 * SECOND - MICROSECOND).contains(&time);
            let is_between = time % MICROSECOND == MICROSECOND / 2;
            (*from, *to) = if is_plain && !is_between {
                ((middle - MICROSECOND / 2 + 1).max(SECOND), middle + MICROSECOND / 2)
            } else {
                (0, 0)
            };
        }
        self.lines.text.extend_from_slice(text);
    }

    /// Writes the rest of a line, from the addresses on.
    fn rest(&mut self, arrival: &Arrival) {
        let mut line = Short::default();
        let [source, destination] = arrival.addresses;
        line.link(source);
        line.byte(b'>');
        line.link(destination);
        line.byte(b' ');
        match arrival.packet {
            Packet::Data { port, seq, class } => {
                line.text(b"u ");
                line.number(port.into());
                line.byte(b' ');
                line.number(seq.into());
                line.byte(b' ');
                line.number(class.into());
                line.byte(b' ');
            }
            Packet::Notification { marked, total } => {
                line.text(b" qFb=");
                line.number(marked.into());
                line.byte(b'/');
                line.number(total);
            }
            Packet::Acknowledgement { class, seq } => {
                line.text(b"qbb:pg=");
                line.number(class.into());
                line.text(b",seq=");
                line.number(seq.into());
            }
            Packet::Pause { time, queue, class } => {
                line.text(b"pause=");
                line.number(time.into());
                line.text(b"us, qlen=");
                line.number(queue);
                line.text(b", qidx=");
                line.number(class.into());
            }
        }
        line.byte(b'\n');
        self.lines.text.extend_from_slice(line.bytes());
        self.lines.end_line();
    }
}

/// A part of a line while it is made, at most 128 bytes: it costs no look at whether there is memory.
#[derive(Debug)]
struct Short {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl Default for Short {
    fn default() -> Self {
        Self { bytes: [0; Self::MOST], length: 0 }
    }
}

impl Short {
    const MOST: usize = 128;

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    #[inline(always)]
    fn text<const N: usize>(&mut self, text: &[u8; N]) {
        if let Some(place) = self.bytes.get_mut(self.length..self.length + N) {
            place.copy_from_slice(text);
            self.length += N;
        }
    }

    /// Appends a whole number.
    #[inline(always)]
    fn number(&mut self, number: u64) {
        match u32::try_from(number) {
            Ok(number) => self.short_number(number),
            Err(_) => {
                let mut text = Vec::new();
                push_number(&mut text, number);
                text.into_iter().for_each(|byte| self.byte(byte));
            }
        }
    }

    #[inline]
    fn short_number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = digit(number % 10);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        digits[first..].iter().for_each(|&digit| self.byte(digit));
    }

    /// Appends the second and third byte of an address.
    #[inline]
    fn link(&mut self, address: u32) {
        let [_, high, low, _] = address.to_be_bytes();
        self.short_number(high.into());
        self.byte(b'.');
        self.short_number(low.into());
    }
}

/// The character of a digit.
#[inline]
const fn digit(value: u32) -> u8 {
    b"0123456789"[value as usize]
}

impl<W: Write> Trace for MixTrace<W> {
    fn received(&mut self, arrival: &Arrival) {
        self.has_received = true;
        self.time(arrival.time);
        let mut line = Short::default();
        line.text(b" /");
        line.short_number(arrival.node);
        line.byte(b' ');
        self.lines.text.extend_from_slice(line.bytes());
        self.rest(arrival);
    }

    fn lost(&mut self, arrival: &Arrival) {
        let digits = if self.has_received { 7 } else { 6 };
        let lines = &mut self.lines.text;
        lines.extend_from_slice(b"d ");
        push_seconds(lines, arrival.time, digits, self.arithmetic);
        lines.extend_from_slice(b" /NodeList/");
        push_number(lines, arrival.node.into());
        lines.extend_from_slice(b"/DeviceList/");
        push_number(lines, arrival.interface.into());
        lines.extend_from_slice(
            b"/$ns3::QbbNetDevice/PhyRxDrop Point-to-Point Protocol: IP (0x0021) ",
        );
        self.rest(arrival);
    }
}

/// Appends a whole number.
fn push_number(lines: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    lines.extend_from_slice(&digits[first..]);
}

/// Appends a time (ns) in seconds with so many significant digits, as C's `%g` does.
fn push_seconds(lines: &mut Vec<u8>, time: u64, digits: u32, arithmetic: Arithmetic) {
    const SECOND: u64 = 1_000_000_000;
    // The number of digits before the point, and of the nanoseconds of the last digit shown.
    let whole = (time / SECOND).checked_ilog10().map(|most| most + 1);
    if let Some(whole) = whole.filter(|&whole| whole < digits) {
        let unit = 10u64.pow(9 + whole - digits);
        let rest = time % unit;
        let rounded = time / unit + u64::from(rest > unit / 2);
        let per_second = SECOND / unit;
        // What is just between two numbers depends on the double's last bit.
        if rest * 2 != unit && (rounded / per_second).checked_ilog10() == Some(whole - 1) {
            push_number(lines, rounded / per_second);
            push_fraction(lines, rounded % per_second, per_second);
            return;
        }
    }
    push_general(lines, arithmetic.seconds(time), digits as usize);
}

/// Appends a point and a fraction, in units of which `whole` are 1, without zeros at its end.
fn push_fraction(lines: &mut Vec<u8>, fraction: u64, whole: u64) {
    if fraction == 0 {
        return;
    }
    lines.push(b'.');
    let (mut rest, mut unit) = (fraction, whole);
    while rest > 0 {
        unit /= 10;
        lines.push(b'0' + u8::try_from(rest / unit).unwrap_or(0));
        rest %= unit;
    }
}

/// Appends a number that is not negative as C's `%.{digits}g` does.
pub(crate) fn push_general(lines: &mut Vec<u8>, value: f64, digits: usize) {
    if value == 0.0 {
        lines.push(b'0');
        return;
    }
    let text = format!("{value:.*e}", digits - 1);
    let (significand, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let significand = significand.replace('.', "");
    let significand = significand.trim_end_matches('0');
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    let pushes = |lines: &mut Vec<u8>, before: &str, behind: &str| {
        lines.extend_from_slice(before.as_bytes());
        if !behind.is_empty() {
            lines.push(b'.');
            lines.extend_from_slice(behind.as_bytes());
        }
    };
    if exponent < -4 || exponent >= most {
        pushes(lines, &significand[..1], &significand[1..]);
        let sign = if exponent < 0 { '-' } else { '+' };
        lines.extend_from_slice(format!("e{sign}{:02}", exponent.unsigned_abs()).as_bytes());
    } else if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        pushes(lines, "0", &format!("{zeros}{significand}"));
    } else {
        let point = exponent.unsigned_abs() as usize + 1;
        let padded = format!("{significand:0<point$}");
        pushes(lines, &padded[..point], &padded[point..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(value: f64, digits: usize) -> String {
        let mut text = Vec::new();
        push_general(&mut text, value, digits);
        String::from_utf8(text).unwrap()
    }

    fn seconds(time: u64, digits: u32) -> String {
        let mut text = Vec::new();
        push_seconds(&mut text, time, digits, Arithmetic::Linux);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_written_as_c_does() {
        assert_eq!(general(0.5, 17), "0.5");
        assert_eq!(general(0.1, 17), "0.10000000000000001");
        assert_eq!(general(123_456_789.0, 7), "1.234568e+08");
        assert_eq!(general(0.000_012_5, 7), "1.25e-05");
        assert_eq!(general(0.000_125, 7), "0.000125");
        assert_eq!(general(100.0, 7), "100");
        assert_eq!(general(0.0, 7), "0");
        // Just between two, the even one.
        assert_eq!(general(2.007_812_5, 7), "2.007812");
        assert_eq!(general(1.023_437_5, 7), "1.023438");
    }

    #[test]
    fn times_are_rounded_to_seven_digits() {
        assert_eq!(seconds(2_000_002_406, 7), "2.000002");
        assert_eq!(seconds(2_000_002_609, 7), "2.000003");
        assert_eq!(seconds(2_000_000_000, 7), "2");
        assert_eq!(seconds(2_000_010_000, 7), "2.00001");
        assert_eq!(seconds(2_000_010_000, 6), "2.00001");
        assert_eq!(seconds(9_999_999_600, 7), "10");
        assert_eq!(seconds(12_345_678_912, 7), "12.34568");
        assert_eq!(seconds(45, 7), "4.5e-08");
        assert_eq!(seconds(500_000_000, 7), "0.5");
        assert_eq!(seconds(2_007_812_500, 7), "2.007812");
    }

    /// Every way to write a time gives what the slow one does.
    #[test]
    fn fast_and_slow_agree() {
        let mut time = 17;
        while time < 40_000_000_000_000 {
            for digits in [6, 7] {
                let slow = general(Arithmetic::Linux.seconds(time), digits as usize);
                assert_eq!(seconds(time, digits), slow, "{time}");
            }
            time = time * 1_009 / 1_000 + 123;
        }
    }

    #[test]
    fn times_that_are_written_alike_are_written_once() {
        let mut time = 999_990_000;
        let mut trace = MixTrace::new(Vec::new(), Arithmetic::Linux);
        while time < 1_000_020_000 {
            trace.lines.text.clear();
            trace.time(time);
            assert_eq!(String::from_utf8_lossy(&trace.lines.text), seconds(time, 7), "{time}");
            time += 1 + time % 7 * 13;
        }
        for time in [9_999_998_900, 9_999_999_499, 9_999_999_500, 10_000_000_400, 2_007_812_500] {
            trace.lines.text.clear();
            trace.time(time);
            assert_eq!(String::from_utf8_lossy(&trace.lines.text), seconds(time, 7), "{time}");
        }
    }

    #[test]
    fn each_kind_of_packet_has_a_line() {
        let mut trace = MixTrace::new(Vec::new(), Arithmetic::Linux);
        let arrival = |packet| Arrival {
            time: 2_000_002_406,
            node: 1,
            interface: 2,
            addresses: [0x0a01_0202, 0x0a01_0102],
            packet,
        };
        trace.lost(&arrival(Packet::Data { port: 5, seq: 1, class: 3 }));
        trace.received(&arrival(Packet::Data { port: 27_933, seq: 0, class: 3 }));
        trace.received(&arrival(Packet::Notification { marked: 4, total: 9 }));
        trace.received(&arrival(Packet::Acknowledgement { class: 3, seq: 257 }));
        let pause = Packet::Pause { time: 5, queue: 77, class: 3 };
        trace.lost(&Arrival { addresses: [0x0a01_0101, u32::MAX], ..arrival(pause) });
        let text = String::from_utf8(trace.finish().unwrap()).unwrap();
        let lost = "/NodeList/1/DeviceList/2/$ns3::QbbNetDevice/PhyRxDrop Point-to-Point Protocol: \
                    IP (0x0021)";
        let expected = format!(
            "d 2 {lost} 1.2>1.1 u 5 1 3 \n\
             2.000002 /1 1.2>1.1 u 27933 0 3 \n\
             2.000002 /1 1.2>1.1  qFb=4/9\n\
             2.000002 /1 1.2>1.1 qbb:pg=3,seq=257\n\
             d 2.000002 {lost} 1.1>255.255 pause=5us, qlen=77, qidx=3\n"
        );
        assert_eq!(text, expected);
    }
}
