//! From a `[sweep]` to alternatives.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use rocelab_engine::RngStream;
use rocelab_scenario::{Document, Fault, ScenarioError, known_names};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::axis::Axis;
use crate::drawn::{self, Source, number_and_unit};
use crate::{MAX_POINTS, Setting, SettingValue};

type Result<T> = std::result::Result<T, ScenarioError>;
type Item<'t> = Spanned<DeValue<'t>>;

const KEYS: [&str; 6] = ["scenario", "seeds", "grid", "zip", "points", "random"];

/// Numbers of points: no part of a sweep may have more than all of it.
const COUNT: RangeInclusive<i64> = 1..=MAX_POINTS as i64;
/// Seeds that TOML can write.
const SEED: RangeInclusive<i64> = 0..=i64::MAX;

/// The `[sweep]` of a document.
pub(crate) struct Reading<'d> {
    document: &'d Document,
    sweep: &'d DeTable<'d>,
}

/// A value with the key that it belongs to.
struct Entry<'t> {
    key: String,
    /// Where the key is.
    span: Range<usize>,
    item: &'t Item<'t>,
}

/// A key that a part of a sweep sets.
struct Swept {
    key: String,
    /// Where the key is.
    span: Range<usize>,
    /// Which part: within one, keys go together.
    part: u32,
}

/// Whether one of two keys is the other, or a part of it. The first table of a list needs no number.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    is_within(one, other) || is_within(other, one)
}

/// Whether a key is another, or a part of it.
pub(crate) fn is_within(key: &str, other: &str) -> bool {
    let parts = |key: &str| -> Vec<String> {
        let parts = key.split(['.', '[', ']']).map(str::trim);
        parts.filter(|part| !part.is_empty() && *part != "0").map(str::to_owned).collect()
    };
    parts(key).starts_with(&parts(other))
}

impl<'d> Reading<'d> {
    /// The `[sweep]` below `root`, which must have nothing else if it names a scenario.
    pub(crate) fn of(document: &'d Document, root: &'d DeTable<'d>) -> Result<Self> {
        let refused = |fault: Fault| Err(document.report(fault));
        let Some(item) = root.get("sweep") else {
            let fault = Fault::at("", "the file has no `[sweep]`");
            let help = "say what is swept, such as `[sweep.grid]` with `\"switch.alpha\" = [\"1/16\", \"1/4\"]`";
            return refused(fault.help(help));
        };
        let Some(sweep) = item.get_ref().as_table() else {
            return refused(Fault::at("sweep", "a table belongs here").help("write `[sweep]`"));
        };
        let reading = Self { document, sweep };
        for entry in sorted(sweep) {
            if !KEYS.contains(&entry.key.as_str()) {
                let message = format!("there is no key `{}`", entry.key);
                let help = known_names(&entry.key, &KEYS);
                return Err(reading.error(
                    &format!("sweep.{}", entry.key),
                    entry.span,
                    message,
                    help,
                ));
            }
        }
        let other = sorted(root).into_iter().find(|entry| entry.key != "sweep");
        if let (true, Some(other)) = (sweep.contains_key("scenario"), other) {
            let message = "the scenario is another file, `sweep.scenario`".to_owned();
            let help = "write this key there, or leave `sweep.scenario` out".to_owned();
            return Err(reading.error(&other.key, other.span, message, help));
        }
        Ok(reading)
    }

    /// The scenario's file and its text, if it is another one.
    pub(crate) fn scenario(&self) -> Result<Option<(PathBuf, String)>> {
        let Some(item) = self.sweep.get("scenario") else { return Ok(None) };
        match item.get_ref() {
            DeValue::String(file) => {
                let file = self.document.folder().join(file.as_ref());
                let text = rocelab_fabric::read_text(&file).map_err(|error| {
                    let message = format!("{} cannot be read: {error}", file.display());
                    self.wrong(
                        "sweep.scenario",
                        item,
                        &message,
                        "give a path from where this file is",
                    )
                })?;
                Ok(Some((file, text)))
            }
            _ => Err(self.wrong(
                "sweep.scenario",
                item,
                "the path of a scenario file belongs here",
                "write it in quotes",
            )),
        }
    }

    /// What points choose from, in the order in which they are combined.
    pub(crate) fn axes(&self) -> Result<Vec<Axis>> {
        let mut axes = Vec::new();
        axes.extend(self.points()?);
        axes.extend(self.zipped()?);
        axes.extend(self.grid()?);
        axes.extend(self.drawn()?);
        axes.extend(self.seeds()?);
        if axes.is_empty() {
            let help = "add `[sweep.grid]`, `[[sweep.zip]]`, `[[sweep.points]]`, `[sweep.random]` or `seeds`";
            return Err(self.document.report(Fault::at("sweep", "nothing is swept").help(help)));
        }
        Ok(axes)
    }

