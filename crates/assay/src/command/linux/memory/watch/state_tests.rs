//! Keys change the state, and nothing else does what they ask for.

use super::state::{Key, KeyAction, Page, State};
use crate::command::linux::memory::kafka;
use assay_model::Area;
use assay_report::memory::WatchOrder;

/// After ten minutes of quick snapshots and some full ones.
pub fn watched() -> State {
    let mut state = State::default();
    for (index, snapshot) in kafka::snapshots().into_iter().enumerate() {
        state.saw(snapshot.clone(), false);
        if index % 8 == 0 {
            state.saw(snapshot, true);
        }
    }
    state
}

fn press(state: &mut State, keys: &[Key]) -> KeyAction {
    keys.iter().map(|key| state.key(*key)).last().unwrap_or(KeyAction::Nothing)
}

#[test]
fn the_end_is_asked_for_on_every_page() {
    for keys in [&[][..], &[Key::Help], &[Key::Down, Key::Open], &[Key::Trim]] {
        let mut state = watched();
        press(&mut state, keys);
        assert_eq!(state.key(Key::Quit), KeyAction::Quit, "{keys:?}");
    }
}

#[test]
fn a_chosen_area_stays_chosen_in_every_order_and_the_ends_of_the_table_hold() {
    let mut state = watched();
    assert_eq!(state.chosen(), None);
    press(&mut state, &[Key::Down, Key::Up, Key::Up]);
    assert_eq!(state.chosen(), Some(Area::Buffers), "what grows fastest is on top");
    press(&mut state, &[Key::Down, Key::Sort]);
    assert_eq!((state.chosen(), state.order()), (Some(Area::JavaHeap), WatchOrder::Size));
    assert_eq!(state.areas()[0].area, Some(Area::JavaHeap));
    press(&mut state, &[Key::Sort, Key::Sort]);
    assert_eq!((state.chosen(), state.order()), (Some(Area::JavaHeap), WatchOrder::Growth));
    press(&mut state, &[Key::Down; 40]);
    assert_eq!(state.chosen(), state.areas().last().and_then(|row| row.area));
}

#[test]
fn an_area_opens_scrolls_as_far_as_it_has_entries_and_closes() {
    let mut state = watched();
    press(&mut state, &[Key::Open]);
    assert_eq!((state.chosen(), state.page()), (Some(Area::Buffers), None), "nothing was chosen: it chooses");
    press(&mut state, &[Key::Open]);
    assert_eq!(state.page(), Some(&Page::Entries(Area::Buffers)));
    let all = state.entries(Area::Buffers);
    press(&mut state, &[Key::Down; 99]);
    assert_eq!(state.entries(Area::Buffers), all[all.len() - 1..]);
    press(&mut state, &[Key::Up; 99]);
    assert_eq!(state.entries(Area::Buffers), all);
    press(&mut state, &[Key::Back]);
    assert_eq!(state.page(), None);
}

#[test]
fn help_closes_with_any_key_and_gives_the_page_below_back() {
    let mut state = watched();
    press(&mut state, &[Key::Down, Key::Open, Key::Help, Key::Other]);
    assert_eq!(state.page(), Some(&Page::Entries(Area::Buffers)));
}

#[test]
fn a_pause_keeps_the_picture_and_none_of_the_looks_meanwhile_is_lost() {
    let mut state = watched();
    let (snapshots, next) = (state.picture().snapshots(), kafka::snapshot());
    press(&mut state, &[Key::Pause]);
    state.saw(next, false);
    assert!(state.is_paused() && state.picture().snapshots() == snapshots);
    press(&mut state, &[Key::Pause]);
    assert!(!state.is_paused() && state.picture().snapshots() == snapshots + 1);
}

#[test]
fn nothing_is_trimmed_without_a_yes_to_the_question_and_not_twice_at_once() {
    let mut state = watched();
    assert_eq!(press(&mut state, &[Key::Yes, Key::Trim, Key::Other, Key::Yes]), KeyAction::Nothing);
    assert_eq!(press(&mut state, &[Key::Trim, Key::Open]), KeyAction::Nothing, "Enter does not confirm");
    assert_eq!((state.page(), state.is_trimming()), (None, false));
    assert_eq!(press(&mut state, &[Key::Trim, Key::Yes]), KeyAction::Trim);
    assert!(state.is_trimming());
    assert_eq!(press(&mut state, &[Key::Trim, Key::Yes]), KeyAction::Nothing);
    state.trimmed(vec!["RSS 2 MiB → 1 MiB".to_owned()]);
    assert!(matches!(state.page(), Some(Page::Trimmed(_))) && !state.is_trimming());
    state.end();
    assert_eq!(state.page(), None, "what is left on the terminal is the picture");
}

#[test]
fn keys_before_the_first_look_change_nothing_that_is_shown() {
    let mut state = State::default();
    press(&mut state, &[Key::Up, Key::Down, Key::Open, Key::Sort, Key::Back, Key::Other]);
    assert_eq!((state.chosen(), state.page()), (None, None));
}
