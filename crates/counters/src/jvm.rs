//! The JVM's own list of its threads.

use crate::role::{compiler_of, roles_of};
use assay_hotspot::Hotspot;
use assay_linux::{CachedMemory, LinuxError, LiveProcess, MemorySource, ProcRoot};
use assay_model::{Problem, ThreadKind, ThreadRole, TimeJvm};
use std::collections::HashMap;

/// What a thread is called, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) role: ThreadRole,
    pub(crate) name: String,
    /// Whether the JVM's own name of it, and what its role depends on, could be read.
    pub(crate) is_whole: bool,
}

impl Label {
    /// That of a thread which the JVM does not list.
    pub(crate) fn stranger(kernel_name: &str) -> Label {
        Label { role: ThreadRole::Unknown, name: kernel_name.to_owned(), is_whole: true }
    }
}

/// A JVM as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Jvm {
    pub(crate) facts: TimeJvm,
    /// By thread id in Assay's PID namespace.
    pub(crate) labels: HashMap<u32, Label>,
    /// Whether compiled methods keep frame pointers.
    pub(crate) has_frame_pointers: bool,
    pub(crate) problems: Vec<Problem>,
}

/// Reads the JVM of a process; `None` where it has none.
///
/// Folklore: ZGC moves a thread's Java object or its name and leaves the reference to it as it was until the next collection marks it:
/// until then it leads nowhere for who does not know the collector's tables. Such a label is not whole, and is there at a later look.
/// Held by: `every_thread_that_the_jvm_prints_has_its_role`.
pub(crate) fn read_jvm(proc: &ProcRoot, pid: u32) -> Result<Option<Jvm>, LinuxError> {
    let process = LiveProcess::open(proc, pid)?;
    let memory = CachedMemory::new(&process);
    let mut jvm = Jvm {
        facts: TimeJvm::default(),
        labels: HashMap::new(),
        has_frame_pointers: false,
        problems: Vec::new(),
    };
    let hotspot = match Hotspot::open(&memory) {
        Ok(Some(hotspot)) => hotspot,
        Ok(None) => return Ok(None),
        Err(error) => {
            jvm.problems.push(Problem::new("libjvm", error.to_string()));
            return Ok(Some(jvm));
        }
    };
    let outside: HashMap<u32, (u32, &str)> =
        process.threads().iter().map(|t| (t.tid_inside, (t.tid, t.name.as_str()))).collect();
    let threads = hotspot.threads();
    let roles = roles_of(&threads);
    for (thread, role) in threads.into_iter().zip(roles) {
        let Some((tid, kernel_name)) = outside.get(&thread.tid_inside) else { continue };
        let is_whole =
            thread.name.is_some() && (thread.kind != ThreadKind::Java || thread.java_class.is_some());
        // The JVM gives its compilers their names in the kernel, too, and nobody else runs in them.
        let is_nameless_compiler = thread.kind == ThreadKind::Compiler && thread.name.is_none();
        let role = if is_nameless_compiler { compiler_of(kernel_name) } else { role };
        let name = thread.name.unwrap_or_else(|| (*kernel_name).to_owned());
        jvm.labels.insert(*tid, Label { role, name, is_whole });
    }
    jvm.has_frame_pointers = hotspot.flags().bool("PreserveFramePointer") == Some(true);
    let version = hotspot.version();
    jvm.facts = TimeJvm {
        version: version.map(|v| v.text.clone()),
        feature: version.map(|v| v.feature),
        collector: hotspot.collector().map(|collector| collector.name().to_owned()),
    };
    jvm.problems.extend(hotspot.problems());
    Ok(Some(jvm))
}
