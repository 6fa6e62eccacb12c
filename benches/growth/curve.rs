//! A picture of the cost of a traversal by the size of the network.

use std::fmt::Write as _;

use crate::case::Measured;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
/// Left, right, top and bottom of the drawing area.
const AREA: [f64; 4] = [60.0, 620.0, 20.0, 270.0];

/// The horizontal axis is the size, the vertical axis the cost relative to the smallest size.
pub(crate) fn svg(measured: &[Measured]) -> String {
    let [left, right, top, bottom] = AREA;
    let least = measured.first().map_or(1.0, Measured::cost_ns);
    let ratios: Vec<(f64, f64)> =
        measured.iter().map(|one| (f64::from(one.hosts), one.cost_ns() / least)).collect();
    let highest = ratios.iter().fold(2.5, |most: f64, &(_, ratio)| most.max(ratio)).ceil();
    let steps = ratios.len().saturating_sub(1).max(1) as f64;
    let x = |place: usize| left + place as f64 / steps * (right - left);
    let y = |ratio: f64| bottom - ratio / highest * (bottom - top);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let mut tick = 0.0;
    while tick <= highest {
        let at = y(tick);
        _ = writeln!(
            text,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick:.1}</text>",
            left - 8.0,
            at + 4.0
        );
        tick += 0.5;
    }
    let points: Vec<String> = (ratios.iter().enumerate())
        .map(|(place, one)| format!("{:.1},{:.1}", x(place), y(one.1)))
        .collect();
    _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\"/>",
        points.join(" ")
    );
    for (place, &(hosts, ratio)) in ratios.iter().enumerate() {
        let (x, y) = (x(place), y(ratio));
        _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#0072b2\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{hosts}</text>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{ratio:.2}</text>",
            bottom + 18.0,
            y - 10.0
        );
    }
    _ = writeln!(
        text,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">hosts; upwards: CPU time of a link traversal, \
         to that at {} hosts</text>\n</svg>",
        (left + right) / 2.0,
        HEIGHT - 12.0,
        ratios.first().map_or(0.0, |one| one.0)
    );
    text
}
