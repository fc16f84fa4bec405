//! The terminal as a screen of its own, which gives back what was there before.
//!
//! A layout engine (ratatui) was weighed and left out: the view is a list of lines that `assay_report` makes and tests
//! as text; what is needed of a terminal is its size and five control sequences, which every terminal since the VT220
//! and xterm knows. The terminal is not put into raw mode, so Ctrl-C and Ctrl-Z stay signals, and there is no mode to
//! restore but the screen and the cursor.

use std::io::{self, Write};
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

    /// Draws these lines from the top, and clears what was below. Does nothing once the screen was left.
    pub fn draw(&self, lines: &[String]) -> io::Result<()> {
        let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown { write(&frame(lines)) } else { Ok(()) }
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
        // A terminal that is gone needs nothing restored.
        let _ = write(LEAVE);
    }
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
