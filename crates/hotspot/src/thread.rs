//! Threads as the JVM knows them.
//!
//! Java threads are in the list of `ThreadsSMRSupport`, exported since JDK 10, or linked to each other before that. The
//! others, `NonJavaThread`s, are linked from a private variable: without symbols they are missing, and the kernel's
//! names identify their roles. The name of a Java thread is a Java string, those of the others are C strings.

mod allocated;
mod carrier;
mod entries;
mod java_object;
mod local;

pub use allocated::AllocatedBytes;
pub use carrier::Carriers;

use crate::java_string::References;
use crate::{Hotspot, Names};
use assay_model::ThreadKind;
use entries::{Entries, Entry};
use std::collections::HashMap;
use std::ops::Range;

/// Threads of a JVM. The kernel's own limit is `kernel.threads-max`, some 100,000 on large machines.
const THREADS_MAX: u64 = 100_000;
/// A name of a thread that is no Java thread: `NamedThread` writes up to 64 bytes.
const NAME_BYTES_MAX: usize = 256;
/// A stack.
const STACK_BYTES_MAX: u64 = 1 << 40;
const PROBLEM: &str = "threads";
const BREAKS_OFF: &str = "their list breaks off, because the JVM was just starting or ending one";
/// Bytes of a thread's name that the kernel keeps.
const KERNEL_BYTES: usize = 15;
/// The variable in which the JVM keeps where a `java.lang.Thread` has its name.
const NAME_OFFSET: &str = "_ZN16java_lang_Thread12_name_offsetE";

/// How the names of compilers begin, and what of that the kernel keeps at least.
const COMPILERS: [&str; 3] = ["C1 CompilerThread", "C2 CompilerThread", "JVMCI CompilerThread"];
const COMPILERS_IN_KERNEL: [&str; 3] = ["C1 Comp", "C2 Comp", "JVMCI C"];
/// Threads of the Java list in which the JVM's own code runs.
const OF_VM: [&str; 9] = [
    "Signal Dispatcher",
    "Service Thread",
    "Monitor Deflation Thread",
    "Notification Thread",
    "Sweeper thread",
    "Attach Listener",
    "Surrogate Locker Thread (Concurrent GC)",
    "StringDedupThread",
    "Training replay thread",
];
/// Threads of no Java list that are not the collector's.
const KERNEL_NAMES_OF_VM: [&str; 8] = [
    "VM Thread",
    "VM Periodic Task Thread",
    "AsyncLog Thread",
    "JFR Thread Sampler",
    "JFR Sampler Thread",
    "JFR CPU Sampler Thread",
    "Native Heap Trimmer",
    "Archive Worker Thread",
];
/// How often a list is read whose beginning changes meanwhile.
const LIST_READS_MAX: u32 = 16;
/// Threads from each end of the Java list that locate the field with a thread's start function.
const THREADS_LOOKED_AT: usize = 16;

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmThread {
    /// Thread id in the process's own PID namespace.
    pub tid_inside: u32,
    /// Java name, or the JVM's; none when only the kernel knows it.
    pub name: Option<String>,
    /// Purpose of the thread.
    pub kind: ThreadKind,
    /// C++ class of the JVM's `Thread` object, for example `CompilerThread`; none without symbols.
    pub jvm_class: Option<String>,
    /// Class of the Java object that stands for it, for example `jdk.internal.misc.CarrierThread`; none for threads that run no Java
    /// code.
    pub java_class: Option<String>,
    /// Its stack, guard pages included, where the JVM exports it.
    pub stack: Option<Range<u64>>,
    /// Address of the JVM's `Thread` object.
    pub address: u64,
}

/// How much of one of the JVM's lists of its threads was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListRead {
    /// All of it.
    Whole,
    /// Its beginning: the JVM was just starting or ending a thread.
    BrokenOff,
    /// Nowhere: neither the exports of this JVM nor a symbol locate it.
    NotFound,
}

