//! Results on standard output.

use crate::failure::Failure;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Columns where the width of the terminal is not known.
const WIDTH_DEFAULT: u16 = 120;

/// Writes to standard output. A reader that went away (`| head`) is no failure.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::environment(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints a stored form as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::internal(e.to_string()))?;
    print(|out| writeln!(out, "{text}"))
}

/// Whether standard output may be coloured: a terminal, and the user did not set `NO_COLOR` (no-color.org).
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Columns of standard output.
pub fn width() -> u16 {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.or_else(|| terminal_columns(io::stdout().is_terminal())).unwrap_or(WIDTH_DEFAULT)
}

fn terminal_columns(is_terminal: bool) -> Option<u16> {
    is_terminal.then(|| console::Term::stdout().size_checked().map(|(_rows, columns)| columns)).flatten()
}
