//! Stored results as documents, each described once: [`assay_kit::document`] has the writers of its forms.
//!
//! Every function here is a pure function of what is stored: no clock, no random draw, no file. The same run
//! gives the same bytes.
//!
//! A folder for each thing that is reported on, which knows `assay_kit` and `assay_model`; those of a study and of `why` show parts of others. Each has a
//! function that makes the document and one that gives the raw numbers. Styles and the small scripts are in `web/`.

pub mod ab;
pub mod bisect;
pub mod capacity;
pub mod compare;
pub mod fit;
pub mod flags;
pub mod gc;
pub mod heap;
pub mod host;
pub mod judge;
pub mod load;
pub mod memory;
pub mod study;
pub mod time;
pub mod why;

pub use assay_kit::document::{Data, Document};
pub use assay_kit::{Extent, TerminalView};