/// The JVM's lists of its threads.
#[derive(Debug, Clone)]
pub struct ThreadLists {
    /// Threads of both lists: Java threads first.
    pub threads: Vec<JvmThread>,
    /// The list of Java threads, to which compilers and some of the JVM's own threads belong.
    pub java: ListRead,
    /// The list of the others: collectors' threads, the VM thread.
    pub others: ListRead,
    /// Whether the name of a Java thread can be located; without symbols it cannot.
    pub has_java_names: bool,
    /// Whether it was found out with what function a thread of the Java list begins. Where not, a thread of which nothing else tells what
    /// it is for is one of [`ThreadKind::Other`].
    pub has_entries: bool,
}

impl ThreadLists {
    /// Whether another reading of the process may show more at once: the JVM was just starting or ending a thread, or a collector was moving
    /// the objects that lead to what threads begin with.
    pub fn may_tell_more(&self) -> bool {
        let lacks_entries = self.java == ListRead::Whole && !self.has_entries;
        lacks_entries || [self.java, self.others].contains(&ListRead::BrokenOff)
    }
}

impl Hotspot<'_> {
    /// Threads as the JVM knows them: Java threads first. Threads that started or ended while the process was looked at
    /// are left out; those that the JVM does not know are not here.
    pub fn threads(&self) -> Vec<JvmThread> {
        self.thread_lists().threads
    }

    /// The same, and how much of each list was read.
    pub fn thread_lists(&self) -> ThreadLists {
        let mut reader = ThreadReader {
            references: References::of(self),
            name_offset: self.java_offset(NAME_OFFSET),
            names: Some(self.names()),
            ..ThreadReader::without_names(self)
        };
        let (mut threads, java) = reader.java_threads();
        let (other_threads, others) = reader.other_threads();
        threads.extend(other_threads);
        let has_java_names = self.symbols().address(NAME_OFFSET).is_some();
        ThreadLists { threads, java, others, has_java_names, has_entries: reader.entries.is_some() }
    }

    /// Where the JVM has the `Thread` objects of those that run Java code, whatever their state.
    pub(crate) fn java_thread_addresses(&self) -> Option<Vec<u64>> {
        ThreadReader::without_names(self).java_thread_list().map(|listed| listed.addresses)
    }
}

/// Addresses of the JVM's `Thread` objects, as a list gives them.
struct Listed {
    addresses: Vec<u64>,
    read: ListRead,
}

struct ThreadReader<'h, 'm> {
    hotspot: &'h Hotspot<'m>,
    /// The kernel's threads, by their id inside; empty when the source does not know them.
    kernel_names: HashMap<u32, &'h str>,
    /// The name of its first thread.
    process_name: Option<&'h str>,
    references: Option<References>,
    /// Where `java.lang.Thread` has its name.
    name_offset: Option<u64>,
    /// Names of classes, where they are asked for.
    names: Option<Names<'m>>,
    /// With what threads of the Java list begin, once that is known.
    entries: Option<Entries>,
}

impl<'h, 'm> ThreadReader<'h, 'm> {
    /// One that knows threads as the kernel does, and reads no names of theirs.
    fn without_names(hotspot: &'h Hotspot<'m>) -> ThreadReader<'h, 'm> {
        let threads = hotspot.source().threads();
        let first = threads.iter().min_by_key(|thread| thread.tid_inside);
        ThreadReader {
            hotspot,
            process_name: first.map(|thread| thread.name.as_str()),
            kernel_names: threads.iter().map(|t| (t.tid_inside, t.name.as_str())).collect(),
            references: None,
            name_offset: None,
            names: None,
            entries: None,
        }
    }
}

