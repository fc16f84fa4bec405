//! Blocks to hosts: each host has one at a time, and a block that fails goes to another host.

use crate::conversation::{Reported, Sent, converse};
use crate::engine::{Place, Reuse, Slots};
use crate::error::{Fault, PlaceError};
use crate::message::Task;
use assay_model::{Plan, RunEvent};
use std::collections::VecDeque;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Attempts for a block, each on another host if there is one.
const ATTEMPTS_MAX: u32 = 3;
/// A host that fails so often without a complete block is left out.
const FAILURES_MAX: u32 = 2;
/// How often an idle slot looks for a block that came back.
const LOOK: Duration = Duration::from_millis(200);

/// A study for hosts.
#[derive(Debug, Clone)]
pub struct Work {
    /// Where its blocks are made.
    pub place: Place,
    /// Assay on the hosts.
    pub program: String,
    /// The task, whose blocks are filled in.
    pub task: Task,
    /// The folder of the study file.
    pub folder: PathBuf,
    /// The study file and the files that it needs, relative to the folder.
    pub files: Vec<PathBuf>,
}

/// Something that happened on a host.
#[derive(Debug)]
pub enum Happened {
    /// The engine has no host for a task yet.
    Waits {
        /// The slot of the engine.
        slot: String,
        /// Why.
        why: String,
    },
    /// A host makes a block.
    Began {
        /// Its own name.
        host: String,
        /// The block.
        block: u32,
    },
    /// An event of the run.
    Event(Box<RunEvent>),
    /// A block is complete.
    Ended {
        /// The block.
        block: u32,
    },
    /// A block failed there.
    Failed {
        /// The host, or the slot of the engine.
        slot: String,
        /// The block.
        block: u32,
        /// Why.
        why: String,
        /// Whether another host makes it.
        is_tried_again: bool,
    },
    /// A host is left out from now on.
    LeftOut {
        /// The host.
        slot: String,
    },
}

/// The plan of a study on a host, or why it has none there.
#[derive(Debug)]
pub struct HostPlan {
    /// The host, or the slot of the engine.
    pub slot: String,
    /// The plan, or the reason.
    pub plan: Result<Plan, String>,
}

/// Checks the place, and asks each host for its plan of the study. An engine that chooses the hosts is asked for one.
///
/// # Errors
/// A place that cannot be used; Ctrl-C; a mistake of the task itself.
pub fn plans(
    work: &mut Work,
    stop: &AtomicBool,
    on: &mut dyn FnMut(Happened),
) -> Result<Vec<HostPlan>, PlaceError> {
    work.place.prepare(work.task.allow_host_changes)?;
    let work = &*work;
    let slots = work.slots(1)?;
    let slots = &*slots;
    let (happened, events) = channel();
    let asked = thread::scope(|scope| {
        let ask = |(slot, name): (usize, &String)| {
            let (name, happened) = (name.clone(), happened.clone());
            scope.spawn(move || (plan_of(work, (slots, slot), stop, &happened), name))
        };
        let threads: Vec<_> = slots.names().iter().enumerate().map(ask).collect();
        drop(happened);
        events.iter().for_each(on);
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
    });
    let one = |(plan, slot): (Result<Plan, Fault>, String)| match plan {
        Ok(plan) => Ok(HostPlan { slot, plan: Ok(plan) }),
        Err(Fault::Host(why)) => Ok(HostPlan { slot, plan: Err(why) }),
        Err(Fault::Task(why)) => Err(PlaceError::Input(format!("{slot}: {why}"))),
        Err(Fault::Stopped) => Err(PlaceError::Stopped),
    };
    asked.into_iter().map(one).collect()
}

