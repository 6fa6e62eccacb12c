//! Pages for a browser: one run, or a comparison of several, in one HTML file.
//!
//! Everything is computed here, in integers, and the result is small enough to be sent by mail:
//! [`ports`], [`pauses`], [`samples`] and [`resolved`] read; [`verdicts`] judge by [`rules`]; [`settings`],
//! [`pause_tree`], [`lanes`], [`map`], [`flows`], [`splits`], [`operations`], [`victims`], [`timelines`],
//! [`queue_pictures`] and [`tables`] prepare what is drawn. The scripts in `assets/js` draw it; they compute nothing
//! but positions on the screen.

mod busiest_link;
mod compare;
mod compare_groups;
mod cycles;
mod envelope;
mod fairness;
mod flows;
mod lanes;
mod latencies;
mod map;
mod marking;
mod mesh;
mod operations;
mod overview;
mod page;
mod pause_tree;
mod pauses;
mod ports;
mod queue_pictures;
mod report;
mod resolved;
mod rules;
mod sampled_ports;
mod samples;
mod settings;
mod splits;
mod tables;
mod tail_latency;
mod timelines;
mod verdicts;
mod victims;

pub use compare::compare_html;
pub use page::is_page;
pub use report::{report_html, report_html_with};
pub use settings::{ScenarioSetting, SettingDefault};
