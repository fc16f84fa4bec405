//! The pools of a chunk: threads, stacks, methods and names, by the numbers that events have of them.

use crate::Malformed;
use crate::cursor::{Cursor, Text};
use crate::frame_type::FrameType;
use crate::metadata::Types;
use crate::value::{Value, Values};
use std::collections::HashMap;
use std::sync::Arc;

/// Constants of one pool that are kept.
const CONSTANTS_MAX: usize = 4_000_000;
/// Frames of all stacks of a chunk that are kept.
const FRAMES_MAX: usize = 16_000_000;

/// A frame: method and type, by their numbers.
pub(crate) type RawFrame = (u64, u64);

/// A stack, the leaf first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawStack {
    pub(crate) frames: Vec<RawFrame>,
    pub(crate) is_cut: bool,
}

/// A thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawThread {
    pub(crate) java_name: Option<Arc<str>>,
    pub(crate) os_name: Option<Arc<str>>,
    pub(crate) os_thread_id: u64,
    pub(crate) is_virtual: bool,
}

/// The pools of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    texts: HashMap<u64, Arc<str>>,
    symbols: HashMap<u64, Arc<str>>,
    /// Name, a symbol.
    classes: HashMap<u64, u64>,
    /// Class and name.
    methods: HashMap<u64, (u64, u64)>,
    frame_types: HashMap<u64, FrameType>,
    threads: HashMap<u64, RawThread>,
    stacks: HashMap<u64, RawStack>,
    frames: usize,
    /// Whether a pool had more than is kept.
    pub(crate) is_cut: bool,
}

impl Constants {
    /// Reads an event of constants, from behind its type on.
    pub(crate) fn read(&mut self, mut cursor: Cursor<'_>, types: &Types) -> Result<(), Malformed> {
        // Start, duration, distance to the event of constants before.
        for _ in 0..3 {
            cursor.number()?;
        }
        cursor.byte()?;
        let pools = cursor.count()?;
        let mut values = Values::new(cursor, types);
        for _ in 0..pools {
            let type_id = values.cursor.number()?;
            let name = &types.of(type_id).ok_or(Malformed::NoSuchType)?.name;
            for _ in 0..values.cursor.count()? {
                let number = values.cursor.number()?;
                let value = values.of_type(type_id)?;
                self.keep(name, number, value, types);
            }
        }
        Ok(())
    }

    fn keep(&mut self, of: &str, number: u64, value: Value, types: &Types) {
        match of {
            "java.lang.String" => {
                if let Value::Text(Text::Own(text)) = value {
                    self.is_cut |= !insert(&mut self.texts, number, text.into());
                }
            }
            "jdk.types.Symbol" => {
                if let Some(text) = self.text_in(&value, "string", types) {
                    self.is_cut |= !insert(&mut self.symbols, number, text);
                }
            }
            "java.lang.Class" => {
                self.is_cut |= !insert(&mut self.classes, number, constant(&value, "name", types));
            }
            "jdk.types.Method" => {
                let method = (constant(&value, "type", types), constant(&value, "name", types));
                self.is_cut |= !insert(&mut self.methods, number, method);
            }
            "jdk.types.FrameType" => {
                if let Some(text) = self.text_in(&value, "description", types) {
                    self.is_cut |= !insert(&mut self.frame_types, number, FrameType::of(&text));
                }
            }
            "java.lang.Thread" => {
                let thread = RawThread {
                    java_name: self.text_in(&value, "javaName", types),
                    os_name: self.text_in(&value, "osName", types),
                    os_thread_id: plain(&value, "osThreadId", types),
                    is_virtual: plain(&value, "virtual", types) != 0,
                };
                self.is_cut |= !insert(&mut self.threads, number, thread);
            }
            "jdk.types.StackTrace" => self.keep_stack(number, &value, types),
            _ => {}
        }
    }

    fn keep_stack(&mut self, number: u64, value: &Value, types: &Types) {
        let Some(Value::List(frames)) = field(value, "frames", types) else { return };
        let is_cut = plain(value, "truncated", types) != 0;
        self.frames += frames.len();
        if FRAMES_MAX < self.frames {
            self.is_cut = true;
            return;
        }
        let of = |frame: &Value| (constant(frame, "method", types), constant(frame, "type", types));
        let stack = RawStack { frames: frames.iter().map(of).collect(), is_cut };
        self.is_cut |= !insert(&mut self.stacks, number, stack);
    }

    /// A text of a field, wherever it stands. Pools of strings may come behind those that use them, but not in practice: of an unknown
    /// one there is none.
    fn text_in(&self, value: &Value, name: &str, types: &Types) -> Option<Arc<str>> {
        match field(value, name, types)? {
            Value::Text(Text::Own(text)) => Some(text.as_str().into()),
            Value::Text(Text::Constant(number)) => self.texts.get(number).cloned(),
            Value::Constant(number) => self.texts.get(number).or_else(|| self.symbols.get(number)).cloned(),
            _ => None,
        }
    }

    pub(crate) fn stack(&self, number: u64) -> Option<&RawStack> {
        self.stacks.get(&number)
    }

    pub(crate) fn thread(&self, number: u64) -> Option<&RawThread> {
        self.threads.get(&number)
    }

    /// Name of a class, as the JVM writes it: `java/lang/String`.
    pub(crate) fn class(&self, number: u64) -> Option<&Arc<str>> {
        self.symbols.get(self.classes.get(&number)?)
    }

    /// Class and name of a method.
    pub(crate) fn method(&self, number: u64) -> Option<(&Arc<str>, &Arc<str>)> {
        let (class, name) = self.methods.get(&number)?;
        Some((self.class(*class)?, self.symbols.get(name)?))
    }

    pub(crate) fn frame_type(&self, number: u64) -> FrameType {
        self.frame_types.get(&number).copied().unwrap_or(FrameType::Unknown)
    }
}

/// Whether there was room for it.
fn insert<T>(pool: &mut HashMap<u64, T>, number: u64, value: T) -> bool {
    let has_room = pool.len() < CONSTANTS_MAX || pool.contains_key(&number);
    if has_room {
        pool.insert(number, value);
    }
    has_room
}

fn field<'a>(value: &'a Value, name: &str, types: &Types) -> Option<&'a Value> {
    let Value::Fields(type_id, fields) = value else { return None };
    fields.get(types.position(*type_id, name)?)
}

/// The number in a pool; 0, which is nobody's, without one.
fn constant(value: &Value, name: &str, types: &Types) -> u64 {
    match field(value, name, types) {
        Some(Value::Constant(number)) => *number,
        _ => 0,
    }
}

fn plain(value: &Value, name: &str, types: &Types) -> u64 {
    match field(value, name, types) {
        Some(Value::Number(number)) => *number,
        _ => 0,
    }
}