impl ThreadReader<'_, '_> {
    fn java_threads(&mut self) -> (Vec<JvmThread>, ListRead) {
        let Some(Listed { addresses, read }) = self.java_thread_list() else {
            self.hotspot.problem(PROBLEM, "Java threads: nothing that this JVM exports leads to their list");
            return (Vec::new(), ListRead::NotFound);
        };
        let class_of = |address: &u64| (*address, self.java_class_of_thread(*address));
        // Those that the JVM starts for itself are the oldest: at the end of the list before JDK 10, and at its beginning since.
        let newer =
            THREADS_LOOKED_AT..addresses.len().saturating_sub(THREADS_LOOKED_AT).max(THREADS_LOOKED_AT);
        let some = addresses.iter().enumerate().filter(|(at, _)| !newer.contains(at));
        let some: Vec<_> = some.map(|(_, address)| class_of(address)).collect();
        self.entries = Entries::find(self.hotspot, &some);
        let threads = addresses.into_iter().filter_map(|address| self.java_thread(address));
        (threads.collect(), read)
    }

    /// The list of Java threads; where only its beginning could be read, a problem says so.
    fn java_thread_list(&self) -> Option<Listed> {
        let of = |place: (&str, &str)| self.hotspot.structs().first_static_address(&[place]);
        let listed = match (of(("ThreadsSMRSupport", "_java_thread_list")), of(("Threads", "_thread_list"))) {
            (Some(list), _) => self.listed(list)?,
            (None, Some(first)) => self.settled(first, |first| self.linked(first)),
            (None, None) => return None,
        };
        if listed.read == ListRead::BrokenOff {
            let what = format!("Java threads: {BREAKS_OFF}, {} were found", listed.addresses.len());
            self.hotspot.problem(PROBLEM, what);
        }
        Some(listed)
    }

    /// The list to which this place points, read again where the place points elsewhere afterwards.
    ///
    /// Folklore: a `ThreadsList` that was just replaced may be freed and hold something else, which looks like a shorter list. Held by:
    /// `a_list_that_is_replaced_while_it_is_read_is_read_again`.
    fn settled(&self, place: u64, read: impl Fn(Option<u64>) -> Listed) -> Listed {
        let points_at = || self.hotspot.source().word_anew(place);
        let mut begin = points_at();
        let mut listed = read(begin);
        for _ in 1..LIST_READS_MAX {
            let after = points_at();
            if after == begin {
                return listed;
            }
            begin = after;
            listed = read(begin);
        }
        Listed { read: ListRead::BrokenOff, ..listed }
    }

    /// The threads of the `ThreadsList` to which this place points. The JVM makes another list for each thread that starts or ends:
    /// this one may lie where nothing was at the look at the process. `None`: the release does not export its layout.
    fn listed(&self, place: u64) -> Option<Listed> {
        let of_list = |field| self.hotspot.offset(&[("ThreadsList", field)]);
        let (length, threads) = (of_list("_length")?, of_list("_threads")?);
        Some(self.settled(place, |list| self.list_at(list, length, threads)))
    }

    /// The threads of a `ThreadsList` with its fields at these offsets.
    fn list_at(&self, list: Option<u64>, length: u64, threads: u64) -> Listed {
        let (hotspot, source) = (self.hotspot, self.hotspot.source());
        let head = list.filter(|list| *list != 0).and_then(|list| {
            let mut count = [0; 4];
            source.read_anew(list.checked_add(length)?, &mut count).ok()?;
            let threads = source.word_anew(list.checked_add(threads)?).filter(|threads| *threads != 0)?;
            Some((u64::from(u32::from_le_bytes(count)), threads))
        });
        let Some((count, threads)) = head else {
            return Listed { addresses: Vec::new(), read: ListRead::BrokenOff };
        };
        if THREADS_MAX < count {
            hotspot.problem(PROBLEM, format!("{count} threads, only {THREADS_MAX} are read"));
        }
        let at = |i: u64| source.word_anew(threads.checked_add(i * source.word_bytes())?);
        let addresses: Vec<u64> = (0..count.min(THREADS_MAX)).map_while(at).collect();
        let is_whole = addresses.len() as u64 == count;
        Listed { addresses, read: if is_whole { ListRead::Whole } else { ListRead::BrokenOff } }
    }

