//! The terminal as a screen of its own, which gives back what was there before.
//!
//! Figures that only change are lists of lines, which `assay_report` makes; a picture with keys is drawn by ratatui, and is the only one for
//! which the terminal gives single keys (raw mode). Without that, Ctrl-C and Ctrl-Z stay signals.

use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// Another screen, cleared; no cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// The cursor, and the screen of before.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Whether the terminal shows our screen. One for the program, since a program has one terminal; drawing and leaving
/// exclude each other, so that nothing is drawn on the user's own screen.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Our screen, until it is dropped or [`leave`] is called.
pub struct Screen;

impl Screen {
    /// Changes to our screen.
    pub fn enter() -> io::Result<Screen> {
        let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        write(ENTER)?;
        *shown = true;
        Ok(Screen)
    }

    /// Changes to our screen, and has the terminal give single keys: Ctrl-C is one of them then.
    pub fn enter_with_keys() -> io::Result<Screen> {
        enable_raw_mode()?;
        Screen::enter().inspect_err(|_| restore_keys())
    }

    /// Calls `draw`, unless the screen was left.
    pub fn while_shown(&self, draw: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown { draw() } else { Ok(()) }
    }

    /// Draws these lines from the top, and clears what was below. Does nothing once the screen was left.
    pub fn draw(&self, lines: &[String]) -> io::Result<()> {
        self.while_shown(|| write(&frame(lines)))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back as it was. May be called from any thread, and more than once.
pub fn leave() {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if *shown {
        *shown = false;
        restore_keys();
        // A terminal that is gone needs nothing restored.
        let _ = write(LEAVE);
    }
}

/// As the terminal gave keys before; nothing where that was not changed.
fn restore_keys() {
    // A terminal that is gone needs nothing restored.
    let _ = disable_raw_mode();
}

/// Whether standard output is a terminal that knows control sequences.
pub fn is_possible() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Whether there is a keyboard, too.
pub fn has_keys() -> bool {
    is_possible() && io::stdin().is_terminal()
}

/// Cursor to the top; each line with the rest of its row cleared; the rows below cleared.
fn frame(lines: &[String]) -> String {
    let body: Vec<String> = lines.iter().map(|line| format!("{line}\x1b[K")).collect();
    format!("\x1b[H{}\x1b[J", body.join("\r\n"))
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn a_frame_clears_what_the_one_before_left() {
        assert_eq!(frame(&["a".into(), "b".into()]), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
    }
}
