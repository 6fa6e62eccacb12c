//! SVG elements as text.

use std::fmt::Write as _;

/// A place in the picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

const STYLE: &str = "\
text{font:11px sans-serif;fill:#222}\
path{fill:none;stroke-width:1.2;stroke-opacity:.55}\
path:hover{stroke-width:4;stroke-opacity:1}\
.host{fill:#fff;stroke:#444}\
.switch{fill:#dde6f0;stroke:#234}\
.group{stroke-width:3}";

/// Half of a host's size.
const HOST: f64 = 6.0;

/// Height of a switch, and its width if its name does not fit into it.
const SWITCH_HEIGHT: f64 = 20.0;
const SWITCH_WIDTH: f64 = 32.0;

/// Approximate width of a character of a label.
const CHARACTER: f64 = 6.2;

/// Height of a line of a vertical label.
const LINE: f64 = 12.0;

/// The texts of a node's picture. A name without room is shown only when hovering.
pub(super) struct Mark<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    /// Whether it stands for several nodes.
    pub(super) group: bool,
}

/// An SVG document, written from back to front.
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\">\n\
             <style>{STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        Self { text }
    }

    pub(super) fn link(&mut self, a: Point, b: Point, bend: f64, colour: &str, title: &str) {
        let shape = if bend == 0.0 {
            format!("M{:.1} {:.1}L{:.1} {:.1}", a.x, a.y, b.x, b.y)
        } else {
            let (x, y) = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0 - 2.0 * bend);
            format!("M{:.1} {:.1}Q{x:.1} {y:.1} {:.1} {:.1}", a.x, a.y, b.x, b.y)
        };
        self.element(&format!("path d=\"{shape}\" stroke=\"{colour}\""), "path", title);
    }

    /// Draws a host as a small square with its name below.
    pub(super) fn host(&mut self, at: Point, pitch: f64, mark: &Mark<'_>) {
        let class = if mark.group { "host group" } else { "host" };
        let (x, y, size) = (at.x - HOST, at.y - HOST, 2.0 * HOST);
        let element = format!(
            "rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{size}\" height=\"{size}\""
        );
        self.element(&element, "rect", mark.title);
        if text_width(mark.name) < pitch {
            self.level_text(Point { x: at.x, y: at.y + 22.0 }, mark.name);
        } else if pitch >= LINE {
            self.upright_text(Point { x: at.x - 4.0, y: at.y + 12.0 }, 90, mark.name);
        }
    }

    /// Draws a switch as a box with its name inside, or above it if the row is crowded.
    pub(super) fn switch(&mut self, at: Point, pitch: f64, mark: &Mark<'_>) {
        let class = if mark.group { "switch group" } else { "switch" };
        let width = text_width(mark.name) + 12.0;
        let fits = width < pitch;
        let width = if fits { width } else { (0.7 * pitch).min(SWITCH_WIDTH) };
        let (x, y) = (at.x - width / 2.0, at.y - SWITCH_HEIGHT / 2.0);
        let element = format!(
            "rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{SWITCH_HEIGHT}\" rx=\"4\""
        );
        self.element(&element, "rect", mark.title);
        if fits {
            self.level_text(Point { x: at.x, y: at.y + 4.0 }, mark.name);
        } else if pitch >= LINE {
            self.upright_text(Point { x: at.x + 4.0, y: at.y - 14.0 }, -90, mark.name);
        }
    }

    fn level_text(&mut self, at: Point, text: &str) {
        let Point { x, y } = at;
        let text = escaped(text);
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>"
        );
    }

    fn upright_text(&mut self, at: Point, turn: i32, text: &str) {
        let Point { x, y } = at;
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text transform=\"translate({x:.1} {y:.1}) rotate({turn})\">{text}</text>"
        );
    }

    pub(super) fn legend(&mut self, x: f64, y: f64, colour: &str, name: &str) {
        let (end, text) = (x + 40.0, x + 50.0);
        let _ = writeln!(
            self.text,
            "<path d=\"M{x:.1} {y:.1}L{end:.1} {y:.1}\" stroke=\"{colour}\"/>\
             <text x=\"{text:.1}\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            escaped(name)
        );
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn element(&mut self, opening: &str, name: &str, title: &str) {
        let _ = writeln!(self.text, "<{opening}><title>{}</title></{name}>", escaped(title));
    }
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Escapes a name: it comes from a file, and may contain characters that have a meaning in XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 cannot represent these.
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
