//! Bar charts for the documentation: drawn by the test that measures what they show, and compared
//! with the drawing that is there.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
/// Where the bars stand: left, right, top and bottom.
const LEFT: f64 = 48.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = HEIGHT - 36.0;
/// Between two groups.
const GAP: f64 = 32.0;
/// Fill of each series; the fourth is outlined: what is not of the same kind as the others.
const FILLS: [&str; 4] = ["#9aa5b1", "#2f6fb2", "#c0392b", "none"];

/// Groups of up to four bars.
pub(super) struct BarChart {
    title: &'static str,
    /// The value at the top.
    scale: f64,
    series: &'static [&'static str],
    pub(super) groups: Vec<Group>,
}

/// A group of bars, one for each series.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) values: Vec<f64>,
}

impl BarChart {
    pub(super) fn new(title: &'static str, scale: f64, series: &'static [&'static str]) -> Self {
        Self { title, scale, series, groups: Vec::new() }
    }

    /// Compares with the file at `path`. Set `UPDATE_GOLDEN` to draw it anew.
    pub(super) fn check(&self, path: &str) {
        let drawing = self.svg().expect("a string takes text");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &drawing).expect("the folder takes files");
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(drawing == there, "{path} shows other numbers: set UPDATE_GOLDEN and look at it");
    }

    fn svg(&self) -> Result<String, std::fmt::Error> {
        let mut svg = String::new();
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">"
        )?;
        writeln!(svg, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>")?;
        writeln!(svg, "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>", self.title)?;
        self.legend(&mut svg)?;
        self.axis(&mut svg)?;
        let width = (RIGHT - LEFT) / self.groups.len() as f64;
        for (place, group) in self.groups.iter().enumerate() {
            self.group(&mut svg, group, LEFT + width * place as f64, width)?;
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }

    fn legend(&self, svg: &mut String) -> std::fmt::Result {
        for (place, (name, fill)) in self.series.iter().zip(FILLS).enumerate() {
            let x = LEFT + 150.0 * place as f64;
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"38\" width=\"12\" height=\"12\" fill=\"{fill}\" \
                 stroke=\"#333333\"/><text x=\"{}\" y=\"48\">{name}</text>",
                x + 18.0
            )?;
        }
        Ok(())
    }

    fn axis(&self, svg: &mut String) -> std::fmt::Result {
        for quarter in 0..=4 {
            let value = self.scale * f64::from(quarter) / 4.0;
            let y = self.y(value);
            writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" \
                 stroke=\"#dddddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
                LEFT - 8.0,
                y + 4.0
            )?;
        }
        Ok(())
    }

    fn group(&self, svg: &mut String, group: &Group, left: f64, width: f64) -> std::fmt::Result {
        let bar = (width - GAP) / group.values.len() as f64;
        for (place, (&value, fill)) in group.values.iter().zip(FILLS).enumerate() {
            let x = left + GAP / 2.0 + bar * place as f64;
            let y = self.y(value);
            writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\" \
                 stroke=\"#333333\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">\
                 {value:.1}</text>",
                x + 2.0,
                bar - 4.0,
                BOTTOM - y,
                x + bar / 2.0,
                y - 4.0
            )?;
        }
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"14\">{}</text>",
            left + width / 2.0,
            BOTTOM + 22.0,
            group.name
        )
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * value / self.scale
    }
}
