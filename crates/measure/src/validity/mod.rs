//! Whether a result may be believed: pure functions of windows and the observations during them.
//!
//! Bounds are of two kinds. What is a count of chances (mix, arrivals, rate sent) fails where it is out of its bound and chance
//! does not explain that: a deviation of more than [`SIGMAS`] standard deviations, which happens once in 15,000 checks, and as rarely
//! where next to nothing was expected, so that neither short windows raise false alarms nor many windows add up to one. What is a
//! measurement (lag, CPU share, errors) fails at its bound.
//!
//! A server that is asked for more than it can do answers late, drops and refuses: that is no fault but what a capacity is found
//! by. Errors, lost responses and waits for connections are therefore judged in *clear* windows only, at 90 % or less of the
//! rate that the server sustains. A server that stands still for a moment may miss every limit there, too, and then keeps as many
//! connections busy as there are: waits for one count where more arrive within the longest limit than there are connections.

mod arrivals;
mod checks;
mod drift;
mod facts;
mod generator;
mod lag;
mod mix;
mod remedy;
mod steadiness;
mod verdict;

pub use arrivals::{Gaps, gaps_of};
pub use checks::check;
pub(crate) use checks::{check_window, unknown};
pub use facts::{RunFacts, SIGMAS, WindowFacts};
pub(crate) use lag::{lag, told};
pub(crate) use steadiness::{Steadiness, drift_within_interval};
