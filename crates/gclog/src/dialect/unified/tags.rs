//! The topic of a line, by its tags.

/// A group of tag sets that are read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// No tags, or none that a JVM has: the text alone must decide.
    Unknown,
    /// `gc`
    Gc,
    /// Beginnings: `gc,start`, `gc,phases,start`.
    Start,
    /// `gc,phases`
    Phases,
    /// `gc,marking`
    Marking,
    /// `gc,heap`, also at the end.
    Heap,
    /// `gc,metaspace`
    Metaspace,
    /// `gc,cpu`
    Cpu,
    /// `gc,task`
    Task,
    /// What is said at the start: `gc,init`, `gc,heap,coops`, `pagesize`.
    Init,
    /// `gc,stats`
    Stats,
    /// `gc,promotion`
    Promotion,
    /// `gc,stringdedup`, since JDK 18 `stringdedup`
    StringDeduplication,
    /// `gc,ref` and others that may have concurrent phases of their own.
    Detail,
    /// `safepoint`
    Safepoint,
    /// Any other of the JVM's.
    Other,
}

impl Topic {
    fn of(tags: &str) -> Topic {
        match tags {
            "gc" => Topic::Gc,
            "gc,start" | "gc,phases,start" | "gc,ref,start" => Topic::Start,
            "gc,phases" => Topic::Phases,
            "gc,marking" => Topic::Marking,
            "gc,heap" | "gc,heap,exit" | "gc,exit" => Topic::Heap,
            "gc,metaspace" | "gc,metaspace,exit" => Topic::Metaspace,
            "gc,cpu" => Topic::Cpu,
            "gc,task" => Topic::Task,
            "gc,init" | "gc,heap,coops" | "pagesize" => Topic::Init,
            "gc,stats" => Topic::Stats,
            "gc,promotion" => Topic::Promotion,
            "gc,stringdedup" | "stringdedup" => Topic::StringDeduplication,
            "safepoint" => Topic::Safepoint,
            _ if !tags.is_empty() && tags.split(',').all(is_tag) => {
                if tags.starts_with("gc,") {
                    Topic::Detail
                } else {
                    Topic::Other
                }
            }
            _ => Topic::Unknown,
        }
    }
}

/// Every tag of JDK 9 to 25, as `java -Xlog:help` lists them, sorted.
const TAGS: &[&str] = &[
    "add",
    "age",
    "alloc",
    "annotation",
    "aot",
    "arguments",
    "array",
    "attach",
    "barrier",
    "biasedlocking",
    "blocks",
    "bot",
    "breakpoint",
    "bytecode",
    "cause",
    "cds",
    "census",
    "class",
    "classhisto",
    "cleanup",
    "codecache",
    "compaction",
    "compilation",
    "condy",
    "constantpool",
    "constraints",
    "container",
    "continuations",
    "coops",
    "cpu",
    "cset",
    "data",
    "datacreation",
    "dcmd",
    "decoder",
    "defaultmethods",
    "deoptimization",
    "dependencies",
    "director",
    "dump",
    "dynamic",
    "ergo",
    "event",
    "exceptions",
    "exit",
    "fastlock",
    "finalizer",
    "fingerprint",
    "free",
    "freelist",
    "gc",
    "handshake",
    "hashtables",
    "heap",
    "heapdump",
    "humongous",
    "ihop",
    "iklass",
    "indy",
    "init",
    "inlinecache",
    "inlining",
    "install",
    "interpreter",
    "itables",
    "jfr",
    "jit",
    "jmethod",
    "jni",
    "jvmci",
    "jvmti",
    "lambda",
    "library",
    "link",
    "liveness",
    "load",
    "loader",
    "logging",
    "malloc",
    "map",
    "mark",
    "marking",
    "membername",
    "memops",
    "metadata",
    "metaspace",
    "methodcomparator",
    "methodhandles",
    "methodtrace",
    "mirror",
    "mmu",
    "module",
    "modules",
    "monitorinflation",
    "monitormismatch",
    "monitortable",
    "native",
    "nestmates",
    "nmethod",
    "nmt",
    "normalize",
    "numa",
    "objecttagging",
    "obsolete",
    "oldobject",
    "oom",
    "oopmap",
    "oops",
    "oopstorage",
    "os",
    "owner",
    "page",
    "pagesize",
    "parser",
    "patch",
    "path",
    "perf",
    "periodic",
    "phases",
    "plab",
    "placeholders",
    "preempt",
    "preorder",
    "preview",
    "promotion",
    "protectiondomain",
    "ptrqueue",
    "purge",
    "record",
    "redefine",
    "ref",
    "refine",
    "region",
    "reloc",
    "remset",
    "resolve",
    "safepoint",
    "sampling",
    "scavenge",
    "sealed",
    "setting",
    "smr",
    "stackbarrier",
    "stackmap",
    "stacktrace",
    "stackwalk",
    "start",
    "startup",
    "startuptime",
    "state",
    "stats",
    "streaming",
    "stringdedup",
    "stringtable",
    "stubs",
    "subclass",
    "survivor",
    "suspend",
    "sweep",
    "symboltable",
    "system",
    "table",
    "task",
    "thread",
    "throttle",
    "time",
    "timer",
    "tlab",
    "tracking",
    "training",
    "trimnative",
    "unload",
    "unmap",
    "unshareable",
    "update",
    "valuebasedclasses",
    "verification",
    "verify",
    "vmmutex",
    "vmoperation",
    "vmthread",
    "vtables",
    "vtablestubs",
    "workgang",
];

fn is_tag(word: &str) -> bool {
    TAGS.binary_search(&word).is_ok()
}

/// Topics of the most recent tag sets: most logs have less than there is room for.
#[derive(Debug)]
pub(super) struct Topics {
    seen: [(String, Topic); SLOTS],
}

const SLOTS: usize = 64;

impl Default for Topics {
    fn default() -> Self {
        Topics { seen: std::array::from_fn(|_| (String::new(), Topic::Unknown)) }
    }
}

impl Topics {
    /// Topic of a tag set.
    pub fn of(&mut self, tags: &str) -> Topic {
        let bytes = tags.as_bytes();
        let [.., before, last] = bytes else { return Topic::of(tags) };
        let middle = bytes[bytes.len() / 2];
        let hash = bytes.len() * 7 + usize::from(*last) * 3 + usize::from(*before) * 5 + usize::from(middle);
        let slot = &mut self.seen[hash % SLOTS];
        if slot.0 != tags {
            slot.0.clear();
            slot.0.push_str(tags);
            slot.1 = Topic::of(tags);
        }
        slot.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(TAGS.is_sorted());
    }

    #[test]
    fn a_host_name_that_looks_like_tags_is_no_topic() {
        let mut topics = Topics::default();
        assert_eq!(topics.of("build7"), Topic::Unknown);
        assert_eq!(topics.of("gc,madeup"), Topic::Unknown);
        assert_eq!(topics.of(""), Topic::Unknown);
        for tags in ["gc", "gc,heap", "gc,start", "gc"] {
            assert_eq!(topics.of(tags), Topic::of(tags), "{tags}");
        }
        assert_eq!(topics.of("gc,ergo,refine"), Topic::Detail);
        assert_eq!(topics.of("os,thread"), Topic::Other);
    }
}