fn plan_of(
    work: &Work,
    (slots, slot): (&dyn Slots, usize),
    stop: &AtomicBool,
    happened: &Sender<Happened>,
) -> Result<Plan, Fault> {
    let mut planned = None;
    let sent = work.sent(Vec::new());
    let nowhere = Path::new("/nonexistent");
    converse((slots, slot), &sent, nowhere, stop, &mut |reported| match reported {
        Reported::Plan(plan) => planned = Some(*plan),
        Reported::Waits(why) => {
            let _ = happened.send(Happened::Waits { slot: slots.names()[slot].clone(), why });
        }
        Reported::Greeted(_) | Reported::Event(_) => {}
    })?;
    planned.ok_or_else(|| Fault::Host("the worker sent no plan".to_owned()))
}

/// Has hosts make blocks, and returns the run directory of each, in folders of `into`. Blocks that it already has are kept.
///
/// # Errors
/// Ctrl-C, and hosts or blocks that fail again and again. Complete blocks stay in `into`.
pub fn make_blocks(
    work: &Work,
    blocks: &[u32],
    into: &Path,
    stop: &AtomicBool,
    on: &mut dyn FnMut(Happened),
) -> Result<Vec<PathBuf>, PlaceError> {
    DirBuilder::new().recursive(true).mode(0o700).create(into)?;
    let missing: Vec<u32> =
        blocks.iter().copied().filter(|block| !folder_of(into, *block).is_dir()).collect();
    let state = Mutex::new(State::of(&missing));
    let slots = work.slots(missing.len())?;
    let (happened, events) = channel();
    thread::scope(|scope| {
        for (number, name) in slots.names().iter().enumerate() {
            let slots = &*slots;
            let slot =
                Slot { work, slots, number, name, into, state: &state, stop, happened: happened.clone() };
            scope.spawn(move || slot.work_off());
        }
        drop(happened);
        events.iter().for_each(on);
    });
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(why) = state.wrong {
        return Err(PlaceError::Input(why));
    }
    if stop.load(Ordering::SeqCst) {
        return Err(PlaceError::Stopped);
    }
    if !state.is_done() {
        let waiting: Vec<String> = state.left().iter().map(u32::to_string).collect();
        let last = state.last_failure.unwrap_or_else(|| "no host is left".to_owned());
        return Err(PlaceError::Hosts(format!(
            "blocks {} could not be made; the last failure: {last}",
            waiting.join(",")
        )));
    }
    Ok(blocks.iter().map(|block| folder_of(into, *block)).collect())
}

fn folder_of(into: &Path, block: u32) -> PathBuf {
    into.join(format!("block-{block}"))
}

impl Work {
    fn slots(&self, tasks: usize) -> Result<Box<dyn Slots>, PlaceError> {
        self.place.slots(tasks, &self.program, self.task.allow_host_changes)
    }

    fn sent(&self, blocks: Vec<u32>) -> Sent<'_> {
        let task = Task { blocks, ..self.task.clone() };
        Sent { task, folder: &self.folder, files: &self.files }
    }
}

/// What all slots share.
#[derive(Debug)]
struct State {
    /// Blocks that wait for a host, with the attempts so far and the slot of the last one.
    waiting: VecDeque<(u32, u32, String)>,
    /// Blocks that are being made.
    making: Vec<u32>,
    /// Blocks that failed too often.
    given_up: Vec<u32>,
    /// A mistake of the task: nothing more begins.
    wrong: Option<String>,
    last_failure: Option<String>,
}

impl State {
    fn of(blocks: &[u32]) -> State {
        let waiting = blocks.iter().map(|block| (*block, 0, String::new())).collect();
        State { waiting, making: Vec::new(), given_up: Vec::new(), wrong: None, last_failure: None }
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.given_up.is_empty()
    }

    fn left(&self) -> Vec<u32> {
        let mut left: Vec<u32> =
            self.waiting.iter().map(|(block, ..)| *block).chain(self.given_up.clone()).collect();
        left.sort_unstable();
        left
    }

