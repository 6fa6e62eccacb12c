//! The table of nccl-tests.
//!
//! Bandwidths are in GB/s of 10^9 bytes. The bus bandwidth is the algorithm's with the factor of the collective.

use std::fmt;
use std::path::Path;

use crate::scan::{Word, words};
use crate::{CollectiveKind, TraceError};

/// A table, with what is before and behind its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The first line, a comment: what was measured.
    pub title: String,
    /// The rows.
    pub rows: Vec<Row>,
    /// The mean of all bus bandwidths (GB/s).
    pub average_busbw: f64,
}

/// One size.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The size in the meaning of nccl-tests (bytes).
    pub bytes: u64,
    /// The number of elements.
    pub count: u64,
    /// The type of elements, such as `float`.
    pub element: String,
    /// The operation of a reduction, such as `sum`, or `none`.
    pub reduction: String,
    /// The root, or -1.
    pub root: i64,
    /// Measured with different buffers.
    pub out_of_place: Measured,
    /// Measured with one buffer.
    pub in_place: Measured,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The mean time of an iteration (µs).
    pub time_us: f64,
    /// Bytes by time (GB/s).
    pub algbw: f64,
    /// The same with the factor of the collective (GB/s).
    pub busbw: f64,
    /// Wrong elements; `None` if nothing was checked.
    pub wrong: Option<u64>,
}

impl Measured {
    /// Of a collective of `bytes` among `ranks` that took `time_us` (µs, above 0). Nothing was checked.
    pub fn new(kind: CollectiveKind, ranks: u64, bytes: u64, time_us: f64) -> Self {
        let algbw = bytes as f64 / time_us / 1e3;
        let (numerator, denominator) = kind.bus_factor(ranks);
        let busbw = algbw * numerator as f64 / denominator as f64;
        Self { time_us, algbw, busbw, wrong: None }
    }
}

impl Table {
    /// A table of rows; `title` is one line.
    pub fn new(title: impl Into<String>, rows: Vec<Row>) -> Self {
        let both = rows.iter().flat_map(|row| [row.out_of_place.busbw, row.in_place.busbw]);
        let sum: f64 = both.sum();
        let average_busbw = if rows.is_empty() { 0.0 } else { sum / (2 * rows.len()) as f64 };
        Self { title: title.into(), rows, average_busbw }
    }

    /// Elements that were wrong in all rows.
    fn wrong(&self) -> u64 {
        let both = self.rows.iter().flat_map(|row| [row.out_of_place.wrong, row.in_place.wrong]);
        both.flatten().fold(0, u64::saturating_add)
    }
}

/// What is above the columns.
const HEADER: &str = "\
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
";

/// What is before the mean of the bus bandwidths.
const AVERAGE: &str = "# Avg bus bandwidth    :";

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.title)?;
        f.write_str(HEADER)?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        let wrong = self.wrong();
        let verdict = if wrong == 0 { "OK" } else { "FAILED" };
        writeln!(f, "# Out of bounds values : {wrong} {verdict}")?;
        writeln!(f, "{AVERAGE} {} ", General(self.average_busbw))?;
        writeln!(f, "#")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, count, element, reduction, root, .. } = self;
        write!(f, "{bytes:>12}  {count:>12}  {element:>8}  {reduction:>6}  {root:>6}")?;
        [self.out_of_place, self.in_place].iter().try_for_each(|measured| measured.fmt(f))
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time_us, algbw, busbw, wrong } = *self;
        write!(f, "  {:>7}  {:>6}  {:>6}", narrow(time_us, 7), narrow(algbw, 6), narrow(busbw, 6))?;
        match wrong {
            Some(wrong) => write!(f, "  {wrong:>6}"),
            None => write!(f, "  {:>6}", "N/A"),
        }
    }
}

/// A number with two decimals, or fewer where it would be wider than `width`.
fn narrow(value: f64, width: usize) -> String {
    let texts = [2, 1, 0].map(|decimals| format!("{value:.decimals$}"));
    let [.., widest] = &texts;
    let widest = widest.clone();
    texts.into_iter().find(|text| text.len() <= width).unwrap_or(widest)
}

