//! Results on standard output.

use crate::failure::Failure;
use assay_model::Problem;
use assay_report::{Extent, TerminalView};
use assay_text::wrap;
use serde::Serialize;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// Columns where the width of the terminal is not known.
const WIDTH_DEFAULT: u16 = 120;
/// Messages in fewer columns would say nothing.
const COLUMNS_MIN: usize = 40;
/// Rows where the height of the terminal is not known.
const ROWS_DEFAULT: u16 = 24;

/// Writes a line to standard error. That its reader went away (`2>&1 | head`) ends nothing that is under way.
macro_rules! say {
    ($($text:tt)+) => { $crate::output::say(format_args!($($text)+)) };
}

/// As the macro of this name.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{}", for_people(&line.to_string()));
}

/// A message in the columns of the terminal that standard error is; elsewhere, where programs may read it, as it is.
pub fn for_people(text: &str) -> String {
    message_columns().map_or_else(|| text.to_owned(), |columns| wrap::message(text, columns))
}

/// Columns of the terminal that standard error is; `COLUMNS` counts even where it is none.
fn message_columns() -> Option<usize> {
    let of_terminal = || console::Term::stderr().size_checked().map(|(_rows, columns)| columns);
    of_environment().or_else(of_terminal).map(|columns| usize::from(columns).max(COLUMNS_MIN))
}

fn of_environment() -> Option<u16> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Writes to standard output. A reader that has closed the pipe (`| head`) is not a failure.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints a text that ends its own lines.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print(|out| out.write_all(text.as_bytes()))
}

/// Says problems on standard error, where the result has no place for them.
pub fn note<'a>(problems: impl IntoIterator<Item = &'a Problem>) {
    for (about, text) in Problem::listed(problems) {
        say!("note: {about}: {text}");
    }
}

/// Prints a stored form as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::internal(e.to_string()))?;
    print(|out| writeln!(out, "{text}"))
}

/// Whether standard output is coloured: as `--color` says; without it a terminal is, unless `NO_COLOR` or `TERM=dumb` is set, and
/// everything where `CLICOLOR_FORCE` is.
pub fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Columns of standard output.
pub fn width() -> u16 {
    let of_terminal = || io::stdout().is_terminal().then(size).flatten().map(|(_rows, columns)| columns);
    of_environment().or_else(of_terminal).unwrap_or(WIDTH_DEFAULT)
}

/// Rows of the terminal, but for the last: a full screen would scroll.
pub fn rows() -> u16 {
    size().map_or(ROWS_DEFAULT, |(rows, _columns)| rows).saturating_sub(1)
}

fn size() -> Option<(u16, u16)> {
    console::Term::stdout().size_checked()
}

/// The terminal that standard output is, with so much of a result.
pub fn view(extent: Extent) -> TerminalView {
    TerminalView { width: width(), color: is_coloured(), extent }
}
