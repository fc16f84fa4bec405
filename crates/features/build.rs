//! Does nothing: without a build script Cargo would leave out the dependencies of builds, which are those of macros.

fn main() {}
