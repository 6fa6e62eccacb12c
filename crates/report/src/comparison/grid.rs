//! Rows and columns of text.

/// Width up to which columns stand beside each other.
const WIDTH: usize = 110;

/// A table of texts with aligned columns: a label for each row, a head for each column. Columns that
/// do not fit beside each other follow below, with the labels again.
pub(super) fn grid(labels: &[String], heads: &[String], cells: &[Vec<String>]) -> String {
    let length = |text: &String| text.chars().count();
    let label_width = labels.iter().map(length).max().unwrap_or(0);
    let width = |column: usize| {
        let widest = cells.iter().map(|row| length(&row[column])).max().unwrap_or(0);
        widest.max(length(&heads[column]))
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut text = String::new();
    let mut from = 0;
    while from < heads.len() {
        let mut used = label_width + 2 + widths[from];
        let mut until = from + 1;
        while until < heads.len() && used + 2 + widths[until] <= WIDTH {
            used += 2 + widths[until];
            until += 1;
        }
        if from > 0 {
            text.push('\n');
        }
        let mut line = |label: &str, row: &[String]| {
            text.push_str(&format!("{label:label_width$}"));
            for (cell, width) in row[from..until].iter().zip(&widths[from..until]) {
                text.push_str(&format!("  {cell:>width$}"));
            }
            text.push('\n');
        };
        line("", heads);
        for (label, row) in labels.iter().zip(cells) {
            line(label, row);
        }
        from = until;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let (labels, heads) = (["a".to_owned(), "bb".to_owned()], ["x".repeat(60), "y".repeat(60)]);
        let cells = vec![vec!["1".to_owned(), "2".to_owned()]; 2];
        let text = grid(&labels, &heads, &cells);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 110), "{text}");
        assert!(lines[3].is_empty() && lines[5].starts_with("a "), "{text}");
    }
}