/// A number as C's `%g` prints it: 6 significant digits without zeros at the end.
struct General(f64);

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scientific = format!("{:.5e}", self.0);
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let trim = |text: &str| match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text.to_owned(),
        };
        if !self.0.is_finite() {
            return write!(f, "{}", self.0);
        }
        if !(-4..6).contains(&exponent) {
            let sign = if exponent < 0 { '-' } else { '+' };
            return write!(f, "{}e{sign}{:02}", trim(digits), exponent.abs());
        }
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        f.write_str(&trim(&format!("{:.decimals$}", self.0)))
    }
}

/// Reads a table; errors name `path`. Lines that begin with `#` are comments, but for the mean of the bus bandwidths.
///
/// # Errors If a row does not have the 13 columns, or a column is no such value.
pub fn parse(text: &str, path: &Path) -> Result<Table, TraceError> {
    let mut table = Table { title: String::new(), rows: Vec::new(), average_busbw: 0.0 };
    for (line, text) in (1..).zip(text.lines()) {
        if let Some(average) = text.strip_prefix(AVERAGE) {
            let word = words(average, line).next();
            let missing = || TraceError::new(path, "the mean is missing", "write it").at(line, 1);
            table.average_busbw = word.ok_or_else(missing)?.number(path, "a bandwidth (GB/s)")?;
        } else if let Some(comment) = text.strip_prefix('#') {
            if line == 1 {
                comment.trim().clone_into(&mut table.title);
            }
        } else if !text.trim().is_empty() {
            table.rows.push(row(text, line, path)?);
        }
    }
    Ok(table)
}

fn row(text: &str, line: usize, path: &Path) -> Result<Row, TraceError> {
    let all: Vec<_> = words(text, line).collect();
    let found = all.len();
    let all: [Word<'_>; 13] = all.try_into().map_err(|_| {
        let help = "write size, count, type, redop, root, and twice time, algbw, busbw, #wrong";
        TraceError::new(path, format!("the row has {found} columns, and not 13"), help).at(line, 1)
    })?;
    let measured = |first: usize| -> Result<Measured, TraceError> {
        let wrong = all[first + 3];
        Ok(Measured {
            time_us: all[first].number(path, "a time (us)")?,
            algbw: all[first + 1].number(path, "a bandwidth (GB/s)")?,
            busbw: all[first + 2].number(path, "a bandwidth (GB/s)")?,
            wrong: match wrong.text {
                "N/A" => None,
                _ => Some(wrong.number(path, "a number of wrong elements, or N/A")?),
            },
        })
    };
    Ok(Row {
        bytes: all[0].number(path, "a size (B)")?,
        count: all[1].number(path, "a number of elements")?,
        element: all[2].text.to_owned(),
        reduction: all[3].text.to_owned(),
        root: all[4].number(path, "a root, or -1")?,
        out_of_place: measured(5)?,
        in_place: measured(9)?,
    })
}

/// A table as JSON, as nccl-tests writes it.
pub fn to_json(table: &Table) -> serde_json::Value {
    let measured = |one: &Measured| {
        serde_json::json!({
            "time": one.time_us, "alg_bw": one.algbw, "bus_bw": one.busbw, "nwrong": one.wrong,
        })
    };
    let row = |row: &Row| {
        serde_json::json!({
            "size": row.bytes,
            "count": row.count,
            "type": row.element,
            "redop": row.reduction,
            "root": row.root,
            "out_of_place": measured(&row.out_of_place),
            "in_place": measured(&row.in_place),
        })
    };
    let rows: Vec<_> = table.rows.iter().map(row).collect();
    serde_json::json!({ "results": rows, "average_bus_bandwidth": table.average_busbw })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn numbers_lose_decimals_where_they_are_wide() {
        let texts =
            [9.999, 1234.567, 12_345.67, 1_234_567.8, 12_345_678.9].map(|one| narrow(one, 7));
        assert_eq!(texts, ["10.00", "1234.57", "12345.7", "1234568", "12345679"]);
    }

    #[test]
    fn the_mean_is_printed_as_c_does() {
        let mut out = String::new();
        for value in [0.0, 23.150_786, 1e-5, 123_456.7, 1_234_567.0, 100.0] {
            let _ = write!(out, "{} ", General(value));
        }
        assert_eq!(out, "0 23.1508 1e-05 123457 1.23457e+06 100 ");
    }
}
