//! Results and topologies for people: tables for a terminal, pictures for a browser.
//!
//! * [`summary_table`]: what a run did, in 80 columns.
//! * [`topology_table`]: a network's tiers, links and oversubscription.
//! * [`topology_svg`]: a network as one self-contained picture.
//! * [`report_html`]: a run as one self-contained page of figures and tables.
//! * [`HeadroomUse`]: the headroom that a run used against what was reserved.
//! * [`compare_html`], [`Comparison`]: several runs side by side, or many by group.
//! * [`run_facts`]: a run in one row of a list.
//!
//! All are pure functions from data to text: equal data gives equal bytes. There are no colours,
//! and nothing depends on the width of a terminal.

mod comparison;
mod frozen;
mod goodput;
mod headroom_use;
mod html;
mod idle_queue_pairs;
mod numbers;
mod percentiles;
mod run_facts;
mod summary_table;
mod topology_svg;
mod topology_table;

pub use comparison::{Band, Comparison, Figure, Group, Setting};
pub use frozen::frozen_text;
pub use headroom_use::{HeadroomUse, PortHeadroom};
pub use html::{
    ScenarioSetting, SettingDefault, compare_html, is_page, report_html, report_html_with,
};
pub use idle_queue_pairs::idle_queue_pair_texts;
pub use numbers::time as time_text;
pub use run_facts::{RUN_FACTS, run_facts};
pub use summary_table::summary_table;
pub use topology_svg::topology_svg;
pub use topology_table::topology_table;
