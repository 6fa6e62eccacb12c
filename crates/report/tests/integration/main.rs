//! Tables and pages from outside: as text, as files, and as a browser shows them.

#[cfg(unix)]
mod browser;
mod example;
mod pages;
mod tables;
