//! GOAL as text.

use std::fmt::Write as _;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::scan::{Word, words};
use crate::{ANY, Reference, TraceError};

use super::{Goal, Kind, Schedule, Statement};

/// Reads a text; errors name `path`.
pub(super) fn read(text: &str, path: &Path) -> Result<Goal, TraceError> {
    let text = without_comments(text);
    let mut words = Words::new(&text, path);
    words.expect("num_ranks")?;
    let count = words.number::<u32>("the number of ranks")?;
    if count.0 == ANY {
        return Err(count.1.error(path, "is too many ranks", "give fewer ranks"));
    }
    let mut ranks = Vec::new();
    while let Some(word) = words.next() {
        if word.text != "rank" {
            return Err(word.error(path, "is no rank", "write rank R { ... } here"));
        }
        let (rank, place) = words.number::<u32>("a rank")?;
        if rank as usize != ranks.len() || rank >= count.0 {
            let message = format!("comes where rank {} should", ranks.len());
            let help = format!("give the ranks 0 to {} in this order", count.0.saturating_sub(1));
            return Err(place.error(path, message, help));
        }
        words.expect("{")?;
        ranks.push(schedule(&mut words, count.0)?);
    }
    if ranks.len() < count.0 as usize {
        let message = format!("has {} of the {} ranks that it says", ranks.len(), count.0);
        return Err(TraceError::new(path, message, "give all ranks, or mend num_ranks"));
    }
    Ok(Goal { path: path.to_owned(), ranks })
}

/// The text with blanks in the place of comments, so that lines and columns stay.
fn without_comments(text: &str) -> String {
    #[derive(Clone, Copy, PartialEq)]
    enum Inside {
        Text,
        Line,
        Block,
    }
    let mut inside = Inside::Text;
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let (now, two) = match (inside, letter, next) {
            (Inside::Text, '/', Some('/')) => (Inside::Line, true),
            (Inside::Text, '/', Some('*')) => (Inside::Block, true),
            (Inside::Block, '*', Some('/')) => (Inside::Text, true),
            (Inside::Line, '\n', _) => (Inside::Text, false),
            (inside, _, _) => (inside, false),
        };
        let is_kept = letter.is_whitespace() || (inside == Inside::Text && now == Inside::Text);
        out.push(if is_kept { letter } else { ' ' });
        if two {
            letters.next();
            out.push(' ');
        }
        inside = now;
    }
    out
}

/// Words in their order, with braces apart.
struct Words<'a> {
    path: &'a Path,
    words: Box<dyn Iterator<Item = Word<'a>> + 'a>,
    next: Option<Word<'a>>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, path: &'a Path) -> Self {
        let lines = (1..).zip(text.lines());
        let all = lines.flat_map(|(line, text)| words(text, line)).flat_map(split);
        let mut words: Box<dyn Iterator<Item = Word<'a>>> = Box::new(all);
        let next = words.next();
        Self { path, words, next }
    }

    fn next(&mut self) -> Option<Word<'a>> {
        std::mem::replace(&mut self.next, self.words.next())
    }

    fn needed(&mut self, what: &str) -> Result<Word<'a>, TraceError> {
        self.next().ok_or_else(|| {
            let message = format!("the file ends where {what} should be");
            TraceError::new(self.path, message, format!("write {what} at the end"))
        })
    }

    fn expect(&mut self, text: &str) -> Result<(), TraceError> {
        let word = self.needed(text)?;
        if word.text == text {
            return Ok(());
        }
        Err(word.error(self.path, format!("is not {text}"), format!("write {text} here")))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<(T, Word<'a>), TraceError> {
        let word = self.needed(what)?;
        Ok((word.number(self.path, what)?, word))
    }

    /// The number behind a word, if that comes next.
    fn optional<T: std::str::FromStr>(
        &mut self,
        word: &str,
        what: &str,
    ) -> Result<Option<(T, Word<'a>)>, TraceError> {
        if self.next.is_none_or(|next| next.text != word) {
            return Ok(None);
        }
        self.next();
        self.number(what).map(Some)
    }
}

