//! Areas over time on the terminal: a picture that keys change, drawn beside the thread that takes snapshots.

mod draw;
mod state;
#[cfg(test)]
mod state_tests;

use crate::failure::Failure;
use crate::output;
use crate::screen::Screen;
use assay_model::MemoryReport;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use state::{Key, KeyAction, State};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::time::Duration;

/// How long news may wait while no key is pressed.
const KEYS_WAIT: Duration = Duration::from_millis(50);

/// What the thread that takes snapshots has to say.
pub enum SnapshotMessage {
    /// A snapshot, and whether it is as deep as was asked for.
    Snapshot(Box<MemoryReport>, bool),
    /// What a trim brought, in lines.
    Trimmed(Vec<String>),
}

/// Shows news until the key for the end is pressed, `stop` is set, or nobody is left who sends any. Gives the last picture as lines.
pub fn show(
    news: &Receiver<SnapshotMessage>,
    trims: &Sender<()>,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let screen = Screen::enter_with_keys()?;
    let mut state = picture(&screen, news, trims, stop)?;
    drop(screen);
    state.end();
    Ok(draw::last_lines(&state, output::width(), output::rows()))
}

fn picture(
    screen: &Screen,
    news: &Receiver<SnapshotMessage>,
    trims: &Sender<()>,
    stop: &AtomicBool,
) -> Result<State, Failure> {
    let mut area = area_of_terminal();
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    let mut terminal = Terminal::with_options(CrosstermBackend::new(io::stdout()), options)?;
    let mut state = State::default();
    let is_coloured = output::is_coloured();
    let mut is_new = true;
    while !stop.load(Ordering::SeqCst) {
        if is_new {
            screen.while_shown(|| {
                let now = area_of_terminal();
                if now != area {
                    terminal.resize(now)?;
                    area = now;
                }
                terminal
                    .draw(|frame| draw::draw(&state, is_coloured, frame.area(), frame.buffer_mut()))
                    .map(|_| ())
            })?;
        }
        is_new = event::poll(KEYS_WAIT)?;
        if is_new {
            match event::read()?.as_key_press_event().map(|key| state.key(key_of(key))) {
                Some(KeyAction::Quit) => break,
                // Nobody to ask: the end is on its way.
                Some(KeyAction::Trim) => {
                    let _ = trims.send(());
                }
                Some(KeyAction::Nothing) | None => {}
            }
        }
        loop {
            match news.try_recv() {
                Ok(SnapshotMessage::Snapshot(snapshot, full)) => state.saw(*snapshot, full),
                Ok(SnapshotMessage::Trimmed(lines)) => state.trimmed(lines),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(state),
            }
            is_new = true;
        }
    }
    Ok(state)
}

/// Not the size that ratatui takes: a serial line, or `script(1)` without a keyboard, reports 0 by 0, and gets the usual size.
fn area_of_terminal() -> Rect {
    Rect::new(0, 0, output::width(), output::rows())
}

fn key_of(key: KeyEvent) -> Key {
    match key.code {
        // The terminal makes no signal of it while single keys are read.
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
        KeyCode::Char('q') => Key::Quit,
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::Enter => Key::Open,
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => Key::Back,
        KeyCode::Char('s') => Key::Sort,
        KeyCode::Char('p' | ' ') => Key::Pause,
        KeyCode::Char('?' | 'h') => Key::Help,
        KeyCode::Char('t') => Key::Trim,
        KeyCode::Char('y') => Key::Yes,
        _ => Key::Other,
    }
}