    /// The next block for a slot: one that it has not just failed at, if there is any.
    fn next(&mut self, slot: &str) -> Option<(u32, u32)> {
        let other = self.waiting.iter().position(|(_, _, last)| last != slot);
        let (block, attempts, _) = self.waiting.remove(other.unwrap_or(0))?;
        self.making.push(block);
        Some((block, attempts + 1))
    }
}

/// A host, or a request to the engine, that works off blocks.
struct Slot<'a> {
    work: &'a Work,
    slots: &'a dyn Slots,
    number: usize,
    name: &'a str,
    into: &'a Path,
    state: &'a Mutex<State>,
    stop: &'a AtomicBool,
    happened: Sender<Happened>,
}

impl Slot<'_> {
    fn work_off(&self) {
        let reuse = self.slots.reuse();
        let failures_max = if reuse == Reuse::Once { ATTEMPTS_MAX } else { FAILURES_MAX };
        let mut failures = 0;
        while failures < failures_max {
            let Some(next) = self.wait_for_block() else { return };
            let (block, attempts) = next;
            let made = self.make(block);
            let mut state = self.state();
            state.making.retain(|making| *making != block);
            match made {
                Ok(()) => {
                    failures = 0;
                    self.tell(Happened::Ended { block });
                    if reuse == Reuse::Once {
                        return;
                    }
                }
                Err(Fault::Stopped) => state.waiting.push_back((block, attempts, self.name.to_owned())),
                Err(Fault::Task(why)) => {
                    state.waiting.push_back((block, attempts, self.name.to_owned()));
                    state.wrong.get_or_insert(format!("{}: {why}", self.name));
                }
                Err(Fault::Host(why)) => {
                    failures += 1;
                    let is_tried_again = attempts < ATTEMPTS_MAX;
                    state.last_failure = Some(format!("{}: {why}", self.name));
                    if is_tried_again {
                        state.waiting.push_back((block, attempts, self.name.to_owned()));
                    } else {
                        state.given_up.push(block);
                    }
                    self.tell(Happened::Failed { slot: self.name.to_owned(), block, why, is_tried_again });
                }
            }
        }
        if reuse == Reuse::Host {
            self.tell(Happened::LeftOut { slot: self.name.to_owned() });
        }
    }

    /// A block that waits. While others are being made, one may come back.
    fn wait_for_block(&self) -> Option<(u32, u32)> {
        loop {
            {
                let mut state = self.state();
                let is_over = state.wrong.is_some() || self.stop.load(Ordering::SeqCst);
                if is_over {
                    return None;
                }
                if let Some(next) = state.next(self.name) {
                    return Some(next);
                }
                if state.making.is_empty() {
                    return None;
                }
            }
            thread::sleep(LOOK);
        }
    }

    /// Makes a block; its folder appears when it is complete.
    fn make(&self, block: u32) -> Result<(), Fault> {
        let of_file = |e: std::io::Error| Fault::Task(format!("{}: {e}", self.into.display()));
        let unfinished = self.into.join(format!(".block-{block}"));
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(of_file)?;
        }
        DirBuilder::new().mode(0o700).create(&unfinished).map_err(of_file)?;
        let worker = (self.slots, self.number);
        let made = converse(worker, &self.work.sent(vec![block]), &unfinished, self.stop, &mut |reported| {
            match reported {
                Reported::Waits(why) => self.tell(Happened::Waits { slot: self.name.to_owned(), why }),
                Reported::Greeted(host) => self.tell(Happened::Began { host, block }),
                Reported::Event(event) => self.tell(Happened::Event(event)),
                Reported::Plan(_) => {}
            }
        });
        match made {
            Ok(()) => fs::rename(&unfinished, folder_of(self.into, block)).map_err(of_file),
            Err(fault) => {
                let _ = fs::remove_dir_all(&unfinished);
                Err(fault)
            }
        }
    }

    fn tell(&self, happened: Happened) {
        // Nobody listens any more only when this program ends.
        let _ = self.happened.send(happened);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
