//! Has a process give freed memory back, by a command of its JVM or a function of its allocator, and shows what was predicted and what came
//! of it.

use crate::jvm::Jvm;
use crate::snapshot::take;
use crate::{MemoryError, ReadOptions, SnapshotDepth, read};
use assay_allocators::{GiveBack, give_back};
use assay_hotspot::{AttachError, attach_command};
use assay_linux::{CachedMemory, CallError, LinuxError, LiveProcess, ProcRoot};
use assay_model::{Allocator, MemoryReport, TrimCall};
use std::io::ErrorKind;
use std::time::Duration;

/// The JVM's name for it: late updates of JDK 11 and 17 have it, and 18 and later.
const TRIM: &str = "System.trim_native_heap";
/// A command that changes nothing.
const WARM_UP: &str = "VM.version";
/// A trim of some GiB takes seconds, in which malloc's arenas are locked one after the other.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// What a trim brought.
#[derive(Debug, Clone)]
pub struct Trimmed {
    /// The snapshot before it.
    pub before: MemoryReport,
    /// The snapshot after it.
    pub after: MemoryReport,
    /// Prediction from the snapshot before; absent where malloc could not be walked or cannot be trimmed.
    pub predicted_bytes: Option<u64>,
    /// Why there is no prediction, as a clause.
    pub not_predicted: Option<String>,
    /// By how much RSS fell, all that the process did meanwhile included; negative when it grew.
    pub actual_bytes: i64,
    /// The JVM's words; empty where a function was called.
    pub answer: String,
    /// The function that was called, where it was not the JVM that was asked.
    pub call: Option<TrimCall>,
}

/// Why a process was not trimmed.
#[derive(Debug, thiserror::Error)]
pub enum TrimError {
    /// It could not be looked at.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The JVM could not be asked, or refused.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// It is stopped, and cannot answer.
    #[error("process {pid} is stopped and cannot answer: kill -CONT {pid} continues it")]
    Stopped {
        /// The process.
        pid: u32,
    },
    /// This release has no such command.
    #[error(
        "the JVM {pid} ({version}) has no command {TRIM}: late updates of 11 and 17 have it, and 18 and \
            later. On any release: assay memory {pid} --trim --in-thread --yes"
    )]
    NoCommand {
        /// The process.
        pid: u32,
        /// Its release, where that is known.
        version: String,
    },
    /// Its allocator cannot be called.
    #[error("memory of process {pid} cannot be given back by a call in a thread: {why}")]
    NoFunction {
        /// The process.
        pid: u32,
        /// The reason, as a clause.
        why: String,
    },
    /// The function was not called.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl TrimError {
    /// Whether another process was meant: this one is no JVM.
    pub fn is_wrong_process(&self) -> bool {
        matches!(self, TrimError::Attach(AttachError::NotJvm { .. }))
    }
}

/// Has the JVM of this process trim malloc, and looks at it before and after.
///
/// This acts on the process: the first command ever sent to a JVM makes it start a thread, which stays (about 200 KiB), and
/// the trim locks malloc's arenas one after the other, so that threads that allocate natively may wait for it. Memory
/// that is given back costs page faults when it is needed again. The thread is started before the first snapshot, so that its
/// memory is not taken for a loss.
///
/// # Errors
/// When the process cannot be looked at, is no JVM, does not answer within 60 seconds, or has no such command.
pub fn trim(pid: u32) -> Result<Trimmed, TrimError> {
    let proc = ProcRoot::default();
    check_runs(&proc, pid)?;
    let ask = |command| attach_command(&proc, pid, command, ANSWER_TIMEOUT);
    ask(WARM_UP).map_err(|error| denied(&proc, pid, error))?;
    let options = ReadOptions::of_depth(SnapshotDepth::Structures);
    let before = read(pid, &options)?;
    let answer = ask(TRIM).map_err(|error| refused(error, &before))?;
    let after = read(pid, &options)?;
    let trimmed = Trimmed { answer: answer.trim_end().to_owned(), ..Trimmed::of(before, after) };
    Ok(trimmed.by_glibc_alone())
}

/// Has any process give freed memory back: the function of its allocator (`malloc_trim(0)`, or that of jemalloc or tcmalloc) is called in its
/// main thread, which is stopped for that. See [`ProcRoot::call_function`] for what is refused.
///
/// # Errors
/// When the process cannot be looked at, its allocator has no such function, or its main thread is not where a call is safe.
pub fn trim_in_thread(pid: u32) -> Result<Trimmed, TrimError> {
    let proc = ProcRoot::default();
    check_runs(&proc, pid)?;
    let options = ReadOptions::of_depth(SnapshotDepth::Structures);
    let before = read(pid, &options)?;
    let GiveBack { name, call } = find_function(&proc, pid, &options)?;
    let called = proc.call_function(pid, &call, ANSWER_TIMEOUT)?;
    let after = read(pid, &options)?;
    let call = TrimCall {
        function: name.to_owned(),
        thread: called.thread,
        stopped_ns: called.stopped_ns,
        took_ns: called.took_ns,
    };
    Ok(Trimmed { call: Some(call), ..Trimmed::of(before, after) })
}

