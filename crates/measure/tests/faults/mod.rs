//! Measuring in virtual time: injected faults are all called, clean runs are not, and pauses are named as the cause.

mod changing;
mod search;
mod simulated;
mod warm_up;
mod windows;
