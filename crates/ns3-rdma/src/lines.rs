//! Lines of text: `exact.txt` and `stdout.txt`.

use std::fmt;
use std::io::{self, Write};

use crate::chunks::Chunks;
use crate::output::Lines;
use crate::trace::push_general;

/// Writes lines.
#[derive(Debug)]
pub struct LineWriter<W>(Chunks<W>);

impl<W: Write> LineWriter<W> {
    /// Lines are written into `to`.
    pub fn new(to: W) -> Self {
        Self(Chunks::new(to))
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first one of all writes.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Lines for LineWriter<W> {
    fn line(&mut self, line: fmt::Arguments<'_>) {
        // Memory takes all that is written.
        let _ = self.0.text.write_fmt(line);
        self.0.text.push(b'\n');
        self.0.end_line();
    }
}

/// Displays a number with 17 significant digits, as C's `%.17g` does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits17(pub(crate) f64);

impl fmt::Display for Digits17 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        push_general(&mut text, self.0, 17);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end() {
        let mut lines = LineWriter::new(Vec::new());
        lines.line(format_args!("a {}", Digits17(0.513_512_696_731_128_3)));
        assert_eq!(lines.finish().unwrap(), b"a 0.51351269673112832\n");
    }
}
