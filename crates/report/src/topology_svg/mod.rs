//! A network as a picture.
//!
//! Nodes are in rows by tier, hosts at the bottom. A large network is drawn in groups ([`glyphs`]),
//! so that the picture's size is limited.

mod canvas;
mod glyphs;

use std::collections::BTreeSet;

use rocelab_results::TopologyMap;
use rocelab_units::Bandwidth;

use canvas::{Canvas, Mark, Point};
use glyphs::{Bundle, Drawing, Glyph};

/// Stroke colours by rate, lowest first: they can be distinguished by colour-blind people and on
/// white (Okabe and Ito's palette without its yellow). All further rates have the last colour.
const COLOURS: [&str; 6] = ["#0072b2", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#000000"];

/// Width for each node of the fullest row, and the limits of the picture's size, in pixels.
const NODE_PITCH: f64 = 22.0;
const MIN_WIDTH: f64 = 640.0;
const MAX_WIDTH: f64 = 4_000.0;
const ROW_HEIGHT: f64 = 150.0;
const MARGIN: f64 = 60.0;
const LEGEND_LINE: f64 = 20.0;

/// The network as an SVG document that loads nothing else: no script, font or style. Hovering over
/// a node or link shows its name, kind, rate and delay.
///
/// Above 2,000 hosts, each rack becomes one box with a count, and above 128 switches in a row,
/// neighbours share a box, so that the document stays below a few megabytes.
pub fn topology_svg(map: &TopologyMap) -> String {
    let drawing = Drawing::new(map);
    let rates: Vec<Bandwidth> = drawing
        .bundles
        .iter()
        .map(|bundle| bundle.rate)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let scene = Scene::new(&drawing, rates);
    scene.draw()
}

/// A drawing with its measures in pixels.
struct Scene<'a> {
    drawing: &'a Drawing,
    rates: Vec<Bandwidth>,
    width: f64,
    rows: u8,
    x_range: (f64, f64),
}

impl<'a> Scene<'a> {
    fn new(drawing: &'a Drawing, rates: Vec<Bandwidth>) -> Self {
        let fullest = (0..=drawing.highest_tier).map(|tier| drawing.row_length(tier)).max();
        let width = fullest.unwrap_or(0) as f64 * NODE_PITCH + 2.0 * MARGIN;
        let xs = || drawing.glyphs.iter().map(|glyph| glyph.x).filter(|x| x.is_finite());
        let x_range = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        Self {
            drawing,
            rates,
            width: width.clamp(MIN_WIDTH, MAX_WIDTH),
            rows: drawing.highest_tier + 1,
            x_range,
        }
    }

    fn draw(&self) -> String {
        let picture = f64::from(self.rows) * ROW_HEIGHT;
        let height = picture + (self.rates.len() + 1) as f64 * LEGEND_LINE + MARGIN / 2.0;
        let mut canvas = Canvas::new(self.width, height);
        for bundle in &self.drawing.bundles {
            self.draw_bundle(&mut canvas, bundle);
        }
        for glyph in &self.drawing.glyphs {
            self.draw_glyph(&mut canvas, glyph);
        }
        self.draw_legend(&mut canvas, picture);
        canvas.finish()
    }

    fn draw_bundle(&self, canvas: &mut Canvas, bundle: &Bundle) {
        let (a, b) = (&self.drawing.glyphs[bundle.a], &self.drawing.glyphs[bundle.b]);
        let times = if bundle.links == 1 { String::new() } else { format!("{} x ", bundle.links) };
        let title =
            format!("{} - {}: {times}{}, {}", a.label(), b.label(), bundle.rate, bundle.delay);
        let (from, to) = (self.place(a), self.place(b));
        // Within a row, a straight line would cross the nodes between the two.
        let bend = if a.tier == b.tier { ROW_HEIGHT / 4.0 } else { 0.0 };
        canvas.link(from, to, bend, self.colour(bundle.rate), &title);
    }

    fn draw_glyph(&self, canvas: &mut Canvas, glyph: &Glyph) {
        let place = self.place(glyph);
        let pitch = (self.width - 2.0 * MARGIN) / self.drawing.row_length(glyph.tier).max(1) as f64;
        let mark = Mark { name: &glyph.label(), title: &glyph.title(), group: glyph.nodes > 1 };
        if glyph.is_host() {
            canvas.host(place, pitch, &mark);
        } else {
            canvas.switch(place, pitch, &mark);
        }
    }

    fn draw_legend(&self, canvas: &mut Canvas, top: f64) {
        for (index, rate) in self.rates.iter().enumerate() {
            let links: usize = self
                .drawing
                .bundles
                .iter()
                .filter(|bundle| bundle.rate == *rate)
                .map(|bundle| bundle.links)
                .sum();
            let y = top + (index + 1) as f64 * LEGEND_LINE;
            let plural = if links == 1 { "" } else { "s" };
            canvas.legend(MARGIN, y, self.colour(*rate), &format!("{rate} ({links} link{plural})"));
        }
    }

    fn place(&self, glyph: &Glyph) -> Point {
        let (least, greatest) = self.x_range;
        let span = greatest - least;
        // A single column of nodes, and positions that are not finite numbers, go to the middle.
        let share = if span > 0.0 && glyph.x.is_finite() { (glyph.x - least) / span } else { 0.5 };
        let row = f64::from(self.drawing.highest_tier - glyph.tier);
        Point { x: MARGIN + share * (self.width - 2.0 * MARGIN), y: (row + 0.5) * ROW_HEIGHT }
    }

    fn colour(&self, rate: Bandwidth) -> &'static str {
        let index = self.rates.iter().position(|known| *known == rate).unwrap_or(0);
        COLOURS[index.min(COLOURS.len() - 1)]
    }
}
