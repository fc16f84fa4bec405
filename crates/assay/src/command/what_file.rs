//! The kind of a file that was given to the wrong command, and the command that reads it.

use assay_model::schema;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first bytes of a file identify its kind.
const HEAD_BYTES_MAX: u64 = 4096;

/// The kinds that some command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A heap dump (HPROF).
    HeapDump,
    /// A heap dump of J9 (PHD).
    PortableHeapDump,
    /// A recording of the flight recorder.
    Recording,
    /// Stacks of all threads, which a JVM wrote.
    ThreadDump,
    /// What a JVM writes when it crashes.
    CrashLog,
    /// J9's account of itself: threads, monitors, memory.
    Javacore,
    /// A report of another tool about the memory of a process.
    MemoryToolReport,
    /// A result that Assay stored, with the name of its format in `assay_model::schema`.
    Stored(&'static str),
    /// A study file.
    Study,
    /// A program or a library (ELF).
    Program,
    /// A program that an interpreter runs.
    Script,
    /// Something else that is not text.
    Binary,
    /// Text, by its name a log.
    Log,
    /// Other text.
    Text,
    /// A file without content.
    Empty,
}

/// The kind of a regular file; `None` for what is not one, or cannot be read.
pub fn kind_of(path: &Path) -> Option<FileKind> {
    // Opening a pipe would wait for whoever writes into it.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES_MAX).read_to_end(&mut head).ok()?;
    Some(kind(&head, path))
}

fn kind(head: &[u8], path: &Path) -> FileKind {
    let ends_with = |end: &str| path.extension().is_some_and(|it| it.eq_ignore_ascii_case(end));
    if head.is_empty() {
        return FileKind::Empty;
    }
    if head.starts_with(b"JAVA PROFILE 1.0.") {
        return FileKind::HeapDump;
    }
    if head.starts_with(b"\0\x12portable heap dump") {
        return FileKind::PortableHeapDump;
    }
    if head.starts_with(b"FLR\0") {
        return FileKind::Recording;
    }
    if head.starts_with(b"\x7fELF") {
        return FileKind::Program;
    }
    if head.starts_with(b"#!") {
        return FileKind::Script;
    }
    if head.contains(&0) {
        return FileKind::Binary;
    }
    let text = String::from_utf8_lossy(head);
    let schema =
        text.split_once("\"schema\"").map_or("", |(_, rest)| rest.trim_start_matches([':', ' ', '"']));
    let format = schema::ALL.iter().copied().find(|format| schema::is_of(schema, format));
    if let Some(format) = format.filter(|_| text.starts_with('{')) {
        return FileKind::Stored(format);
    }
    if text.contains("\nFull thread dump ") || text.starts_with("Full thread dump ") {
        FileKind::ThreadDump
    } else if text.contains("A fatal error has been detected by the Java Runtime Environment") {
        FileKind::CrashLog
    } else if text.starts_with("0SECTION") || text.contains("\n1TIDATETIME") {
        FileKind::Javacore
    } else if assay_memory::tool_of(&text).is_some() {
        FileKind::MemoryToolReport
    } else if ends_with("toml") {
        FileKind::Study
    } else if ends_with("log") {
        FileKind::Log
    } else {
        FileKind::Text
    }
}

