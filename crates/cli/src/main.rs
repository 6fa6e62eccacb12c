//! The `rocelab` command line.

fn main() {}
