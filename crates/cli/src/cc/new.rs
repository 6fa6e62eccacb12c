//! `rocelab cc new`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `rocelab cc new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// Its name: letters, digits, `-` and `_`. A folder of this name is made here.
    #[arg(value_name = "NAME")]
    name: String,
    /// The language that it is written in.
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    lang: Language,
}

/// The languages that there is a beginning in.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    C,
    Rust,
    Wat,
}

/// A file of the new folder, and what is in it.
type NewFile = (String, String);

const RUST: &str = include_str!("../../../../guests/aimd/src/lib.rs");
const RUST_LIBRARY: &str = include_str!("../../../../guests/rocelab-cc/src/lib.rs");
const CARGO_CONFIG: &str = include_str!("../../../../guests/.cargo/config.toml");
const C: &str = include_str!("../../../../guests/c/aimd.c");
const C_HEADER: &str = include_str!("../../../../guests/c/rocelab_cc.h");
const WAT: &str = include_str!("../../../../guests/wat/aimd.wat");
/// Bytes of its metadata.
const WAT_METADATA: usize = 428;

/// Writes a folder with a congestion control that works.
pub(crate) fn execute(arguments: &NewArguments) -> Result<Exit, Failure> {
    let name = &arguments.name;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if !begins_well || name.len() > 40 || !name.bytes().all(is_part) {
        return Err(Failure::Input(format!(
            "NAME = {name}: a name has 1 to 40 letters, digits, `-` or `_`, a letter first"
        )));
    }
    let folder = PathBuf::from(name);
    fs::create_dir(&folder).map_err(|error| {
        Failure::Input(format!("{name}: cannot be made: {error}; give another name"))
    })?;
    let (files, build, module) = match arguments.lang {
        Language::C => c(name),
        Language::Rust => rust(name),
        Language::Wat => (vec![(format!("{name}.wat"), wat(name))], None, format!("{name}.wat")),
    };
    for (file, text) in files {
        write(&folder.join(file), &text)?;
    }
    let module = folder.join(module);
    let build =
        build.map(|command| format!("build it:  cd {name} && {command}\n")).unwrap_or_default();
    answer::print(&format!(
        "wrote {name}\n{build}check it:  rocelab cc check {0}\nuse it:    congestion_control.wasm = {{ path = \"{0}\" }}\n",
        module.display()
    ))?;
    Ok(Exit::Done)
}

fn c(name: &str) -> (Vec<NewFile>, Option<String>, String) {
    let own = |text: &str| {
        named(text, "\\\"name\\\": \\\"aimd\\\"", name).replace("aimd.", &format!("{name}."))
    };
    let files = vec![(format!("{name}.c"), own(C)), ("rocelab_cc.h".into(), C_HEADER.into())];
    let build = format!(
        "clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=4096 -o {name}.wasm {name}.c"
    );
    (files, Some(build), format!("{name}.wasm"))
}

fn rust(name: &str) -> (Vec<NewFile>, Option<String>, String) {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nrocelab-cc = {{ path = \"rocelab-cc\" }}\n\n[profile.release]\nlto = true\ncodegen-units = 1\n\
         panic = \"abort\"\nstrip = \"symbols\"\n\n[workspace]\n"
    );
    let library = "[package]\nname = \"rocelab-cc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let files = vec![
        ("Cargo.toml".into(), manifest),
        ("src/lib.rs".into(), named(RUST, "\"name\": \"aimd\"", name)),
        (".cargo/config.toml".into(), CARGO_CONFIG.into()),
        ("rocelab-cc/Cargo.toml".into(), library.into()),
        ("rocelab-cc/src/lib.rs".into(), RUST_LIBRARY.into()),
    ];
    let build = "rustup target add wasm32-unknown-unknown && cargo build --release".to_owned();
    let file = name.replace('-', "_");
    (files, Some(build), format!("target/wasm32-unknown-unknown/release/{file}.wasm"))
}

fn wat(name: &str) -> String {
    // The text says how long its metadata are.
    let len = WAT_METADATA + name.len() - "aimd".len();
    named(WAT, "\\\"name\\\": \\\"aimd\\\"", name)
        .replace(&format!("(i64.const {WAT_METADATA})"), &format!("(i64.const {len})"))
}

/// An example whose metadata have another name; `key` is the name as they have it.
fn named(example: &str, key: &str, name: &str) -> String {
    example.replace(key, &key.replace("aimd", name))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::Machine { path: path.to_owned(), error };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}
