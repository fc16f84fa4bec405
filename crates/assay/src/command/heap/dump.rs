//! Heap dumps as they are named on the command line.

use crate::command::process::jvm_named;
use crate::command::what_file::{FileKind, kind_of, said_of};
use crate::failure::Failure;
use crate::progress::BytesRead;
use assay_heap::{ClassHistogram, hprof};
use std::io::{self, ErrorKind, IsTerminal};
use std::path::Path;

/// What `-` is called in results.
const STDIN: &str = "stdin";
const MAKE_ONE: &str = "\n  make one with: jcmd PID GC.heap_dump FILE";

/// The name of a dump in results and problems.
pub fn name_of(path: &Path) -> String {
    if is_stdin(path) { STDIN.to_owned() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a dump, plain or gzip, from a file or from standard input, and shows how far it is.
///
/// # Errors
/// The file does not exist, or is not a dump; the message says how to fix that.
pub fn read(path: &Path) -> Result<ClassHistogram, Failure> {
    if is_stdin(path) {
        return read_stdin();
    }
    let metadata = std::fs::metadata(path).map_err(|e| not_opened(path, &e))?;
    if metadata.is_dir() {
        return Err(Failure::input(format!(
            "{} is a folder, not a heap dump\n  name a dump in it: assay heap predict {}/X.hprof",
            path.display(),
            path.display()
        )));
    }
    // A pipe or a device has no length.
    let total_bytes = metadata.is_file().then_some(metadata.len());
    let progress = BytesRead::new(&format!("reading {}", path.display()), total_bytes);
    hprof::read_file(path, &|bytes| progress.show(bytes)).map_err(|error| match &error {
        hprof::HprofError::NotHprof { .. } => not_hprof(path, &error),
        hprof::HprofError::Read { source, offset: 0, .. } => not_opened(path, source),
        _ => failure_of(&error),
    })
}

fn read_stdin() -> Result<ClassHistogram, Failure> {
    if io::stdin().is_terminal() {
        let message = "standard input is a terminal, not a heap dump\n  give a file, or: ssh HOST cat X.hprof | assay heap predict -";
        return Err(Failure::input(message));
    }
    let progress = BytesRead::new("reading standard input", None);
    hprof::read(io::stdin(), STDIN, &|bytes| progress.show(bytes)).map_err(|error| failure_of(&error))
}

fn not_opened(path: &Path, error: &io::Error) -> Failure {
    // People name a process as in other commands.
    let is_process = |name: &str| name.parse::<u32>().is_ok() || matches!(jvm_named(name), Ok(Some(_)));
    let hint = match error.kind() {
        ErrorKind::NotFound if path.to_str().is_some_and(is_process) => {
            format!("\n  of a running JVM: assay heap predict --pid {}", path.display())
        }
        ErrorKind::NotFound => format!("\n  make one with: jcmd PID GC.heap_dump {}", path.display()),
        ErrorKind::PermissionDenied => {
            "\n  dumps belong to the server's user, who alone may read them: sudo chmod a+r DUMP, or run as that user".to_owned()
        }
        _ => String::new(),
    };
    Failure::input(format!("cannot read {}: {error}{hint}", path.display()))
}

/// The kind of file that it is instead; one of no other known kind may be a truncated dump.
fn not_hprof(path: &Path, error: &hprof::HprofError) -> Failure {
    match (kind_of(path), said_of(path)) {
        (Some(FileKind::HeapDump | FileKind::Binary | FileKind::Empty) | None, _) | (_, None) => {
            failure_of(error)
        }
        (Some(_), Some(said)) => Failure::input(format!("{error}; {said}{MAKE_ONE}")),
    }
}

fn failure_of(error: &hprof::HprofError) -> Failure {
    let hint = match error {
        hprof::HprofError::NotHprof { .. } => MAKE_ONE,
        hprof::HprofError::NoObjects { .. } => {
            "\n  was the JVM killed while it wrote, or the disk full? make another with: jcmd PID GC.heap_dump FILE"
        }
        hprof::HprofError::Read { .. } => "",
    };
    Failure::input(format!("{error}{hint}"))
}
