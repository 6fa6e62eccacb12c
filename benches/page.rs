//! Parts of a documentation page that a program writes.

use std::path::Path;

use crate::text;

/// Replaces the text in the page between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
///
/// # Errors If the page cannot be read or written, or does not have these two lines.
pub fn write(page: &Path, name: &str, content: &str) -> Result<(), String> {
    let replaced = replaced(&text(page)?, name, content)
        .ok_or_else(|| format!("{}: no place for `{name}`", page.display()))?;
    std::fs::write(page, replaced).map_err(|error| format!("{}: {error}", page.display()))
}

fn replaced(page: &str, name: &str, content: &str) -> Option<String> {
    let [begin, end] = ["begin", "end"].map(|mark| format!("<!-- {name}: {mark} -->\n"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{}\n{end}{after}", content.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = |content| {
            let other = "<!-- b: begin -->\nstays\n<!-- b: end -->\n";
            format!("one\n{other}<!-- a: begin -->\n{content}\n<!-- a: end -->\ntwo\n")
        };
        assert_eq!(replaced(&page("old"), "a", "| new |\n\n"), Some(page("| new |")));
        assert_eq!(replaced(&page("old"), "c", ""), None);
    }
}
