//! With which function each thread of the Java list begins: one of Java code begins with another than those in which the JVM's own code
//! runs, whatever it is called, and whether or not its name can be read.
//!
//! Where a `JavaThread` has it (`_entry_point`) is private, and follows from threads that are surely there: those of which a symbol names
//! the function, or, without symbols, two of the JDK's own, which begin alike.

use crate::Hotspot;
use std::collections::HashMap;

/// Functions of threads that have the class of Java threads: mangled until JDK 16, then later.
const OF_JAVA: [&str; 2] = ["_ZL12thread_entryP10JavaThreadP6Thread", "_ZL12thread_entryP10JavaThreadS0_"];
const OF_VM: [&str; 4] = [
    "_ZL19signal_thread_entryP10JavaThreadP6Thread",
    "_ZL19signal_thread_entryP10JavaThreadS0_",
    "_ZL28attach_listener_thread_entryP10JavaThreadP6Thread",
    "_ZL28attach_listener_thread_entryP10JavaThreadS0_",
];
/// Two threads that every JVM starts from Java code.
const OF_JDK: [&str; 2] =
    ["java.lang.ref.Reference$ReferenceHandler", "java.lang.ref.Finalizer$FinalizerThread"];
/// A `JavaThread` has some 2 KiB.
const THREAD_BYTES_MAX: u64 = 8 << 10;
/// Threads that must agree on it.
const THREADS_MIN: usize = 2;

/// With what a thread begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// The `run` of a `java.lang.Thread`.
    Java,
    /// A function of the JVM.
    Vm,
    /// None: the thread was not started by the JVM but attached itself, as the one that runs `main`. Or it is not known.
    None,
}

/// Where a `JavaThread` keeps its entry point, and which entry points are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entries {
    offset: u64,
    java: Option<u64>,
    /// Those of the JVM that are known; without symbols, any other function of libjvm that a thread begins with.
    vm: Option<Vec<u64>>,
}

impl Entries {
    /// Of threads, each with the class of its Java object.
    pub(super) fn find(hotspot: &Hotspot<'_>, threads: &[(u64, Option<String>)]) -> Option<Entries> {
        let bytes = hotspot.structs().size_of("JavaThread").filter(|bytes| *bytes <= THREAD_BYTES_MAX)?;
        let words = |thread: u64| {
            let mut words = vec![0; bytes as usize];
            hotspot.source().read(thread, &mut words).ok()?;
            let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            Some(words.chunks_exact(hotspot.source().word_bytes() as usize).map(word).collect::<Vec<u64>>())
        };
        if hotspot.symbols().has_symtab() {
            Entries::by_symbols(hotspot, threads.iter().filter_map(|(thread, _)| words(*thread)))
        } else {
            let of = |class: &str| threads.iter().find(|(_, of)| of.as_deref() == Some(class));
            let [first, second] = OF_JDK.map(|class| of(class).and_then(|(thread, _)| words(*thread)));
            Entries::by_likeness(hotspot, &first?, &second?)
        }
    }

    fn by_symbols(hotspot: &Hotspot<'_>, threads: impl Iterator<Item = Vec<u64>>) -> Option<Entries> {
        let address = |name: &&str| hotspot.symbols().address(name);
        let java = OF_JAVA.iter().find_map(address)?;
        let vm: Vec<u64> = OF_VM.iter().filter_map(address).collect();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for words in threads {
            for (place, _) in words.iter().enumerate().filter(|(_, word)| **word == java) {
                *places.entry(place).or_default() += 1;
            }
        }
        let (place, threads) = places.into_iter().max_by_key(|(_, threads)| *threads)?;
        let offset = place as u64 * hotspot.source().word_bytes();
        (THREADS_MIN <= threads).then_some(Entries { offset, java: Some(java), vm: Some(vm) })
    }

    /// Where both threads have the same address of libjvm's code, and nowhere else.
    fn by_likeness(hotspot: &Hotspot<'_>, first: &[u64], second: &[u64]) -> Option<Entries> {
        let alike = first.iter().zip(second).enumerate();
        let mut alike = alike.filter(|(_, (one, other))| one == other && is_code(hotspot, **one));
        let (place, (java, _)) = alike.next()?;
        let offset = place as u64 * hotspot.source().word_bytes();
        alike.next().is_none().then_some(Entries { offset, java: Some(*java), vm: None })
    }

    /// With what a thread begins.
    pub(super) fn of(&self, hotspot: &Hotspot<'_>, thread: u64) -> Entry {
        let function = thread.checked_add(self.offset).and_then(|at| hotspot.source().word(at));
        match (function, &self.vm) {
            (None | Some(0), _) => Entry::None,
            (function, _) if function == self.java => Entry::Java,
            (Some(function), Some(known)) if known.contains(&function) => Entry::Vm,
            (Some(function), None) if is_code(hotspot, function) => Entry::Vm,
            _ => Entry::None,
        }
    }
}

/// Whether an address is of libjvm's code.
fn is_code(hotspot: &Hotspot<'_>, address: u64) -> bool {
    let mut mappings = hotspot.source().mappings().iter();
    mappings
        .any(|m| m.is_executable() && m.name == hotspot.symbols().path() && m.addresses.contains(&address))
}