/// The kind of a path and the command that reads it, for the end of a message; `None` where there is nothing.
pub fn said_of(path: &Path) -> Option<String> {
    let name = path.display();
    if path.is_dir() {
        return Some(format!(
            "it is a folder\n  its GC logs: assay gc {name}\n  a run directory: assay report {name}"
        ));
    }
    Some(match kind_of(path)? {
        FileKind::HeapDump => format!("it is a heap dump\n  assay heap predict {name}"),
        FileKind::PortableHeapDump => "it is a heap dump of J9 (PHD), which no command reads\n  \
             Assay reads dumps of HotSpot: jcmd PID GC.heap_dump FILE"
            .to_owned(),
        FileKind::ThreadDump => "it is a thread dump, which no command reads\n  \
             what threads do over time: assay time PID"
            .to_owned(),
        FileKind::CrashLog => "it is the log of a JVM's crash (hs_err), which no command reads".to_owned(),
        FileKind::Javacore => "it is a javacore of J9, which no command reads".to_owned(),
        FileKind::Recording => {
            format!("it is a recording of the flight recorder\n  assay time PID --jfr {name}")
        }
        FileKind::MemoryToolReport => {
            format!("it is a report of another tool about the memory of a process\n  assay memory {name}")
        }
        FileKind::Stored(schema::MEMORY | schema::MEMORY_RECORD) => {
            format!(
                "it is a result of assay memory\n  its report: assay report {name}\n  what grew since: assay memory diff {name} LATER"
            )
        }
        FileKind::Stored(schema::TIME) => {
            format!(
                "it is a result of assay time\n  its report: assay report {name}\n  what changed since: assay time diff {name} LATER"
            )
        }
        FileKind::Stored(schema::HOST_SNAPSHOT) => {
            format!("it is a snapshot of a machine\n  assay host {name}")
        }
        FileKind::Stored(_) => format!("it is a stored result\n  assay report {name}"),
        FileKind::Study => format!("it is a TOML file\n  a study: assay run {name}"),
        FileKind::Log | FileKind::Text => format!("it is a text file\n  a GC log: assay gc {name}"),
        FileKind::Program | FileKind::Script => "it is a program, which no command reads".to_owned(),
        FileKind::Binary => "it is a binary file, which no command reads".to_owned(),
        FileKind::Empty => "it is an empty file".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_more_than_the_name() {
        let cases: [(&[u8], &str, FileKind); 19] = [
            (b"JAVA PROFILE 1.0.2\0", "gc.log", FileKind::HeapDump),
            (b"FLR\0\0\x02", "x", FileKind::Recording),
            (b"\0\x12portable heap dump\0\0\0\x06", "x.phd", FileKind::PortableHeapDump),
            (b"2024-03-12 10:15:32\nFull thread dump OpenJDK", "x.log", FileKind::ThreadDump),
            (b"Full thread dump OpenJDK", "x.txt", FileKind::ThreadDump),
            (
                b"#\n# A fatal error has been detected by the Java Runtime Environment:\n",
                "x",
                FileKind::CrashLog,
            ),
            (b"0SECTION       TITLE subcomponent dump routine\n", "javacore.txt", FileKind::Javacore),
            (b"4242:\n\nNative Memory Tracking:\n", "x.log", FileKind::MemoryToolReport),
            (b"\x7fELF\0", "x.log", FileKind::Program),
            (b"#!/bin/sh\n", "check", FileKind::Script),
            (b"\0\0[0.1s] GC", "x.log", FileKind::Binary),
            (b"{\n  \"schema\": \"assay.memory/1\"", "x", FileKind::Stored(schema::MEMORY)),
            (b"{\"schema\":\"assay.memory-record/1\"", "x", FileKind::Stored(schema::MEMORY_RECORD)),
            (b"{\"schema\":\"assay.time/2\"", "x", FileKind::Stored(schema::TIME)),
            (b"{\"schema\":\"assay.host-snapshot/1\"", "x", FileKind::Stored(schema::HOST_SNAPSHOT)),
            (b"a = 1", "x.TOML", FileKind::Study),
            (b"[0.1s] GC", "x.log", FileKind::Log),
            (b"\xff\xfe", "x.txt", FileKind::Text),
            (b"", "x.hprof", FileKind::Empty),
        ];
        for (head, name, expected) in cases {
            assert_eq!(kind(head, Path::new(name)), expected, "{name}");
        }
        assert_eq!(kind_of(Path::new("/dev/null")), None);
        assert_eq!(said_of(Path::new("/no/such/file")), None);
    }
}
