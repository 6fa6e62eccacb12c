//! The folder of a sweep that was carried out.

use std::path::{Path, PathBuf};

/// The results directories of those points of the sweep in `folder` that are done, in the order of their
/// numbers; `None` if it is no folder of a sweep.
pub fn done_points(folder: &Path) -> Option<Vec<PathBuf>> {
    let is_results = |path: &Path| path.join("summary.json").is_file();
    if is_results(folder) {
        return None;
    }
    let entries = std::fs::read_dir(folder.join("points")).ok()?;
    let number =
        |name: &str| name.parse::<usize>().ok().filter(|number| number.to_string() == name);
    let mut points: Vec<(usize, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())))
        .filter(|(_, path)| is_results(path))
        .collect();
    points.sort();
    Some(points.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(done_points(folder.path()), None);
        for name in ["10", "9", "007", "open", "11"] {
            std::fs::create_dir_all(folder.path().join("points").join(name)).unwrap();
            if name != "11" {
                let summary = folder.path().join("points").join(name).join("summary.json");
                std::fs::write(summary, "{}").unwrap();
            }
        }
        let expected = ["9", "10"].map(|name| folder.path().join("points").join(name));
        assert_eq!(done_points(folder.path()), Some(expected.to_vec()));
    }
}
