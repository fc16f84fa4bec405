//! Free objects: in the list of their span, in the central cache, or in the cache of a thread.
//!
//! All are lists through the first word of the objects (gperftools 2.10, `linked_list.h`). Each object that a list names
//! must lie at the start of an object of a span of that very class, and in no list before: user data that is taken for a
//! list by mistake, or a list that a thread changes meanwhile, is noticed by that.

use super::size_class::SizeClass;
use super::span::Span;
use crate::BlockState;
use crate::word_reader::WordReader;
use std::ops::Range;

/// Room for lists of objects in the central cache, for each class.
const CENTRAL_SLOTS: u64 = 64;
/// Where the central cache of a class has its slots: behind a lock, the class, two dummy spans and two counters.
const CENTRAL_SLOTS_AT: u64 = 128;
/// Where it has the number of slots in use, then the number it may use now, then the largest such number.
const CENTRAL_USED_AT: u64 = CENTRAL_SLOTS_AT + CENTRAL_SLOTS * 16;
/// Bytes of the central cache of one class: the above, rounded up to lines of 64 bytes.
const CENTRAL_BYTES: u64 = (CENTRAL_USED_AT + 12).next_multiple_of(64);
/// Bytes of a list in a thread's cache: head, length and three more figures, bytes of its objects.
const THREAD_LIST_BYTES: u64 = 32;
/// Where a list in a thread's cache has the bytes of its objects.
const THREAD_LIST_SIZE_AT: u64 = 24;
/// Lists in a thread's cache for which there is room.
const THREAD_LISTS: u64 = 128;
/// Words behind the lists in which the links between the caches of threads lie.
const THREAD_TAIL_WORDS: u64 = 64;
/// Bytes of a thread's cache that are known to be its.
pub(super) const THREAD_BYTES: u64 = THREAD_LISTS * THREAD_LIST_BYTES;
/// Objects whose states are kept, four in a byte.
const OBJECTS_MAX: usize = 64 << 20;
/// Caches of threads that are read.
const THREADS_MAX: usize = 1 << 20;

/// State of every object of every span that is divided into objects.
pub(super) struct Objects<'a> {
    spans: &'a [Span],
    classes: &'a [SizeClass],
    /// Index of the first object of each span, and the end.
    first: Vec<usize>,
    /// Two bits for each object.
    states: Vec<u8>,
    /// Lists that ended otherwise than they should.
    pub broken_lists: u64,
}

impl<'a> Objects<'a> {
    /// All objects in use, until a list says otherwise.
    pub fn new(spans: &'a [Span], classes: &'a [SizeClass], page_shift: u32) -> Self {
        let mut first = vec![0];
        let mut count = 0;
        for span in spans {
            let objects = objects_of(span, classes, page_shift) as usize;
            // Spans for whose objects there is no room stay whole.
            count += if count + objects <= OBJECTS_MAX { objects } else { 0 };
            first.push(count);
        }
        let states = vec![0; count.div_ceil(4)];
        Objects { spans, classes, first, states, broken_lists: 0 }
    }

    /// Into how many objects a span is cut.
    pub fn count(&self, span: usize) -> usize {
        self.first[span + 1] - self.first[span]
    }

    /// The states of a span's objects.
    pub fn states(&self, span: usize) -> impl Iterator<Item = BlockState> + '_ {
        (self.first[span]..self.first[span + 1]).map(|object| self.state(object))
    }

    fn state(&self, object: usize) -> BlockState {
        match self.states[object / 4] >> (object % 4 * 2) & 3 {
            0 => BlockState::Used,
            1 => BlockState::Binned,
            _ => BlockState::ThreadCache,
        }
    }

    fn set_state(&mut self, object: usize, state: BlockState) {
        let number = match state {
            BlockState::Used => 0,
            BlockState::ThreadCache => 2,
            BlockState::Binned | BlockState::Fast | BlockState::Top => 1,
        };
        let shift = object % 4 * 2;
        let four = &mut self.states[object / 4];
        *four = *four & !(3 << shift) | number << shift;
    }

    /// Bytes of an object of a span that is cut into objects.
    pub fn bytes(&self, span: &Span) -> u64 {
        self.classes.get(usize::from(span.class)).map_or(0, |class| class.object_bytes)
    }

    /// Marks one object as free; false when it is none, or is so already.
    fn mark(&mut self, address: u64, class: usize, state: BlockState) -> bool {
        let index = self.spans.partition_point(|span| span.addresses.end <= address);
        let Some(span) = self.spans.get(index).filter(|span| span.addresses.contains(&address)) else {
            return false;
        };
        let count = self.count(index) as u64;
        // A damaged span may claim a class that there is not.
        let Some(object_bytes) = self.classes.get(class).map(|c| c.object_bytes).filter(|bytes| *bytes != 0)
        else {
            return false;
        };
        let offset = address - span.addresses.start;
        if usize::from(span.class) != class
            || !offset.is_multiple_of(object_bytes)
            || count <= offset / object_bytes
        {
            return false;
        }
        let object = self.first[index] + (offset / object_bytes) as usize;
        let is_new = self.state(object) == BlockState::Used;
        self.set_state(object, state);
        is_new
    }

    /// Follows a list to its end; the number of objects, or `None` when it leads astray.
    fn follow(&mut self, reader: &WordReader<'_>, head: u64, class: usize, state: BlockState) -> Option<u64> {
        let mut next = head;
        let mut count = 0;
        while next != 0 {
            // Each object is marked once, so that a circle ends.
            if !self.mark(next, class, state) {
                return None;
            }
            count += 1;
            next = reader.u64(next)?;
        }
        Some(count)
    }

    fn follow_all(
        &mut self,
        reader: &WordReader<'_>,
        head: u64,
        class: usize,
        state: BlockState,
        expected: u64,
    ) {
        if self.follow(reader, head, class, state) != Some(expected) {
            self.broken_lists += 1;
        }
    }

    /// Follows the lists of the spans themselves.
    pub fn follow_spans(&mut self, reader: &WordReader<'_>) {
        let spans = self.spans;
        for (index, span) in spans.iter().enumerate().filter(|(_, span)| span.is_cut()) {
            let expected = (self.count(index) as u64).saturating_sub(u64::from(span.objects_out));
            self.follow_all(reader, span.objects, usize::from(span.class), BlockState::Binned, expected);
        }
    }

    /// Follows the lists in the central cache, whose first class lies here.
    pub fn follow_central(&mut self, reader: &WordReader<'_>, central: u64) {
        for class in 1..self.classes.len() {
            let at = central + class as u64 * CENTRAL_BYTES;
            let used = reader.u32(at + CENTRAL_USED_AT).map_or(0, u64::from).min(CENTRAL_SLOTS);
            for slot in 0..used {
                let head = reader.u64(at + CENTRAL_SLOTS_AT + slot * 16).unwrap_or(0);
                if head == 0 || self.follow(reader, head, class, BlockState::Binned).is_none() {
                    self.broken_lists += 1;
                }
            }
        }
    }

    /// Follows the lists of a thread's cache.
    pub fn follow_thread(&mut self, reader: &WordReader<'_>, cache: u64) {
        for class in 1..self.classes.len() {
            let list = cache + class as u64 * THREAD_LIST_BYTES;
            let head = reader.u64(list).unwrap_or(0);
            let length = reader.u32(list + 8).map_or(0, u64::from);
            self.follow_all(reader, head, class, BlockState::ThreadCache, length);
        }
    }
}

