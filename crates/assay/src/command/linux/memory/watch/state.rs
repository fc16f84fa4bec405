//! What the picture shows, and what a key makes of it. No terminal, no clock.

use assay_model::{Area, MemoryReport};
use assay_report::memory::{Watch, WatchEntry, WatchOrder, WatchRow};

/// A key, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// The row above, or a line up.
    Up,
    /// The row below, or a line down.
    Down,
    /// Into the chosen area.
    Open,
    /// Out of a page.
    Back,
    /// The next order of areas.
    Sort,
    /// The picture stands still, or moves again.
    Pause,
    /// What the keys are.
    Help,
    /// Freed memory is to be given back.
    Trim,
    /// Yes, to a question.
    Yes,
    /// The end.
    Quit,
    /// Any other.
    Other,
}

/// What is to be done for a key beyond another picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Nothing.
    Nothing,
    /// The end.
    Quit,
    /// Have the JVM give freed memory back.
    Trim,
}

/// A page above the table of areas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// What an area holds.
    Entries(Area),
    /// What the keys are.
    Help,
    /// Whether to trim.
    AskTrim,
    /// What a trim brought.
    Trimmed(Vec<String>),
}

/// All that the picture is made of.
#[derive(Default)]
pub struct State {
    watch: Watch,
    /// The snapshots up to the pause, while there is one. Looking goes on, so that curves have no gap afterwards.
    still: Option<Watch>,
    order: WatchOrder,
    /// An area and no row: it stays chosen where rows change places.
    chosen: Option<Area>,
    /// The last one is on top.
    pages: Vec<Page>,
    /// First line of the page on top.
    scroll: usize,
    is_trimming: bool,
}

impl State {
    /// One more snapshot; `full` says whether it is as deep as was asked for.
    pub fn saw(&mut self, snapshot: MemoryReport, full: bool) {
        self.watch.add(snapshot, full);
    }

    /// What a trim brought, or why there was none.
    pub fn trimmed(&mut self, lines: Vec<String>) {
        self.is_trimming = false;
        self.push(Page::Trimmed(lines));
    }

    /// Takes a key.
    pub fn key(&mut self, key: Key) -> KeyAction {
        match (key, self.pages.last()) {
            (Key::Quit, _) => return KeyAction::Quit,
            (Key::Yes, Some(Page::AskTrim)) => {
                self.pop();
                self.is_trimming = true;
                return KeyAction::Trim;
            }
            (Key::Pause, None | Some(Page::Entries(_))) => {
                self.still = if self.is_paused() { None } else { Some(self.watch.clone()) }
            }
            (Key::Up, Some(Page::Entries(_))) => self.scroll = self.scroll.saturating_sub(1),
            (Key::Down, Some(Page::Entries(area))) => {
                let last = self.picture().entries(*area).len().saturating_sub(1);
                self.scroll = (self.scroll + 1).min(last);
            }
            (_, Some(Page::Help | Page::AskTrim | Page::Trimmed(_))) | (Key::Back, Some(_)) => self.pop(),
            (Key::Help, _) => self.push(Page::Help),
            (Key::Trim, _) if !self.is_trimming => self.push(Page::AskTrim),
            (Key::Up, None) => self.choose(|at, _| at.map_or(0, |at| at.saturating_sub(1))),
            (Key::Down, None) => self.choose(|at, rows| at.map_or(0, |at| (at + 1).min(rows - 1))),
            (Key::Open, None) => match self.chosen {
                Some(area) => self.push(Page::Entries(area)),
                None => self.choose(|_, _| 0),
            },
            (Key::Sort, None) => {
                self.order = match self.order {
                    WatchOrder::Growth => WatchOrder::Size,
                    WatchOrder::Size => WatchOrder::Name,
                    WatchOrder::Name => WatchOrder::Growth,
                };
            }
            _ => {}
        }
        KeyAction::Nothing
    }

    /// Leaves pages that ask or explain: the last page shown is a result.
    pub fn end(&mut self) {
        self.pages.retain(|page| matches!(page, Page::Entries(_)));
    }

    /// The snapshots that are shown.
    pub fn picture(&self) -> &Watch {
        self.still.as_ref().unwrap_or(&self.watch)
    }

    /// The areas in their order.
    pub fn areas(&self) -> Vec<WatchRow> {
        self.picture().areas(self.order)
    }

    /// The entries of an area from the first line that is shown.
    pub fn entries(&self, area: Area) -> Vec<WatchEntry> {
        let all = self.picture().entries(area);
        let first = self.scroll.min(all.len().saturating_sub(1));
        all.into_iter().skip(first).collect()
    }

    /// The page on top; none where areas are shown.
    pub fn page(&self) -> Option<&Page> {
        self.pages.last()
    }

    /// The area that is chosen.
    pub fn chosen(&self) -> Option<Area> {
        self.chosen
    }

    /// How areas are ordered.
    pub fn order(&self) -> WatchOrder {
        self.order
    }

    /// Whether the picture stands still.
    pub fn is_paused(&self) -> bool {
        self.still.is_some()
    }

    /// Whether the JVM was asked to trim and has not answered.
    pub fn is_trimming(&self) -> bool {
        self.is_trimming
    }

    fn choose(&mut self, next: impl Fn(Option<usize>, usize) -> usize) {
        let areas: Vec<Option<Area>> = self.areas().iter().map(|row| row.area).collect();
        let at = self.chosen.and_then(|chosen| areas.iter().position(|area| *area == Some(chosen)));
        if !areas.is_empty() {
            self.chosen = areas[next(at, areas.len())];
        }
    }

    fn push(&mut self, page: Page) {
        self.scroll = 0;
        self.pages.push(page);
    }

    fn pop(&mut self) {
        self.scroll = 0;
        self.pages.pop();
    }
}
