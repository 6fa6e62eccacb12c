//! Finds the files in which names are declared, from the paths that use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::Arrows;
use crate::source::Source;

/// Most re-exports that a name may pass through.
const MOST_STEPS: usize = 8;

/// The declarations of names.
pub(crate) struct Names {
    modules: BTreeMap<Vec<String>, usize>,
    /// Re-exports: the full path, by module and name.
    passed_on: BTreeMap<(Vec<String>, String), Vec<String>>,
}

impl Names {
    pub(crate) fn of(sources: &[Source]) -> Self {
        let modules =
            sources.iter().enumerate().map(|(at, source)| (source.module.clone(), at)).collect();
        let mut names = Self { modules, passed_on: BTreeMap::new() };
        for source in sources {
            for (name, path) in &source.passes_on {
                if let Some(full) = names.full(source, path) {
                    names.passed_on.insert((source.module.clone(), name.clone()), full);
                }
            }
        }
        names
    }

    /// From each file to each other file whose names it uses. A re-export alone is not counted.
    pub(crate) fn arrows(&self, sources: &[Source]) -> Arrows {
        let mut arrows = BTreeSet::new();
        for (from, source) in sources.iter().enumerate() {
            for path in &source.uses {
                let to = self.full(source, path).and_then(|full| self.file_of(full));
                arrows.extend(to.filter(|to| *to != from).map(|to| (from, to)));
            }
        }
        arrows.into_iter().collect()
    }

    /// The file that declares a type which a file implements something for, or takes as a
    /// parameter: the file itself, or the file from which it imports the name, or else a file of
    /// its own crate.
    pub(crate) fn declared_in(&self, sources: &[Source], from: usize, name: &str) -> Option<usize> {
        let declares = |at: &usize| sources[*at].types.iter().any(|found| found.name == name);
        let source = &sources[from];
        let taken = source.uses.iter().filter(|path| path.last().is_some_and(|last| last == name));
        let taken = taken.filter_map(|path| self.file_of(self.full(source, path)?));
        let of_crate = (0..sources.len()).filter(|at| sources[*at].module[0] == source.module[0]);
        std::iter::once(from).chain(taken).chain(of_crate).find(declares)
    }

    /// A path that starts with the name of its crate.
    fn full(&self, source: &Source, path: &[String]) -> Option<Vec<String>> {
        let (first, mut rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => source.module[..1].to_vec(),
            "self" => source.module.clone(),
            "super" => source.module[..source.module.len().checked_sub(1)?].to_vec(),
            name if name.starts_with("rocelab") => vec![name.to_owned()],
            name => {
                let child = [source.module.as_slice(), &[name.to_owned()]].concat();
                return self
                    .modules
                    .contains_key(&child)
                    .then(|| [child.as_slice(), rest].concat());
            }
        };
        while let Some((name, behind)) = rest.split_first()
            && name == "super"
        {
            base.pop()?;
            rest = behind;
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The file of a full path, with re-exports followed.
    fn file_of(&self, mut path: Vec<String>) -> Option<usize> {
        for _ in 0..MOST_STEPS {
            let length = (1..=path.len()).rev().find(|n| self.modules.contains_key(&path[..*n]))?;
            let module = path[..length].to_vec();
            let passed_on = path
                .get(length)
                .and_then(|name| self.passed_on.get(&(module.clone(), name.clone())));
            match passed_on {
                Some(full) => path = [full.as_slice(), &path[length + 1..]].concat(),
                None => return self.modules.get(&module).copied(),
            }
        }
        None
    }
}
