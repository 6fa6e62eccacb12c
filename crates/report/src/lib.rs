//! Results to a summary table and pictures
