//! Parses source files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use crate::Failure;
use crate::types::{Implementation, Passed, Type};

/// A source file that is not a test.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path relative to the repository's root.
    pub(crate) path: PathBuf,
    /// The crate's name in code (`rocelab_sim`), then its modules.
    pub(crate) module: Vec<String>,
    /// Number of lines, including tests within the file.
    pub(crate) lines: usize,
    /// Paths of names that it uses, as written.
    pub(crate) uses: BTreeSet<Vec<String>>,
    /// Names that it re-exports: the name here, and its path.
    pub(crate) passes_on: Vec<(String, Vec<String>)>,
    pub(crate) types: Vec<Type>,
    pub(crate) implementations: Vec<Implementation>,
    /// Types that functions here take, or structs hold, by `&mut`.
    pub(crate) passed: BTreeSet<Passed>,
}

/// All source files of the crates below a folder, in the order of their paths.
///
/// # Errors If a file cannot be read, or is not valid Rust.
pub(crate) fn read(crates: &Path) -> Result<Vec<Source>, Failure> {
    let root = crates.parent().unwrap_or(crates);
    let mut sources = Vec::new();
    for folder in folders(crates)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
        read_folder(&folder.join("src"), &[format!("rocelab_{name}")], root, &mut sources)?;
    }
    let tests: BTreeSet<Vec<String>> =
        sources.iter().flat_map(|(_, tests)| tests.iter().cloned()).collect();
    let is_test = |module: &[String]| (1..=module.len()).any(|n| tests.contains(&module[..n]));
    let kept = sources.into_iter().map(|(source, _)| source);
    Ok(kept.filter(|source| !is_test(&source.module)).collect())
}

fn folders(of: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(of)? {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Sources, each with the modules that it declares for tests only.
type Read = Vec<(Source, Vec<Vec<String>>)>;

fn read_folder(
    folder: &Path,
    module: &[String],
    root: &Path,
    sources: &mut Read,
) -> Result<(), Failure> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, Failure>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let below = |name: String| module.iter().cloned().chain([name]).collect::<Vec<_>>();
        if path.is_dir() {
            read_folder(&path, &below(name), root, sources)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let is_own = ["mod", "lib", "main"].contains(&name.as_str());
            let own = if is_own { module.to_vec() } else { below(name) };
            sources.push(parse(&path, own, root)?);
        }
    }
    Ok(())
}

fn parse(
    path: &Path,
    module: Vec<String>,
    root: &Path,
) -> Result<(Source, Vec<Vec<String>>), Failure> {
    let text = std::fs::read_to_string(path)?;
    let file = syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut reader = Reader {
        source: Source {
            path: path.strip_prefix(root).unwrap_or(path).to_owned(),
            module,
            lines: text.lines().count(),
            uses: BTreeSet::new(),
            passes_on: Vec::new(),
            types: Vec::new(),
            implementations: Vec::new(),
            passed: BTreeSet::new(),
        },
        tests: Vec::new(),
    };
    reader.visit_file(&file);
    Ok((reader.source, reader.tests))
}

struct Reader {
    source: Source,
    tests: Vec<Vec<String>>,
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

impl Reader {
    /// The paths of a `use`, one for each name.
    fn take(&mut self, tree: &syn::UseTree, before: &[String], is_public: bool) {
        let with = |name: &syn::Ident| {
            before.iter().cloned().chain([name.to_string()]).collect::<Vec<String>>()
        };
        match tree {
            syn::UseTree::Path(path) => self.take(&path.tree, &with(&path.ident), is_public),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.took(before.to_vec(), before.last().cloned(), is_public);
            }
            syn::UseTree::Name(name) => {
                self.took(with(&name.ident), Some(name.ident.to_string()), is_public);
            }
            syn::UseTree::Rename(renamed) => {
                self.took(with(&renamed.ident), Some(renamed.rename.to_string()), is_public);
            }
            syn::UseTree::Glob(_) => self.took(before.to_vec(), None, is_public),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.take(tree, before, is_public);
                }
            }
        }
    }

    fn took(&mut self, path: Vec<String>, name: Option<String>, is_public: bool) {
        match name {
            Some(name) if is_public => self.source.passes_on.push((name, path)),
            _ => {
                self.source.uses.insert(path);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            let is_public = !matches!(item.vis, syn::Visibility::Inherited);
            self.take(&item.tree, &[], is_public);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_for_tests(&item.attrs) {
            let name = item.ident.to_string();
            self.tests.push(self.source.module.iter().cloned().chain([name]).collect());
        } else {
            visit::visit_item_mod(self, item);
        }
    }

    /// The visibility of an item names a module, but does not use it.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let is_of_a_crate = names.first().is_some_and(|first| {
            ["crate", "super", "self"].contains(&first.as_str()) || first.starts_with("rocelab")
        });
        if names.len() > 1 && is_of_a_crate {
            self.source.uses.insert(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !is_for_tests(&item.attrs) {
            self.source.types.push(Type::of_struct(item));
            self.source.passed.extend(Passed::held_by(item));
            visit::visit_item_struct(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_for_tests(&item.attrs) {
            self.source.implementations.extend(Implementation::of(item));
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.source.passed.extend(Passed::of(signature));
        visit::visit_signature(self, signature);
    }
}