fn find_function(proc: &ProcRoot, pid: u32, options: &ReadOptions) -> Result<GiveBack, TrimError> {
    let process = LiveProcess::open(proc, pid).map_err(MemoryError::from)?;
    let cached = CachedMemory::new(&process);
    let seen = take(&cached, Jvm::find(&cached), options, &[]);
    give_back(&process, &seen.survey).map_err(|why| TrimError::NoFunction { pid, why })
}

/// A stopped process would be waited for until the time is over.
fn check_runs(proc: &ProcRoot, pid: u32) -> Result<(), TrimError> {
    if proc.is_stopped(pid) { Err(TrimError::Stopped { pid }) } else { Ok(()) }
}

impl Trimmed {
    fn of(before: MemoryReport, after: MemoryReport) -> Trimmed {
        let allocator = before.allocator.as_ref();
        let predicted_bytes = allocator.and_then(|allocator| allocator.trim_gain_bytes);
        let not_predicted = predicted_bytes.is_none().then(|| match allocator {
            Some(of) => format!("the free memory of {} could not be read from outside", of.name),
            None => "no allocator was found".to_owned(),
        });
        let bytes = |snapshot: &MemoryReport| i64::try_from(snapshot.rss_bytes).unwrap_or(i64::MAX);
        let actual_bytes = bytes(&before) - bytes(&after);
        Trimmed {
            before,
            after,
            predicted_bytes,
            not_predicted,
            actual_bytes,
            answer: String::new(),
            call: None,
        }
    }

    /// The JVM's command calls the function of glibc, whichever allocator the process has.
    fn by_glibc_alone(self) -> Trimmed {
        let other = self.before.allocator.as_ref().map(|of| of.name).filter(|name| *name != Allocator::Glibc);
        let Some(other) = other else { return self };
        let why = format!(
            "the JVM's command trims glibc's malloc alone, and the process uses {other}. Its own function: assay memory {} --trim \
             --in-thread --yes",
            self.before.pid
        );
        Trimmed { predicted_bytes: None, not_predicted: Some(why), ..self }
    }
}

/// A refusal of the kernel with its reason, as a snapshot has it.
fn denied(proc: &ProcRoot, pid: u32, error: AttachError) -> TrimError {
    match error {
        AttachError::Io { path, source, .. } | AttachError::Linux(LinuxError::Read { path, source })
            if source.kind() == ErrorKind::PermissionDenied =>
        {
            let denial = proc.explain_denied(pid);
            MemoryError::from(LinuxError::Denied { path, denial }).into()
        }
        other => other.into(),
    }
}

/// A JVM that does not know the command says so in words that name an exception of its own.
fn refused(error: AttachError, snapshot: &MemoryReport) -> TrimError {
    match &error {
        AttachError::Refused { answer, .. } if answer.contains("Unknown diagnostic command") => {
            let version = snapshot.jvm.as_ref().and_then(|jvm| jvm.version.clone());
            TrimError::NoCommand {
                pid: snapshot.pid,
                version: version.unwrap_or_else(|| "release not known".to_owned()),
            }
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::{find_java, skip, start_java};

    #[test]
    fn a_stopped_process_is_told_at_once() {
        let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
        let jvm = start_java(&java, &["-Xmx128m"], &[], "Waiting");
        jvm.freeze();
        let error = trim(jvm.pid()).expect_err("it cannot answer");
        assert!(matches!(error, TrimError::Stopped { pid } if pid == jvm.pid()), "{error}");
    }

    #[test]
    fn a_command_that_a_jvm_does_not_have_is_told_by_its_release() {
        let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
        let jvm = start_java(&java, &["-Xmx128m"], &[], "Waiting");
        let snapshot =
            read(jvm.pid(), &ReadOptions::of_depth(SnapshotDepth::Structures)).expect("a snapshot");
        let unknown = attach_command(&ProcRoot::default(), jvm.pid(), "System.no_such", ANSWER_TIMEOUT);
        let told = refused(unknown.expect_err("no JVM has it"), &snapshot).to_string();
        assert!(told.contains("(17.") && told.contains("late updates"), "{told}");
    }
}
