//! Flow files of the HPCC simulator: a count, then `source destination priority port bytes start`
//! lines, with node numbers and seconds.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rocelab_units::{Duration, SimTime};

use super::flow::{Flow, check_ends};
use super::flow_table::read_input;
use super::rules::MAX_MESSAGE_BYTES;
use super::site::Site;
use crate::scenario::{Fault, FilePlace, Place, Verb};

const COLUMNS: [&str; 6] = ["source", "destination", "priority", "port", "bytes", "start"];

/// The flows of `file`; `offset` is taken off every start.
pub(super) fn read(
    site: &Site<'_>,
    file: &Path,
    offset: Duration,
    verb: Verb,
) -> Result<Vec<Flow>, Fault> {
    let text: Arc<str> = read_input(site.folder, file, "reference")?.into();
    let path = site.folder.join(file);
    let mut lines = lines(&path, &text);
    let count = lines.next().map(|line| line.count(site)).transpose()?.unwrap_or(0);
    let mut flows = Vec::new();
    for line in lines.by_ref().take(count) {
        flows.push(line.flow(site, offset, verb)?);
    }
    if flows.len() < count {
        let span = 0..text.lines().next().unwrap_or_default().len();
        let end = Line { path: &path, text: &text, number: 1, span };
        let fault = Fault::at("", format!("{count} flows are announced, {} follow", flows.len()));
        return Err(end.blame("count", 0, fault.help("correct the first line")));
    }
    Ok(flows)
}

/// The lines that are not empty.
fn lines<'a>(path: &'a Path, text: &'a Arc<str>) -> impl Iterator<Item = Line<'a>> {
    let mut start = 0;
    let all = (1..).zip(text.split_inclusive('\n')).map(move |(number, line)| {
        let span = start..start + line.trim_end().len();
        start += line.len();
        Line { path, text, number, span }
    });
    all.filter(|line| !text[line.span.clone()].trim().is_empty())
}

struct Line<'a> {
    path: &'a Path,
    text: &'a Arc<str>,
    number: u32,
    span: Range<usize>,
}

impl Line<'_> {
    fn count(&self, site: &Site<'_>) -> Result<usize, Fault> {
        let count: u64 = self.parsed("count", 0)?;
        site.check_count("", count).map_err(|fault| self.blame("count", 0, fault))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn flow(&self, site: &Site<'_>, offset: Duration, verb: Verb) -> Result<Flow, Fault> {
        let fields = self.fields().count();
        if fields != COLUMNS.len() {
            let fault = Fault::at("", format!("a flow has 6 fields, and this line {fields}"))
                .help(format!("write `{}`", COLUMNS.join(" ")));
            return Err(self.blame("", 0, fault));
        }
        let host = |column: usize| {
            let node = self.parsed(COLUMNS[column], column)?;
            let known = site.hosts.check_node(node);
            known.map_err(|fault| self.blame(COLUMNS[column], column, fault))
        };
        let bytes = self.parsed("bytes", 4)?;
        site.check_bytes("", bytes).map_err(|fault| self.blame("bytes", 4, fault))?;
        let priority = site.priority_or_default(Some(self.parsed("priority", 2)?));
        let (source, destination) = (host(0)?, host(1)?);
        check_ends(site.hosts, source, destination)
            .map_err(|fault| self.blame("destination", 1, fault))?;
        Ok(Flow {
            source,
            destination,
            start: self.start(offset)?,
            bytes,
            message_bytes: MAX_MESSAGE_BYTES,
            verb,
            priority: priority.map_err(|fault| self.blame("priority", 2, fault))?,
            port: self.parsed("port", 3)?,
            row: self.number,
        })
    }

    fn start(&self, offset: Duration) -> Result<SimTime, Fault> {
        let text = self.field(5).map_or("", |span| &self.text[span]);
        let start: SimTime = format!("{text}s").parse().map_err(|_| {
            let fault = Fault::at("", format!("`{text}` is no time in seconds"));
            self.blame("start", 5, fault.help("write decimal seconds, such as 2.000001"))
        })?;
        let start = start.ps().checked_sub(offset.ps()).ok_or_else(|| {
            let fault = Fault::at("", format!("the flow starts before the offset of {offset}"));
            self.blame("start", 5, fault.help("set `start_offset` to the file's first second"))
        })?;
        Ok(SimTime::from_ps(start))
    }

    fn parsed<T: std::str::FromStr>(&self, column: &str, index: usize) -> Result<T, Fault> {
        let text = self.field(index).map_or("", |span| &self.text[span]);
        text.parse().map_err(|_| {
            let fault = Fault::at("", format!("`{text}` is not a whole number in range"));
            self.blame(column, index, fault.help(format!("write `{}`", COLUMNS.join(" "))))
        })
    }

    fn field(&self, index: usize) -> Option<Range<usize>> {
        self.fields().nth(index)
    }

    fn fields(&self) -> impl Iterator<Item = Range<usize>> {
        let mut position = self.span.start;
        self.text[self.span.clone()]
            .split([' ', '\t'])
            .map(move |field| {
                let from = position;
                position += field.len() + 1;
                from..from + field.trim_end().len()
            })
            .filter(|field| !field.is_empty())
    }

    fn blame(&self, column: &str, index: usize, mut fault: Fault) -> Fault {
        let span = self.field(index).filter(|_| !column.is_empty());
        let span = span.unwrap_or(self.span.clone());
        fault.value = Some(self.text[span.clone()].to_string());
        let (file, text, key) = (self.path.into(), self.text.clone(), column.into());
        fault.place = Place::File(Box::new(FilePlace { file, text, span, key }));
        fault
    }
}
