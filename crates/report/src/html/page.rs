//! Puts template, style, scripts and data into one file that loads nothing else.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use super::overview::Overview;

const TEMPLATE: &str = include_str!("../../assets/page.html");
/// Vendored: see `assets/README.md`.
const UPLOT_JS: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
const STYLE: &str = include_str!("../../assets/report.css");

/// The scripts of every page, in this order, as one function.
const SCRIPTS: [&str; 20] = [
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/format.js"),
    include_str!("../../assets/js/theme.js"),
    include_str!("../../assets/js/figure.js"),
    include_str!("../../assets/js/print.js"),
    include_str!("../../assets/js/chart.js"),
    include_str!("../../assets/js/chart_picker.js"),
    include_str!("../../assets/js/chart_tooltip.js"),
    include_str!("../../assets/js/chart_svg.js"),
    include_str!("../../assets/js/chart_csv.js"),
    include_str!("../../assets/js/table.js"),
    include_str!("../../assets/js/flow_details.js"),
    include_str!("../../assets/js/splits.js"),
    include_str!("../../assets/js/operations.js"),
    include_str!("../../assets/js/map.js"),
    include_str!("../../assets/js/pauses.js"),
    include_str!("../../assets/js/compare_groups.js"),
    include_str!("../../assets/js/heat_map.js"),
    include_str!("../../assets/js/mesh.js"),
    include_str!("../../assets/js/main.js"),
];

/// One run, or one column of a comparison, as the template shows it without scripts.
#[derive(Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) overview: Overview,
}

/// The whole file. `data` is for the scripts.
pub(crate) fn page(title: &str, columns: &[Column], data: &impl Serialize) -> String {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat());
    let page = templates.add_template("page", TEMPLATE).and_then(|()| {
        templates.get_template("page")?.render(context! {
            title,
            columns => Serde(columns),
            version => env!("CARGO_PKG_VERSION"),
            style => format!("{UPLOT_CSS}\n{STYLE}"),
            library => UPLOT_JS,
            script,
            data => json_in_html(data),
        })
    });
    // The template is a part of the program, so an error here is a defect of the program; a test
    // renders it.
    page.unwrap_or_else(|error| format!("<!DOCTYPE html><title>defect</title><p>{error}"))
}

/// Whether the beginning of a file is that of a page that this program made.
pub fn is_page(beginning: &str) -> bool {
    let is_ours = beginning.contains("<meta name=\"generator\" content=\"rocelab ");
    beginning.starts_with("<!DOCTYPE html>") && is_ours
}

/// JSON that is safe inside HTML: `<` is escaped, because it could begin `</script>` or `<!--`.
fn json_in_html(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_the_script() {
        let json = json_in_html(&["</script><script>alert(1)</script>", "<!--"]);
        assert!(!json.contains('<'), "{json}");
        let back: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, ["</script><script>alert(1)</script>", "<!--"]);
    }

    #[test]
    fn scripts_of_ours_and_others_end_where_they_should() {
        for script in SCRIPTS.iter().chain([&UPLOT_JS]) {
            assert!(!script.to_ascii_lowercase().contains("</script"));
            assert!(!script.contains("<!--"));
        }
        assert!(!format!("{UPLOT_CSS}{STYLE}").to_ascii_lowercase().contains("</style"));
    }
}
