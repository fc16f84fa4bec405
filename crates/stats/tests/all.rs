//! The integration tests of this crate, linked as one program; each file is a module.

mod bisection;
mod capacity;
mod coverage;
mod fit;
mod sequential;
mod steady;
mod virtual_study;