    /// The keys of all settings, in the order of the file; each must be set in one place.
    pub(crate) fn keys(&self) -> Result<Vec<String>> {
        let places = self.places()?;
        for (later, place) in places.iter().enumerate() {
            let before = places[..later].iter().filter(|one| one.part != place.part);
            if before.into_iter().any(|one| overlap(&one.key, &place.key)) {
                let message =
                    "is swept in two places, or is a part of another key that is".to_owned();
                let help = "take it out of one of them: every combination of `grid`, `zip`, `points` and `random` runs";
                return Err(self.error(&place.key, place.span.clone(), message, help.into()));
            }
        }
        let keys = places.into_iter().map(|place| place.key);
        Ok(keys.filter(|key| key != "seed").collect())
    }

    /// Each key, once for each part of the sweep that sets it.
    fn places(&self) -> Result<Vec<Swept>> {
        let mut all: Vec<Swept> = Vec::new();
        let mut parts = 0..;
        let mut add = |entries: Vec<Entry<'_>>, together: bool| {
            let of_all = parts.next().unwrap_or_default();
            for Entry { key, span, .. } in entries {
                let part = if together { of_all } else { parts.next().unwrap_or_default() };
                if !all.iter().any(|one| one.part == part && one.key == key) {
                    all.push(Swept { key, span, part });
                }
            }
        };
        let points = self.tables("points")?;
        add(points.into_iter().flat_map(|(_, point)| leaves(point)).collect(), true);
        for (_, lists) in self.tables("zip")? {
            add(leaves(lists), true);
        }
        add(self.table("grid")?.map(leaves).unwrap_or_default(), false);
        add(self.random_keys()?.map(ranges_in).unwrap_or_default(), false);
        if let Some(item) = self.sweep.get("seeds") {
            add(vec![Entry { key: "seed".to_owned(), span: item.span(), item }], true);
        }
        Ok(all)
    }

    /// `[[sweep.points]]`: settings that belong together.
    fn points(&self) -> Result<Option<Axis>> {
        let mut alternatives = Vec::new();
        for (_, point) in self.tables("points")? {
            alternatives.push(
                leaves(point).iter().map(|entry| self.setting(&entry.key, entry.item)).collect(),
            );
        }
        Ok((!alternatives.is_empty()).then_some(Axis(alternatives)))
    }

    /// `[[sweep.zip]]`: lists whose first values belong together, and so on.
    fn zipped(&self) -> Result<Vec<Axis>> {
        self.tables("zip")?.into_iter().map(|(name, lists)| self.zipped_of(&name, lists)).collect()
    }

    fn zipped_of(&self, name: &str, lists: &DeTable<'_>) -> Result<Axis> {
        let mut alternatives: Vec<Vec<Setting>> = Vec::new();
        for (place, entry) in leaves(lists).into_iter().enumerate() {
            let key = format!("{name}.{}", entry.key);
            let values = self.values(&key, &entry)?;
            if place == 0 {
                alternatives = vec![Vec::new(); values.len()];
            }
            if values.len() != alternatives.len() {
                let (one, first) = (values.len(), alternatives.len());
                let message = format!("has {one} values, and the first list of this table {first}");
                let help = "give all lists of a `[[sweep.zip]]` as many values";
                return Err(self.wrong(&key, entry.item, &message, help));
            }
            for (settings, value) in alternatives.iter_mut().zip(values) {
                settings.push(self.setting(&entry.key, value));
            }
        }
        if alternatives.is_empty() {
            return Err(self.nothing(name));
        }
        Ok(Axis(alternatives))
    }

    /// `[sweep.grid]`: each value with each of the others.
    fn grid(&self) -> Result<Vec<Axis>> {
        let Some(grid) = self.table("grid")? else { return Ok(Vec::new()) };
        let mut axes = Vec::new();
        for entry in leaves(grid) {
            let values = self.values(&format!("sweep.grid.{}", entry.key), &entry)?;
            axes.push(Axis(
                values.iter().map(|value| vec![self.setting(&entry.key, value)]).collect(),
            ));
        }
        if axes.is_empty() { Err(self.nothing("sweep.grid")) } else { Ok(axes) }
    }

    /// `seeds`: a number of them from 1 on, or a list.
    fn seeds(&self) -> Result<Option<Axis>> {
        let Some(item) = self.sweep.get("seeds") else { return Ok(None) };
        let seeds = match item.get_ref() {
            DeValue::Array(_) => {
                let entry = Entry { key: "seeds".into(), span: item.span(), item };
                let values = self.values("sweep.seeds", &entry)?;
                values
                    .into_iter()
                    .map(|value| self.whole("sweep.seeds", value, SEED))
                    .collect::<Result<Vec<_>>>()?
            }
            _ => (1..=self.whole("sweep.seeds", item, COUNT)?).collect(),
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = seeds.iter().find(|seed| !seen.insert(**seed)) {
            let message =
                format!("the seed {twice} is there twice, which makes the same run twice");
            let help = "give each seed once";
            return Err(self.error("sweep.seeds", item.span(), message, help.into()));
        }
        let setting = |seed| vec![Setting::seed(seed, item.span())];
        Ok(Some(Axis(seeds.into_iter().map(setting).collect())))
    }

    /// `[sweep.random]`: so many draws, each of a value for each key.
    fn drawn(&self) -> Result<Option<Axis>> {
        let Some(random) = self.table("random")? else { return Ok(None) };
        for entry in sorted(random) {
            if !["draws", "seed", "keys"].contains(&entry.key.as_str()) {
                let message = format!("there is no key `{}`", entry.key);
                let help = known_names(&entry.key, &["draws", "seed", "keys"]);
                return Err(self.error(
                    &format!("sweep.random.{}", entry.key),
                    entry.span,
                    message,
                    help,
                ));
            }
        }
        let Some(draws) = random.get("draws") else {
            let fault = Fault::at("sweep.random.draws", "the key `draws` is missing");
            return Err(self
                .document
                .report(fault.help("add `draws = 20`: how many points are drawn")));
        };
        let draws = self.whole("sweep.random.draws", draws, COUNT)?;
        let seed =
            random.get("seed").map_or(Ok(1), |seed| self.whole("sweep.random.seed", seed, SEED))?;
        let Some(keys) = self.random_keys()? else { return Err(self.nothing("sweep.random.keys")) };
        let mut alternatives = vec![Vec::new(); usize::try_from(draws).unwrap_or(MAX_POINTS)];
        for entry in ranges_in(keys) {
            let source = self.source(&entry)?;
            // A stream for each key, so that another key changes none of its values.
            let mut stream = RngStream::new(seed.unsigned_abs(), &format!("sweep {}", entry.key));
            for settings in &mut alternatives {
                settings.push(self.draw(&entry, &source, &mut stream));
            }
        }
        if alternatives.first().is_none_or(Vec::is_empty) {
            return Err(self.nothing("sweep.random.keys"));
        }
        Ok(Some(Axis(alternatives)))
    }

    fn random_keys(&self) -> Result<Option<&'d DeTable<'d>>> {
        let Some(random) = self.table("random")? else { return Ok(None) };
        match random.get("keys").map(|item| (item, item.get_ref())) {
            None => Ok(None),
            Some((_, DeValue::Table(keys))) => Ok(Some(keys)),
            Some((item, _)) => Err(self.wrong(
                "sweep.random.keys",
                item,
                "a table belongs here",
                "write `[sweep.random.keys]`",
            )),
        }
    }

    /// From what the values of a key are drawn.
    fn source(&self, entry: &Entry<'_>) -> Result<Source> {
        let key = format!("sweep.random.keys.{}", entry.key);
        let table = match entry.item.get_ref() {
            DeValue::Array(_) => return Ok(Source::Choice(self.values(&key, entry)?.len())),
            DeValue::Table(table) => table,
            _ => return Err(self.wrong(&key, entry.item, "a range or a list belongs here", RANGE)),
        };
        let known = ["from", "to", "scale"];
        if let Some(other) =
            sorted(table).into_iter().find(|one| !known.contains(&one.key.as_str()))
        {
            let message = format!("there is no key `{}`", other.key);
            return Err(self.error(
                &format!("{key}.{}", other.key),
                other.span,
                message,
                known_names(&other.key, &known),
            ));
        }
        let (from, unit, from_is_whole) = self.end(&key, entry, table, "from")?;
        let (to, unit_of_to, to_is_whole) = self.end(&key, entry, table, "to")?;
        let is_logarithmic = match table.get("scale").map(|item| (item, item.get_ref())) {
            None => false,
            Some((_, DeValue::String(scale))) if scale == "linear" => false,
            Some((_, DeValue::String(scale))) if scale == "log" => true,
            Some((item, _)) => {
                return Err(self.wrong(
                    &format!("{key}.scale"),
                    item,
                    "is no scale",
                    "write \"linear\" or \"log\"",
                ));
            }
        };
        if unit != unit_of_to {
            return Err(self.wrong(
                &key,
                entry.item,
                "`from` and `to` have different units",
                "write both in one",
            ));
        }
        if from > to || is_logarithmic && from <= 0.0 {
            let message = if from > to {
                "`from` is above `to`"
            } else {
                "a logarithmic range begins above 0"
            };
            return Err(self.wrong(&key, entry.item, message, RANGE));
        }
        let is_whole = from_is_whole && to_is_whole;
        Ok(Source::Range(drawn::Range { from, to, unit, is_whole, is_logarithmic }))
    }

    /// An end of a range: its number, its unit, and whether it is a whole number.
    fn end(
        &self,
        key: &str,
        entry: &Entry<'_>,
        table: &DeTable<'_>,
        name: &str,
    ) -> Result<(f64, String, bool)> {
        let Some(item) = table.get(name) else {
            return Err(self.wrong(
                key,
                entry.item,
                &format!("the key `{name}` is missing"),
                RANGE,
            ));
        };
        let refused = || {
            self.wrong(&format!("{key}.{name}"), item, "is no number, nor one with a unit", RANGE)
        };
        let setting = self.setting(key, item);
        let (number, unit, is_whole) = match &setting.value {
            SettingValue::Integer(value) => (*value as f64, "", true),
            SettingValue::Number(value) => (*value, "", false),
            SettingValue::Text(text) => {
                let (number, unit) = number_and_unit(text).ok_or_else(refused)?;
                (number, unit, number.fract() == 0.0)
            }
        };
        if !number.is_finite() {
            return Err(refused());
        }
        Ok((number, unit.to_owned(), is_whole))
    }

    /// The next value that is drawn for a key.
    fn draw(&self, entry: &Entry<'_>, source: &Source, stream: &mut RngStream) -> Setting {
        let range = match source {
            Source::Choice(count) => {
                let chosen = usize::try_from(stream.below(*count as u64)).unwrap_or_default();
                let list = entry.item.get_ref().as_array();
                let value = list.and_then(|list| list.get(chosen)).unwrap_or(entry.item);
                return self.setting(&entry.key, value);
            }
            Source::Range(range) => range,
        };
        let number = range.draw(stream);
        let (key, span) = (entry.key.clone(), entry.item.span());
        let text = format!("{number}{}", range.unit);
        if !range.unit.is_empty() {
            let (quoted, value) = (format!("\"{text}\""), SettingValue::Text(text));
            return Setting { key, text: quoted, value, span };
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole, and within what was read as i64"
        )]
        let value = if range.is_whole {
            SettingValue::Integer(number as i64)
        } else {
            SettingValue::Number(number)
        };
        // A number in TOML has a point, or else it is an integer.
        let text = if range.is_whole || text.contains('.') { text } else { format!("{text}.0") };
        Setting { key, text, value, span }
    }

    /// The values of a list.
    fn values<'e>(&self, key: &str, entry: &Entry<'e>) -> Result<Vec<&'e Item<'e>>> {
        let list = entry.item.get_ref().as_array();
        let Some(list) = list else {
            let help = "write `[first, second]`, or set the key in the scenario";
            return Err(self.wrong(key, entry.item, "a list of values belongs here", help));
        };
        if list.is_empty() {
            return Err(self.wrong(
                key,
                entry.item,
                "the list is empty",
                "give at least one value",
            ));
        }
        Ok(list.iter().collect())
    }

    /// A whole number of a range.
    fn whole(&self, key: &str, item: &Item<'_>, range: RangeInclusive<i64>) -> Result<i64> {
        match self.setting(key, item).value {
            SettingValue::Integer(value) if range.contains(&value) => Ok(value),
            _ => {
                let (least, most) = range.into_inner();
                let end = if most == i64::MAX { "up".to_owned() } else { format!("to {most}") };
                let message = format!("a whole number from {least} {end} belongs here");
                Err(self.wrong(key, item, &message, "write such a number"))
            }
        }
    }

    /// A key with a value as it is written.
    fn setting(&self, key: &str, item: &Item<'_>) -> Setting {
        let text = self.document.text_at(item.span());
        let value = match item.get_ref() {
            DeValue::Integer(number) => {
                let digits = number.as_str().replace('_', "");
                i64::from_str_radix(&digits, number.radix())
                    .map_or(SettingValue::Text(text.clone()), SettingValue::Integer)
            }
            DeValue::Float(number) => {
                let digits = number.as_str().replace('_', "");
                digits.parse().map_or(SettingValue::Text(text.clone()), SettingValue::Number)
            }
            DeValue::String(value) => SettingValue::Text(value.to_string()),
            // One with a header of its own has no text.
            DeValue::Table(table) if table.is_empty() => {
                let (key, text) = (key.to_owned(), "{}".to_owned());
                let value = SettingValue::Text(text.clone());
                return Setting { key, value, text, span: item.span() };
            }
            _ => SettingValue::Text(text.clone()),
        };
        Setting { key: key.to_owned(), text, value, span: item.span() }
    }

    /// A table of the sweep.
    fn table(&self, name: &str) -> Result<Option<&'d DeTable<'d>>> {
        let Some(item) = self.sweep.get(name) else { return Ok(None) };
        let key = format!("sweep.{name}");
        let wrong = || self.wrong(&key, item, "a table belongs here", &format!("write `[{key}]`"));
        item.get_ref().as_table().map(Some).ok_or_else(wrong)
    }

    /// The tables of a list, each with its key.
    fn tables(&self, name: &str) -> Result<Vec<(String, &'d DeTable<'d>)>> {
        let Some(item) = self.sweep.get(name) else { return Ok(Vec::new()) };
        let key = format!("sweep.{name}");
        let wrong = || {
            self.wrong(
                &key,
                item,
                "a list of tables belongs here",
                &format!("write `[[{key}]]`, in double brackets"),
            )
        };
        let list = item.get_ref().as_array().filter(|list| !list.is_empty()).ok_or_else(wrong)?;
        let numbered = |(place, item): (usize, &'d Item<'d>)| {
            let table = item.get_ref().as_table().ok_or_else(wrong)?;
            Ok((format!("{key}[{place}]"), table))
        };
        list.iter().enumerate().map(numbered).collect()
    }

    fn nothing(&self, key: &str) -> ScenarioError {
        let help = "add a key of the scenario, such as `\"switch.alpha\" = [\"1/16\", \"1/4\"]`";
        self.document.report(Fault::at(key, "no key is swept here").help(help))
    }

    fn wrong(&self, key: &str, item: &Item<'_>, message: &str, help: &str) -> ScenarioError {
        let fault = Fault::at(key, message.to_owned()).help(help.to_owned());
        let value = self.document.excerpt(item.span());
        // A table with a header of its own has no text that would help.
        let has_text = !item.get_ref().is_table() || value.starts_with('{');
        self.document.report_at(item.span(), if has_text { fault.value(value) } else { fault })
    }

    fn error(&self, key: &str, span: Range<usize>, message: String, help: String) -> ScenarioError {
        self.document.report_at(span, Fault::at(key.to_owned(), message).help(help))
    }
}

