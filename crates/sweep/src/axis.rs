//! Alternatives, and their combinations.

use crate::{Point, Setting};

/// Alternatives of which each point has one: each is a number of settings that go together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis(pub(crate) Vec<Vec<Setting>>);

impl Axis {
    /// The number of alternatives.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// All combinations of alternatives; the last axis changes first.
pub(crate) fn combinations(axes: &[Axis]) -> Vec<Point> {
    axes.iter().fold(vec![Point::default()], |points, Axis(alternatives)| {
        let of_one =
            |point: &Point| alternatives.iter().map(|one| point.with(one)).collect::<Vec<_>>();
        points.iter().flat_map(of_one).collect()
    })
}
