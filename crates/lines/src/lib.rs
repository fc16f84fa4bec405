//! Lines of logs as their program wrote them, below every reader of logs.
//!
//! | module | what is taken off |
//! | --- | --- |
//! | [`unpacked`] | gzip, zstd, xz, bzip2 |
//! | [`Encoding`], [`Decoded`] | UTF-16 |
//! | [`Prefix`] | what collectors put before each line: CRI, Docker, Compose, kubectl, journald, syslog, JSON, loggers, CloudWatch, Heroku, colours |
//!
//! This crate does not know the subject of a log: a reader says which texts it knows, and [`PrefixSearch`] finds the prefix behind which they stand.

mod encoding;
mod prefix;
mod unpack;

pub use encoding::{Decoded, Encoding};
pub use prefix::{Prefix, PrefixSearch, Stripped, take_time};
pub use unpack::{is_packed, unpacked};