    /// Before JDK 10 each thread points at the next.
    fn linked(&self, first: Option<u64>) -> Listed {
        self.linked_from(first, |thread| self.hotspot.field(thread, &[("JavaThread", "_next")]))
    }

    /// A list of threads in which each has the address of the next, and the last has 0. `None`: it could not be read.
    fn linked_from(&self, first: Option<u64>, next_of: impl Fn(u64) -> Option<u64>) -> Listed {
        let (mut addresses, mut next) = (Vec::new(), first);
        while let Some(address) = next.filter(|address| *address != 0) {
            if addresses.len() as u64 == THREADS_MAX {
                break;
            }
            addresses.push(address);
            next = next_of(address);
        }
        let read = if next == Some(0) { ListRead::Whole } else { ListRead::BrokenOff };
        Listed { addresses, read }
    }

    fn java_thread(&self, address: u64) -> Option<JvmThread> {
        let mut thread = self.thread(address)?;
        (thread.java_class, thread.name) = self.java_class_and_name(address, thread.tid_inside);
        thread.kind = self.kind_of_java_list(&thread);
        Some(thread)
    }

    /// What a thread of the Java list does: by its class, and of the class of all Java threads by the function that it begins with. Where
    /// that is not known, names decide.
    fn kind_of_java_list(&self, thread: &JvmThread) -> ThreadKind {
        let entry =
            self.entries.as_ref().map_or(Entry::None, |entries| entries.of(self.hotspot, thread.address));
        let name = thread.name.as_deref();
        let starts =
            |begins: &[&str]| begins.iter().any(|begin| name.is_some_and(|name| name.starts_with(begin)));
        match thread.jvm_class.as_deref() {
            Some("CompilerThread") => ThreadKind::Compiler,
            // Threads of subclasses run the JVM's code.
            Some(class) if class != "JavaThread" => ThreadKind::Vm,
            _ if entry == Entry::Java => ThreadKind::Java,
            Some(_) if entry == Entry::Vm => ThreadKind::Vm,
            // Without symbols: the JVM gives those of its own code their names in the kernel. Agents' threads are of that kind, too.
            None if entry == Entry::Vm => match self.kernel_names.get(&thread.tid_inside) {
                Some(name) if COMPILERS_IN_KERNEL.iter().any(|begin| name.starts_with(begin)) => {
                    ThreadKind::Compiler
                }
                Some(kernel_name) if OF_VM.iter().any(|name| is_shortened(kernel_name, name)) => {
                    ThreadKind::Vm
                }
                _ => ThreadKind::Other,
            },
            _ if starts(&COMPILERS) => ThreadKind::Compiler,
            _ if name.is_some_and(|name| OF_VM.contains(&name)) => ThreadKind::Vm,
            _ if name.is_none() && self.entries.is_none() => ThreadKind::Other,
            _ => ThreadKind::Java,
        }
    }

    /// Fields that all threads have. `None` for a thread that has no kernel thread, or one that came after the source's look.
    fn thread(&self, address: u64) -> Option<JvmThread> {
        let hotspot = self.hotspot;
        let os_thread = hotspot.pointer(address, &[("Thread", "_osthread"), ("JavaThread", "_osthread")])?;
        let tid = hotspot.source().u32(hotspot.place(os_thread, &[("OSThread", "_thread_id")])?)?;
        if tid == 0 || !(self.kernel_names.is_empty() || self.kernel_names.contains_key(&tid)) {
            return None;
        }
        let of = |field| hotspot.field(address, &[("Thread", field), ("JavaThread", field)]);
        let stack = of("_stack_base").zip(of("_stack_size")).and_then(|(base, size)| {
            let start = base.checked_sub(size)?;
            (0 < size && size <= STACK_BYTES_MAX).then_some(start..base)
        });
        let jvm_class = self.class(address).map(str::to_owned);
        Some(JvmThread {
            tid_inside: tid,
            name: None,
            kind: ThreadKind::Java,
            jvm_class,
            java_class: None,
            stack,
            address,
        })
    }

