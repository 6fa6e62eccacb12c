//! `mix.tr`: a line for each packet that a traced node receives, or loses.

use std::io::{self, Write};

use crate::output::{Arrival, Packet, Trace};
use crate::time::Arithmetic;

/// Bytes that are written at once.
const CHUNK: usize = 1 << 16;

/// Writes `mix.tr`.
#[derive(Debug)]
pub struct MixTrace<W> {
    to: W,
    arithmetic: Arithmetic,
    lines: Vec<u8>,
    /// Whether a reception has been written: from then on times have seven digits, before it six.
    has_received: bool,
    failure: Option<io::Error>,
}

impl<W: Write> MixTrace<W> {
    /// A trace that is written into `to`.
    pub fn new(to: W, arithmetic: Arithmetic) -> Self {
        let lines = Vec::with_capacity(CHUNK + 256);
        Self { to, arithmetic, lines, has_received: false, failure: None }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first one of all writes.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush();
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.to),
        }
    }

    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.to.write_all(&self.lines).err();
        }
        self.lines.clear();
    }

    /// Writes the rest of a line, from the addresses on.
    fn rest(&mut self, arrival: &Arrival) {
        let lines = &mut self.lines;
        let [source, destination] = arrival.addresses;
        push_link(lines, source);
        lines.push(b'>');
        push_link(lines, destination);
        lines.push(b' ');
        let numbers = |lines: &mut Vec<u8>, parts: [(&str, u64); 3]| {
            for (text, number) in parts {
                lines.extend_from_slice(text.as_bytes());
                push_number(lines, number);
            }
        };
        match arrival.packet {
            Packet::Data { port, seq, class } => {
                let parts = [("u ", port.into()), (" ", seq.into()), (" ", class.into())];
                numbers(lines, parts);
                lines.push(b' ');
            }
            Packet::Notification { marked, total } => {
                lines.extend_from_slice(b" qFb=");
                push_number(lines, marked.into());
                lines.push(b'/');
                push_number(lines, total);
            }
            Packet::Acknowledgement { class, seq } => {
                lines.extend_from_slice(b"qbb:pg=");
                push_number(lines, class.into());
                lines.extend_from_slice(b",seq=");
                push_number(lines, seq.into());
            }
            Packet::Pause { time, queue, class } => {
                let parts =
                    [("pause=", time.into()), ("us, qlen=", queue), (", qidx=", class.into())];
                numbers(lines, parts);
            }
        }
        lines.push(b'\n');
        if lines.len() > CHUNK {
            self.flush();
        }
    }
}

impl<W: Write> Trace for MixTrace<W> {
    fn received(&mut self, arrival: &Arrival) {
        self.has_received = true;
        push_seconds(&mut self.lines, arrival.time, 7, self.arithmetic);
        self.lines.extend_from_slice(b" /");
        push_number(&mut self.lines, arrival.node.into());
        self.lines.push(b' ');
        self.rest(arrival);
    }

    fn lost(&mut self, arrival: &Arrival) {
        let digits = if self.has_received { 7 } else { 6 };
        let lines = &mut self.lines;
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

/// Appends the second and third byte of an address.
fn push_link(lines: &mut Vec<u8>, address: u32) {
    let [_, high, low, _] = address.to_be_bytes();
    push_number(lines, high.into());
    lines.push(b'.');
    push_number(lines, low.into());
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