/// How many objects a span is cut into; none when it is handed out whole or free, or not of the length of its class.
fn objects_of(span: &Span, classes: &[SizeClass], page_shift: u32) -> u64 {
    let bytes = span.addresses.end - span.addresses.start;
    let class = classes.get(usize::from(span.class)).filter(|class| class.span_pages == bytes >> page_shift);
    class.filter(|_| span.is_cut()).map_or(0, |class| bytes / class.object_bytes)
}

/// Where the central caches lie: one behind the other, each with its class's number, and lists of spans that close.
///
/// A running process changes such a list while it is looked at, so only half of them must close.
pub(super) fn find_central(reader: &WordReader<'_>, variables: Range<u64>, classes: usize) -> Option<u64> {
    let mut found = None;
    reader.each_word(variables.clone(), |at, word| {
        // The first class's number is 0, so the second's is looked for.
        if word == 1 {
            let first = at.checked_sub(8 + CENTRAL_BYTES).filter(|first| variables.start <= *first);
            let is_it = |first: &u64| {
                let lists = (0..classes)
                    .try_fold(0, |lists, class| Some(lists + closed_lists(reader, *first, class)?));
                lists.is_some_and(|closed| classes <= closed)
            };
            found = first.filter(is_it);
        }
        found.is_none()
    });
    found
}

/// How many of a class's two lists of spans close; `None` when its central cache is not there.
fn closed_lists(reader: &WordReader<'_>, first: u64, class: usize) -> Option<usize> {
    let at = first.checked_add(class as u64 * CENTRAL_BYTES)?;
    let used = reader.u32(at + CENTRAL_USED_AT)?;
    let allowed = reader.u32(at + CENTRAL_USED_AT + 4)?;
    let is_class = reader.u64(at + 8)? == class as u64;
    let closes = |dummy: &u64| {
        let next = reader.u64(dummy + 16).and_then(|next| next.checked_add(24));
        next.and_then(|previous| reader.u64(previous)) == Some(*dummy)
    };
    let is_it = is_class && used <= allowed.saturating_add(1) && u64::from(allowed) <= CENTRAL_SLOTS;
    is_it.then(|| [at + 16, at + 64].iter().filter(|dummy| closes(dummy)).count())
}

/// The caches of all threads: the library points to one of them, and they are linked.
pub(super) fn find_threads(
    reader: &WordReader<'_>,
    variables: Range<u64>,
    classes: &[SizeClass],
) -> Vec<u64> {
    let mut threads = Vec::new();
    let mut seen = std::collections::HashSet::new();
    reader.each_word(variables, |_, word| {
        if word.is_multiple_of(64) && is_thread_cache(reader, word, classes) && seen.insert(word) {
            threads.push(word);
        }
        true
    });
    let mut next = 0;
    while next < threads.len() && threads.len() < THREADS_MAX {
        let tail = threads[next] + THREAD_LISTS * THREAD_LIST_BYTES;
        for word in (0..THREAD_TAIL_WORDS).filter_map(|index| reader.u64(tail + index * 8)) {
            if word != 0
                && word.is_multiple_of(64)
                && is_thread_cache(reader, word, classes)
                && seen.insert(word)
            {
                threads.push(word);
            }
        }
        next += 1;
    }
    threads
}

/// Whether the lists at an address have the sizes of the classes, one by one.
fn is_thread_cache(reader: &WordReader<'_>, at: u64, classes: &[SizeClass]) -> bool {
    let end = at.checked_add((THREAD_LISTS + 2 * THREAD_TAIL_WORDS) * THREAD_LIST_BYTES);
    let has_size = |(class, size): (usize, &SizeClass)| {
        let field = at + class as u64 * THREAD_LIST_BYTES + THREAD_LIST_SIZE_AT;
        reader.u32(field).map(u64::from) == Some(size.object_bytes)
    };
    end.is_some() && classes.len() as u64 <= THREAD_LISTS && classes.iter().enumerate().skip(1).all(has_size)
}