    /// Collectors' threads, the VM thread and the like: a list that is linked from a private variable.
    fn other_threads(&self) -> (Vec<JvmThread>, ListRead) {
        let hotspot = self.hotspot;
        let list = hotspot.symbols().address("_ZN13NonJavaThread9_the_listE");
        // Folklore: `NamedThread` adds its name behind the link, the last field of `NonJavaThread`; the name is
        // exported, the link is not. Held by: `threads_are_those_that_the_jvm_prints`.
        let word_bytes = hotspot.source().word_bytes();
        let link = hotspot.offset(&[("NamedThread", "_name")]).and_then(|name| name.checked_sub(word_bytes));
        let (Some(list), Some(link)) = (list, link) else {
            hotspot.problem(PROBLEM, "non-Java threads: no symbol leads to their list");
            return (Vec::new(), ListRead::NotFound);
        };
        // The newest thread comes first: in a JVM that starts one its memory may be younger than the look at the process.
        let next_of = |thread: u64| hotspot.source().word(thread.checked_add(link)?);
        let Listed { addresses, read } = self.settled(list, |first| self.linked_from(first, next_of));
        if read == ListRead::BrokenOff {
            hotspot.problem(PROBLEM, format!("threads other than Java threads: {BREAKS_OFF}"));
        }
        (addresses.into_iter().filter_map(|address| self.other_thread(address)).collect(), read)
    }

    fn other_thread(&self, address: u64) -> Option<JvmThread> {
        let hotspot = self.hotspot;
        let mut thread = self.thread(address)?;
        let class = thread.jvm_class.as_deref();
        let named = || {
            let name = hotspot.pointer(address, &[("NamedThread", "_name")])?;
            let name = hotspot.source().c_string(name, NAME_BYTES_MAX)?;
            (!name.is_empty() && name.chars().all(|c| !c.is_control())).then_some(name)
        };
        // Those that are no `NamedThread`s have their names in their code.
        thread.name = match class {
            Some("WatcherThread") => Some("VM Periodic Task Thread".to_owned()),
            Some("AsyncLogWriter") => Some("AsyncLog Thread".to_owned()),
            Some("JfrThreadSampler") => Some("JFR Thread Sampler".to_owned()),
            Some("JfrSamplerThread") => Some("JFR Sampler Thread".to_owned()),
            _ => named(),
        };
        let vm_classes = [
            "VMThread",
            "WatcherThread",
            "AsyncLogWriter",
            "JfrThreadSampler",
            "JfrSamplerThread",
            "JfrCPUSamplerThread",
            "NativeHeapTrimmerThread",
            "ArchiveWorkerThread",
        ];
        let vm_names = ["VM Thread", "VM Periodic Task Thread", "AsyncLog Thread", "Native Heap Trimmer"];
        let is_vm = class.is_some_and(|class| vm_classes.contains(&class))
            || thread.name.as_deref().is_some_and(|name| vm_names.contains(&name));
        thread.kind = if is_vm { ThreadKind::Vm } else { ThreadKind::Gc };
        Some(thread)
    }

    fn class(&self, address: u64) -> Option<&str> {
        let hotspot = self.hotspot;
        hotspot.symbols().class_of_vtable(hotspot.source().word(address)?)
    }
}

/// Whether the kernel's name of a thread is what the JVM makes of a name: its beginning, since JDK 28 the two ends of one that is too
/// long.
fn is_shortened(kernel_name: &str, name: &str) -> bool {
    let ends = kernel_name.split_once("..");
    kernel_name == name
        || name.len() > KERNEL_BYTES && kernel_name.len() == KERNEL_BYTES && name.starts_with(kernel_name)
        || ends.is_some_and(|(head, tail)| name.starts_with(head) && name.ends_with(tail))
}
