//! Flow-size distributions.

use std::path::Path;

use super::flow_table::Table;
use super::rules::check_bytes;
use crate::scenario::{Fault, known_names};

/// The distributions that come with the program: name and table. `distributions/README.md` says
/// which paper each comes from.
const NAMED: [(&str, &str); 4] = [
    ("websearch", include_str!("distributions/websearch.csv")),
    ("facebook-hadoop", include_str!("distributions/facebook-hadoop.csv")),
    ("alistorage", include_str!("distributions/alistorage.csv")),
    ("google-rpc", include_str!("distributions/google-rpc.csv")),
];

/// A cumulative distribution of flow sizes, linear between its points.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDistribution {
    /// Size in bytes and cumulative share in percent, both ascending; the first share is 0 and the
    /// last 100.
    points: Vec<(f64, f64)>,
}

/// Where a distribution comes from.
#[derive(Clone, Copy, Debug)]
pub enum DistributionSource<'a> {
    /// One that comes with the program.
    Named(&'a str),
    /// A CSV file: a folder, and a path that may be relative to it.
    File(&'a Path, &'a Path),
}

impl SizeDistribution {
    /// The names of the distributions that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// A distribution that comes with the program.
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = NAMED.iter().find(|(known, _)| *known == name)?;
        let table = Table::from_text(Path::new(name), text, &COLUMNS).ok()?;
        points(&table).ok().map(|points| Self { points })
    }

    pub(crate) fn read(source: DistributionSource<'_>) -> Result<Self, Fault> {
        match source {
            DistributionSource::Named(name) => Self::named(name).ok_or_else(|| {
                let names: Vec<_> = Self::names().collect();
                Fault::at("distribution", format!("there is no distribution `{name}`"))
                    .help(known_names(name, &names))
            }),
            DistributionSource::File(folder, file) => {
                let table = Table::read(folder, file, "distribution_file", &COLUMNS)?;
                points(&table).map(|points| Self { points })
            }
        }
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        let piece = |pair: &[(f64, f64)]| {
            let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
            (x0 + x1) / 2.0 * (y1 - y0) / 100.0
        };
        self.points.windows(2).map(piece).sum()
    }

    /// The size at the quantile `uniform` (0 to 1): the inverse of the distribution, linear
    /// between its points, rounded down to whole bytes and at least 1.
    pub fn sample(&self, uniform: f64) -> u64 {
        let percent = uniform * 100.0;
        let upper = self.points.partition_point(|&(_, share)| share < percent);
        let upper = upper.clamp(1, self.points.len() - 1);
        let [(x0, y0), (x1, y1)] = [self.points[upper - 1], self.points[upper]];
        let size = if y1 > y0 { x0 + (x1 - x0) * (percent - y0) / (y1 - y0) } else { x1 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes are between 0 and 2^48"
        )]
        let whole = size as u64;
        whole.max(1)
    }
}

const COLUMNS: [&str; 2] = ["bytes", "cumulative_percent"];

/// The points of a table whose sizes and shares ascend from 0 % to 100 %.
fn points(table: &Table) -> Result<Vec<(f64, f64)>, Fault> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for row in table.rows() {
        let size = row.whole("bytes")?;
        let share = row.number("cumulative_percent")?;
        let (last_size, last_share) = points.last().copied().unwrap_or((0.0, 0.0));
        if size > 0 {
            check_bytes("bytes", size).map_err(|fault| row.blame("bytes", fault))?;
        }
        if (size as f64) < last_size {
            let fault = Fault::at("bytes", "sizes do not descend").help("sort the lines by size");
            return Err(row.blame("bytes", fault));
        }
        if !(last_share..=100.0).contains(&share) || (points.is_empty() && share != 0.0) {
            let fault = Fault::at("", "shares ascend from 0 to 100")
                .help("give the percentage of flows that are not larger, from 0 to 100");
            return Err(row.blame("cumulative_percent", fault));
        }
        points.push((size as f64, share));
    }
    match points.last() {
        Some(&(size, 100.0)) if points.len() >= 2 && size > 0.0 => Ok(points),
        _ => Err(table.fault("the distribution does not reach 100 %", "end it with a line of 100")),
    }
}
