//! What a recording says: stacks with their sums, by event.

use crate::constants::{Constants, RawThread};
use crate::event::Event;
use crate::frame_type::FrameType;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most distinct stacks of an event; events beyond them count in the sums alone.
const STACKS_MAX: usize = 200_000;

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Class, as people write it: `java.lang.String`.
    pub class: Arc<str>,
    /// Method.
    pub method: Arc<str>,
    /// How it ran.
    pub frame_type: FrameType,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordedThread {
    /// Java name, else the kernel's, else empty.
    pub name: Arc<str>,
    /// The kernel's number of it in the JVM's own PID namespace; absent for virtual threads.
    pub os_thread_id: Option<u32>,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

/// A stack that events had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Number in [`EventStacks::threads`].
    pub thread: u32,
    /// Class of the allocated object, as people write it.
    pub allocated: Option<Arc<str>>,
    /// Numbers in [`EventStacks::frames`], the leaf first; empty where the event had none.
    pub frames: Vec<u32>,
    /// Events.
    pub events: u64,
    /// Bytes that these stand for; 0 for samples of time.
    pub bytes: u64,
}

/// All of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventStacks {
    /// Events.
    pub events: u64,
    /// Bytes that these stand for; 0 for samples of time.
    pub bytes: u64,
    /// Of the events, those without a stack.
    pub without_stack: u64,
    /// Of the events, those whose stack the recorder has cut (`stackdepth`).
    pub cut: u64,
    /// Frames by number.
    pub frames: Vec<Frame>,
    /// Threads by number.
    pub threads: Vec<RecordedThread>,
    /// Stacks, in no order; bounded.
    pub stacks: Vec<Stack>,
}

/// What a recording says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Chunks that were read.
    pub chunks: u64,
    /// Start of the first chunk, nanoseconds since 1970.
    pub started_ns: u64,
    /// Sum of the chunks' durations.
    pub duration_ns: u64,
    /// Stacks by event.
    pub events: BTreeMap<Event, EventStacks>,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// One event, by numbers of its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RawEvent {
    pub(crate) event: Event,
    pub(crate) thread: u64,
    pub(crate) stack: u64,
    pub(crate) class: u64,
}

/// Events of a chunk: how many, and bytes.
pub(crate) type RawSums = HashMap<RawEvent, (u64, u64)>;

/// Frames by the numbers of their method and frame type in a chunk; none where the chunk does not name the method.
type FramesById = HashMap<(u64, u64), Option<Frame>>;

/// Event, thread, class and frames of a stack.
type StackKey = (Event, u32, Option<Arc<str>>, Vec<u32>);

/// Numbers of what was met before, across chunks.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    frames: HashMap<(Event, Frame), u32>,
    threads: HashMap<(Event, RecordedThread), u32>,
    stacks: HashMap<StackKey, usize>,
}

impl Profile {
    /// Adds a chunk.
    pub(crate) fn add(&mut self, sums: &RawSums, constants: &Constants, numbers: &mut Numbers) {
        // Frames of a method are asked for again and again.
        let mut frames = FramesById::new();
        for (raw, (events, bytes)) in sums {
            let of = self.events.entry(raw.event).or_default();
            of.events += events;
            of.bytes = of.bytes.saturating_add(*bytes);
            let stack = constants.stack(raw.stack).filter(|stack| !stack.frames.is_empty());
            of.without_stack += if stack.is_none() { *events } else { 0 };
            of.cut += if stack.is_some_and(|stack| stack.is_cut) { *events } else { 0 };
            let known = stack.into_iter().flat_map(|stack| &stack.frames).filter_map(|frame| {
                frames.entry(*frame).or_insert_with(|| frame_of(*frame, constants)).clone()
            });
            let known = known.map(|frame| {
                *numbers.frames.entry((raw.event, frame)).or_insert_with_key(|(_, frame)| {
                    of.frames.push(frame.clone());
                    number(of.frames.len())
                })
            });
            let known: Vec<u32> = known.collect();
            let thread = thread_of(constants.thread(raw.thread));
            let thread = *numbers.threads.entry((raw.event, thread)).or_insert_with_key(|(_, thread)| {
                of.threads.push(thread.clone());
                number(of.threads.len())
            });
            let allocated = constants.class(raw.class).map(|class| readable(class));
            let next = of.stacks.len();
            let key = (raw.event, thread, allocated, known);
            let index = match numbers.stacks.get(&key) {
                Some(index) => *index,
                None if STACKS_MAX <= next => continue,
                None => {
                    let (_, thread, allocated, frames) = key.clone();
                    of.stacks.push(Stack { thread, allocated, frames, events: 0, bytes: 0 });
                    numbers.stacks.insert(key, next);
                    next
                }
            };
            if let Some(stack) = of.stacks.get_mut(index) {
                stack.events += events;
                stack.bytes = stack.bytes.saturating_add(*bytes);
            }
        }
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length.saturating_sub(1)).unwrap_or(u32::MAX)
}

fn frame_of((method, frame_type): (u64, u64), constants: &Constants) -> Option<Frame> {
    let (class, method) = constants.method(method)?;
    let frame_type = constants.frame_type(frame_type);
    Some(Frame { class: readable(class), method: Arc::clone(method), frame_type })
}

/// A class as people write it. A hidden class has an address behind `+` or `/` (`Shop$$Lambda+0x00007f3c/0x0000000800c03000`): that is
/// left, and its last `/` with it.
fn readable(class: &str) -> Arc<str> {
    let hidden = class.find("+0x").or_else(|| class.find("/0x")).unwrap_or(class.len());
    let (name, address) = class.split_at(hidden);
    (name.replace('/', ".") + address).into()
}

fn thread_of(thread: Option<&RawThread>) -> RecordedThread {
    let name = thread.and_then(|thread| {
        let java = thread.java_name.clone().filter(|name| !name.is_empty());
        java.or_else(|| thread.os_name.clone())
    });
    let is_virtual = thread.is_some_and(|thread| thread.is_virtual);
    let id = thread.and_then(|thread| u32::try_from(thread.os_thread_id).ok());
    RecordedThread {
        name: name.unwrap_or_else(|| "".into()),
        os_thread_id: id.filter(|id| *id != 0 && !is_virtual),
        is_virtual,
    }
}
