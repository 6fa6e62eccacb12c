//! `rocelab man`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;

/// Arguments of `rocelab man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write the pages of all commands into this folder; without it, one page goes to standard output.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Which page goes to standard output.
    #[arg(long, value_name = "PAGE", default_value = "rocelab", conflicts_with = "folder")]
    page: String,
    /// Replace pages that exist.
    #[arg(long, requires = "folder")]
    force: bool,
}

/// A manual page.
struct Page {
    /// As it is asked for: `rocelab-pcap-decode`.
    name: String,
    /// Its text, for troff.
    text: Vec<u8>,
}

/// Prints the page that was asked for, or writes all pages of `program`.
pub(crate) fn execute(arguments: &ManArguments, program: Command) -> Result<Exit, Failure> {
    let pages = pages_of(program)?;
    match &arguments.folder {
        Some(folder) => write(&pages, folder, arguments.force)?,
        None => print(&pages, &arguments.page)?,
    }
    Ok(Exit::Done)
}

/// The pages of a program and all of its commands, each after the one that it belongs to.
fn pages_of(program: Command) -> Result<Vec<Page>, Failure> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    collect(&program, &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, pages: &mut Vec<Page>) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    Man::new(command.clone())
        .render(&mut text)
        .map_err(|error| Failure::Defect(format!("manual page {name}: {error}")))?;
    pages.push(Page { name, text });
    command.get_subcommands().try_for_each(|below| collect(below, pages))
}

fn print(pages: &[Page], name: &str) -> Result<(), Failure> {
    let Some(page) = pages.iter().find(|page| page.name == name) else {
        let known: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
        return Err(Failure::Input(format!(
            "--page = {name}: there is no such page; name one of {}",
            known.join(", ")
        )));
    };
    answer::print(&String::from_utf8_lossy(&page.text))
}

/// Writes all pages, or none if one of them exists and may not be replaced.
fn write(pages: &[Page], folder: &Path, force: bool) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Machine { path: folder.to_owned(), error })?;
    let file = |page: &Page| folder.join(format!("{}.1", page.name));
    if !force && let Some(taken) = pages.iter().map(file).find(|file| file.exists()) {
        return Err(Failure::Input(format!(
            "DIR = {}: {} exists; replace it with --force",
            folder.display(),
            taken.display()
        )));
    }
    for page in pages {
        let text = String::from_utf8_lossy(&page.text);
        new_file::write("DIR", &file(page), &text, force, &Inputs::default())?;
    }
    answer::print(&format!("{} manual pages: {}\n", pages.len(), folder.display()))
}
