//! The figures as Markdown.

use crate::figures::Figures;
use crate::steps::Case;

/// A table for a case.
pub(crate) fn markdown(case: &Case, figures: &[Figures]) -> String {
    let mut text = format!(
        "\n### {}\n\n| | mean FCT, us | to the first | mean slowdown | p50 | p99 | pauses |\n\
         |---|---|---|---|---|---|---|\n",
        case.name
    );
    for (step, of_step) in case.steps.iter().zip(figures) {
        let difference = (of_step.mean_fct / figures[0].mean_fct - 1.0) * 100.0;
        let spread = if of_step.deviation > 0.0 {
            format!(" ± {:.1}", of_step.deviation)
        } else {
            String::new()
        };
        let [mean, p50, p99] = of_step.slowdown;
        text += &format!(
            "| {}{}{} | {:.1}{spread} | {difference:+.1} % | {mean:.2} | {p50:.2} | {p99:.2} | {:.0} |\n",
            if step.aside { "*" } else { "" },
            step.says,
            if step.aside { "*" } else { "" },
            of_step.mean_fct,
            of_step.pauses,
        );
    }
    text
}
