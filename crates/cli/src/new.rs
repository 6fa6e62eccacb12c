//! `rocelab new`.

mod templates;

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use self::templates::{TEMPLATES, Template};
use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// The name of standard output.
const STANDARD_OUTPUT: &str = "-";

/// Arguments of `rocelab new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// What the scenario is about.
    #[arg(
        value_name = "TEMPLATE",
        value_parser = PossibleValuesParser::new(TEMPLATES.iter().map(|template| {
            PossibleValue::new(template.name).help(template.about())
        })),
        required_unless_present = "list",
    )]
    template: Option<String>,
    /// Write the scenario to this file, which must not exist; - is standard output. [default: TEMPLATE.toml]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// List the templates, and write nothing.
    #[arg(long, conflicts_with_all = ["template", "file"])]
    list: bool,
}

/// Writes a scenario with comments, to begin with.
pub(crate) fn execute(arguments: &NewArguments) -> Result<Exit, Failure> {
    let named = |name: &String| TEMPLATES.iter().find(|template| template.name == name);
    let Some(template) = arguments.template.as_ref().and_then(named) else {
        answer::print(&list())?;
        return Ok(Exit::Done);
    };
    let file = arguments.file.clone();
    let file = file.unwrap_or_else(|| PathBuf::from(format!("{}.toml", template.name)));
    if file == Path::new(STANDARD_OUTPUT) {
        answer::print(&template.text_for(&file))?;
        return Ok(Exit::Done);
    }
    write(template, &file)?;
    let shown = file.display();
    let command = if template.is_sweep() { "sweep" } else { "run" };
    answer::print(&format!(
        "scenario: {shown}\n\
         run it:   rocelab {command} {shown}\n\
         editors:  rocelab schema > {} lets them complete and explain its keys\n",
        file.with_file_name(templates::SCHEMA_FILE).display(),
    ))?;
    Ok(Exit::Done)
}

/// A line for each template.
fn list() -> String {
    let width = TEMPLATES.iter().map(|template| template.name.len()).max().unwrap_or(0);
    let line = |template: &Template| format!("{:width$}  {}\n", template.name, template.about());
    TEMPLATES.iter().map(line).collect()
}

/// Writes the scenario to a file that does not exist yet: what the user wrote is never replaced.
fn write(template: &Template, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        Failure::Input(match error.kind() {
            ErrorKind::AlreadyExists => format!("FILE = {shown}: exists; name another file"),
            _ => format!("FILE = {shown}: {error}; name a file that you may write"),
        })
    })?;
    file.write_all(template.text_for(path).as_bytes())
        .map_err(|error| Failure::Machine { path: path.to_owned(), error })
}
