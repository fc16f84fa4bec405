//! The picture as text, on screens of two sizes; and that it fits all.

use super::super::state::{Key, State};
use super::super::state_tests::watched;
use super::*;
use crate::command::linux::memory::kafka;
use expect_test::expect_file;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn drawn(state: &State, columns: u16, rows: u16, is_coloured: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("no terminal is needed");
    terminal.draw(|frame| draw(state, is_coloured, frame.area(), frame.buffer_mut())).expect("drawn");
    terminal.backend().buffer().clone()
}

fn text(state: &State, columns: u16, rows: u16) -> String {
    lines(&drawn(state, columns, rows, false)).join("\n")
}

fn pressed(keys: &[Key]) -> State {
    let mut state = watched();
    for key in keys {
        state.key(*key);
    }
    state
}

#[test]
fn the_areas_are_the_golden_files() {
    let state = pressed(&[Key::Down, Key::Down]);
    expect_file!["golden/areas-80x24.txt"].assert_eq(&text(&state, 80, 24));
    expect_file!["golden/areas-40x12.txt"].assert_eq(&text(&state, 40, 12));
    expect_file!["golden/areas-120x24.txt"].assert_eq(&text(&state, 120, 24));
}

#[test]
fn entries_help_and_the_question_are_the_golden_files() {
    let entries = pressed(&[Key::Down, Key::Open]);
    expect_file!["golden/entries-80x24.txt"].assert_eq(&text(&entries, 80, 24));
    expect_file!["golden/entries-40x12.txt"].assert_eq(&text(&entries, 40, 12));
    expect_file!["golden/help-80x24.txt"].assert_eq(&text(&pressed(&[Key::Help]), 80, 24));
    expect_file!["golden/trim-40x12.txt"].assert_eq(&text(&pressed(&[Key::Trim]), 40, 12));
}

#[test]
fn the_chosen_area_is_shown_on_a_screen_that_has_no_room_for_all() {
    let state = pressed(&[Key::Down; 40]);
    let last = state.areas().last().expect("areas").name;
    assert!(text(&state, 40, 12).contains(last), "{}", text(&state, 40, 12));
}

#[test]
fn no_cell_has_a_colour_where_none_is_wanted() {
    let coloured = |is_coloured| {
        let cells = drawn(&watched(), 80, 24, is_coloured);
        cells.content().iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(coloured(true) && !coloured(false));
}

#[test]
fn every_size_of_a_screen_can_be_drawn() {
    let pages = [&[][..], &[Key::Down, Key::Open], &[Key::Help], &[Key::Trim]];
    for state in pages.map(pressed).iter().chain([&State::default()]) {
        for (columns, rows) in
            [(1, 1), (2, 3), (10, 4), (27, 5), (75, 9), (76, 24), (99, 30), (100, 30), (300, 90)]
        {
            drawn(state, columns, rows, true);
            assert!(last_lines(state, columns, rows).len() <= usize::from(rows));
        }
    }
}

#[test]
fn a_look_that_left_owners_out_says_so_above_the_areas() {
    let snapshot = kafka::snapshot_without_owners();
    let mut state = State::default();
    state.saw(snapshot.clone(), false);
    state.saw(snapshot, true);
    let shown = text(&state, 80, 24).replace('\n', " ");
    assert!(shown.contains("16,384.0 MiB") && shown.contains("Java heap"), "{shown}");
}

#[test]
fn a_name_of_another_process_commands_no_terminal() {
    let mut snapshot = kafka::snapshot();
    snapshot.program = "\x1b[2Jjava".to_owned();
    let mut state = State::default();
    state.saw(snapshot, false);
    assert!(!last_lines(&state, 80, 24).join("").contains('\x1b'));
}