/// A word, cut at braces and behind colons.
fn split(word: Word<'_>) -> impl Iterator<Item = Word<'_>> {
    let mut column = word.column;
    let cut = |letter: char| matches!(letter, '{' | '}' | ':');
    word.text.split_inclusive(cut).flat_map(move |piece| {
        let body = piece.trim_end_matches(['{', '}']);
        let body = if body.is_empty() { None } else { Some(body) };
        let brace = piece.strip_prefix(body.unwrap_or("")).filter(|brace| !brace.is_empty());
        let parts = [body, brace];
        parts
            .into_iter()
            .flatten()
            .map(move |text| {
                let begin = column;
                column += text.chars().count();
                Word { text, line: word.line, column: begin }
            })
            .collect::<Vec<_>>()
    })
}

/// The statements of a rank, up to the brace behind them.
fn schedule(words: &mut Words<'_>, ranks: u32) -> Result<Schedule, TraceError> {
    let mut schedule = Schedule::default();
    let mut labels: FxHashMap<&str, u32> = FxHashMap::default();
    loop {
        let word = words.needed("}")?;
        if word.text == "}" {
            return Ok(schedule);
        }
        if let Some(label) = word.text.strip_suffix(':') {
            let index = u32::try_from(schedule.statements.len()).ok().filter(|one| *one < ANY);
            let index = index.ok_or_else(|| {
                word.error(words.path, "is one too many", "give fewer statements")
            })?;
            if label.is_empty() || labels.insert(label, index).is_some() {
                let message = "labels no statement, or a second one of this rank";
                return Err(word.error(
                    words.path,
                    message,
                    "give each statement a label of its own",
                ));
            }
            schedule.labels.push(label.into());
            schedule.statements.push(statement(words, ranks)?);
            continue;
        }
        let relation = words.needed("requires")?;
        let reference = match relation.text {
            "requires" => Reference::Done,
            "irequires" => Reference::Started,
            _ => {
                let help = "write LABEL: send|recv|calc ..., or LABEL requires|irequires LABEL";
                return Err(relation.error(words.path, "is no part of a statement", help));
            }
        };
        let parent = words.needed("a label")?;
        let find = |label: Word<'_>| {
            labels.get(label.text).copied().ok_or_else(|| {
                let help = "write the statement with this label before";
                label.error(words.path, "labels no statement of this rank so far", help)
            })
        };
        schedule.requires.push((find(word)?, find(parent)?, reference));
    }
}

fn statement(words: &mut Words<'_>, ranks: u32) -> Result<Statement, TraceError> {
    let path = words.path;
    let word = words.needed("send, recv or calc")?;
    let (kind, preposition) = match word.text {
        "send" => (Kind::Send, "to"),
        "recv" => (Kind::Receive, "from"),
        "calc" => (Kind::Calc, ""),
        _ => return Err(word.error(path, "is no operation", "write send, recv or calc")),
    };
    let (mut peer, mut tag) = (0, 0);
    let size = if kind == Kind::Calc {
        words.number("a time in nanoseconds")?.0
    } else {
        let size = words.needed("a length such as 8b")?;
        let Some(digits) = size.text.strip_suffix('b') else {
            return Err(size.error(
                path,
                "has no b behind it",
                "give a length in bytes, such as 8b",
            ));
        };
        let bytes = Word { text: digits, ..size }.number(path, "a length in bytes")?;
        words.expect(preposition)?;
        peer = number_or_any(words.needed("a rank")?, path, kind, "a rank")?;
        if peer != ANY && peer >= ranks {
            let message = format!("rank {peer} is not among the {ranks} ranks");
            return Err(word.error(path, message, "give a rank below num_ranks"));
        }
        if words.next.is_some_and(|next| next.text == "tag") {
            words.next();
            tag = number_or_any(words.needed("a tag")?, path, kind, "a tag")?;
        }
        bytes
    };
    let cpu = words.optional("cpu", "the number of a processor, 0 to 255")?;
    let nic = words.optional("nic", "the number of a NIC, 0 to 255")?;
    let [cpu, nic] = [cpu, nic].map(|number: Option<(u8, _)>| number.map_or(0, |one| one.0));
    Ok(Statement { kind, peer, tag, size, cpu, nic })
}

/// A number, or -1 of a receive for any.
fn number_or_any(word: Word<'_>, path: &Path, kind: Kind, what: &str) -> Result<u32, TraceError> {
    if word.text == "-1" && kind == Kind::Receive {
        return Ok(ANY);
    }
    let number = word.number(path, what)?;
    if number == ANY {
        return Err(word.error(
            path,
            format!("is not {what}"),
            "give less, or -1 of a recv for any",
        ));
    }
    Ok(number)
}

/// Writes a text.
pub(super) fn write(goal: &Goal) -> String {
    let mut out = format!("num_ranks {}\n", goal.ranks.len());
    for (rank, schedule) in goal.ranks.iter().enumerate() {
        let _ = writeln!(out, "\nrank {rank} {{");
        let labels = &schedule.labels;
        for (label, statement) in labels.iter().zip(&schedule.statements) {
            let _ = writeln!(out, "{label}: {}", Written(statement));
        }
        for &(statement, parent, reference) in &schedule.requires {
            let word = if reference == Reference::Done { "requires" } else { "irequires" };
            let [statement, parent] = [statement, parent].map(|one| &labels[one as usize]);
            let _ = writeln!(out, "{statement} {word} {parent}");
        }
        out.push_str("}\n");
    }
    out
}

struct Written<'a>(&'a Statement);

impl std::fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Statement { kind, peer, tag, size, cpu, nic } = *self.0;
        let any = |number: u32| if number == ANY { -1 } else { i64::from(number) };
        match kind {
            Kind::Calc => write!(f, "calc {size}")?,
            Kind::Send => write!(f, "send {size}b to {peer} tag {}", any(tag))?,
            Kind::Receive => write!(f, "recv {size}b from {} tag {}", any(peer), any(tag))?,
        }
        if cpu > 0 {
            write!(f, " cpu {cpu}")?;
        }
        if nic > 0 {
            write!(f, " nic {nic}")?;
        }
        Ok(())
    }
}
