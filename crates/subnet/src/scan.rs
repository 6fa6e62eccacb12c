//! A line of a file, read from left to right.

use std::path::Path;

use crate::error::InputError;
use crate::guid::Guid;

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'t> {
    path: &'t Path,
    line: usize,
    rest: &'t str,
}

impl<'t> Scan<'t> {
    /// The lines of `text`, which is that of the file at `path`, without white space around them; empty ones are left
    /// out.
    pub(crate) fn lines(path: &'t Path, text: &'t str) -> impl Iterator<Item = Self> {
        let lines =
            text.lines().zip(1..).map(move |(rest, line)| Self { path, line, rest: rest.trim() });
        lines.filter(|line| !line.rest.is_empty())
    }

    /// What is left.
    pub(crate) const fn rest(&self) -> &'t str {
        self.rest
    }

    /// Skips white space.
    pub(crate) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Goes past `text`, if it is next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Goes past a word, up to white space or one of `"[](=`, if there is one.
    pub(crate) fn word(&mut self) -> &'t str {
        let is_end = |one: char| one.is_whitespace() || "\"[](=".contains(one);
        let (word, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// What stands between `open` and `close`, if `open` is next.
    ///
    /// # Errors If `close` is missing.
    pub(crate) fn between(
        &mut self,
        open: &str,
        close: &str,
    ) -> Result<Option<&'t str>, InputError> {
        let Some(inner) = self.rest.strip_prefix(open) else { return Ok(None) };
        let Some((inner, rest)) = inner.split_once(close) else {
            let message = format!("`{close}` is missing");
            return Err(self.blame(self.rest, message, format!("add `{close}`")));
        };
        self.rest = rest;
        Ok(Some(inner))
    }

    /// The number of a port in brackets, if there is one.
    ///
    /// # Errors If it is no number of a port.
    pub(crate) fn port(&mut self) -> Result<Option<u8>, InputError> {
        let Some(text) = self.between("[", "]")? else { return Ok(None) };
        text.parse()
            .map(Some)
            .map_err(|_| self.blame(text, "is no number of a port", "write a number from 1 to 254"))
    }

    /// A GUID in parentheses, if there is one.
    ///
    /// # Errors If it is no GUID.
    pub(crate) fn guid(&mut self) -> Result<Option<Guid>, InputError> {
        let Some(text) = self.between("(", ")")? else { return Ok(None) };
        Guid::parse(text).map(Some).ok_or_else(|| self.no_guid(text))
    }

    /// The error that `text` is no GUID.
    pub(crate) fn no_guid(&self, text: &str) -> InputError {
        self.blame(text, "is no GUID", "write up to 16 hexadecimal digits, such as 0x2c9020041b3a8")
    }

    /// The error that `message` says of a `value` in this line.
    pub(crate) fn blame(
        &self,
        value: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> InputError {
        InputError::new(self.path, self.line, value, message, help)
    }
}
