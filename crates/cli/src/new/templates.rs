//! The scenarios that `rocelab new` writes.

use std::path::Path;

/// The file that the first line of each template names, beside the scenario: what `rocelab schema` prints.
pub(super) const SCHEMA_FILE: &str = "rocelab.schema.json";

/// A scenario with comments.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) name: &'static str,
    text: &'static str,
}

/// A list of templates, each in a file of its name.
macro_rules! templates {
    ($($name:literal,)*) => {
        &[$(Template {
            name: $name,
            text: include_str!(concat!("../../templates/", $name, ".toml")),
        }),*]
    };
}

/// All templates, the simplest first.
pub(super) const TEMPLATES: &[Template] = templates![
    "incast",
    "websearch-leaf-spine",
    "fat-tree",
    "storage",
    "roce-v1",
    "pfc-deadlock",
    "tcp-beside-rdma",
    "sweep",
];

impl Template {
    /// What it is about, in a line: its second one, without the mark of a comment.
    pub(super) fn about(&self) -> &'static str {
        self.text.lines().nth(1).unwrap_or_default().trim_start_matches("# ")
    }

    /// Its text as the content of `file`: commands in comments name it.
    pub(super) fn text_for(&self, file: &Path) -> String {
        let name = file.to_string_lossy();
        let name = if name == "-" { "FILE" } else { &*name };
        let in_command = |line: &str| line.starts_with("# ") && line.contains("rocelab ");
        let lines = self.text.lines().map(|line| match in_command(line) {
            true => line.replace("FILE", name) + "\n",
            false => format!("{line}\n"),
        });
        lines.collect()
    }

    /// Whether it is for `rocelab sweep`.
    pub(super) fn is_sweep(&self) -> bool {
        self.text.lines().any(|line| line == "[sweep]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_template_and_begins_with_the_schema_and_what_it_is_about() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut names: Vec<_> =
            TEMPLATES.iter().map(|template| format!("{}.toml", template.name)).collect();
        files.sort();
        names.sort();
        assert_eq!(files, names);
        for Template { name, text } in TEMPLATES {
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("#:schema ./rocelab.schema.json"), "{name}");
            assert!(lines.next().is_some_and(|line| line.starts_with("# ")), "{name}");
        }
    }

    #[test]
    fn commands_in_comments_name_the_file() {
        let text = TEMPLATES[0].text_for(Path::new("mine.toml"));
        assert!(text.contains("#   rocelab run mine.toml --set"), "{text}");
        assert!(!text.contains("FILE"), "{text}");
    }
}
