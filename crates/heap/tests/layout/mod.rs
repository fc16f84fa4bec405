//! Object layout, held against JVMs that run, and classes from class paths.

mod class_path;
mod jdks;
mod rules;
mod truth;
