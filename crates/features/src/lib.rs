//! No code: the manifest names the features that libraries are compiled with whatever crates are selected.
//!
//! Cargo compiles a library with the features that the selected crates ask for. All of them together ask for more than one of them, so
//! that `cargo test -p assay-memory` after a build of the workspace would compile thirty libraries anew, and half of our crates with
//! them. Every crate therefore has this one among its dependencies of tests, and asks for the same. The program does not: its libraries
//! have the features that it uses.