const RANGE: &str = "write `{ from = 1, to = 100 }`, `{ from = \"20KB\", to = \"400KB\", scale = \"log\" }`, or a list";

/// The entries of a table in the order of the file.
fn sorted<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    let entry = |(key, item): (&'t Spanned<_>, &'t Item<'t>)| {
        let name: &std::borrow::Cow<'t, str> = key.get_ref();
        Entry { key: name.to_string(), span: key.span(), item }
    };
    let mut entries: Vec<_> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.span.start);
    entries
}

/// The entries of a table and of the tables in it, by the keys that lead to them; `is_leaf` says which tables are
/// values.
fn within<'t>(
    table: &'t DeTable<'t>,
    above: &str,
    is_leaf: fn(&DeTable<'_>) -> bool,
) -> Vec<Entry<'t>> {
    let mut all = Vec::new();
    for entry in sorted(table) {
        let key = if above.is_empty() { entry.key } else { format!("{above}.{}", entry.key) };
        match entry.item.get_ref() {
            DeValue::Table(below) if !is_leaf(below) => all.extend(within(below, &key, is_leaf)),
            _ => all.push(Entry { key, ..entry }),
        }
    }
    all
}

/// Keys with a value each; an empty table is a value: `congestion_control.timely = {}`.
fn leaves<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    within(table, "", |table| table.is_empty())
}

/// Keys with a range or a list each.
fn ranges_in<'t>(table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
    within(table, "", |table| {
        table.is_empty() || table.contains_key("from") || table.contains_key("to")
    })
}
