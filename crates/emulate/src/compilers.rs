//! The threads of a server's JVM that compile, as the guest's `/proc` shows them.

use assay_linux::ProcRoot;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How the names of threads begin that compile: HotSpot's, and OpenJ9's.
const NAMES: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JIT Compilation"];
/// How often it is looked whether they still compile.
const LOOK: Duration = Duration::from_millis(100);
/// A JVM that compiles for longer is not waited for.
const BUSY_MAX: Duration = Duration::from_secs(120);

/// A thread that compiles, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Compiler {
    /// CPU time so far, nanoseconds.
    ran_ns: u64,
    /// Its stack pointer, while it waits for work; absent while it runs.
    stack: Option<u64>,
}

/// The compilers of a process by thread number, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compilers(BTreeMap<u32, Compiler>);

/// What compilers did between two moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// Their CPU time, nanoseconds of the guest's clock, which are instructions; absent where there are none.
    pub ran_ns: Option<u64>,
    /// An address in the stack of each; absent where one of them compiled at both moments, so that its stack is not known.
    pub stacks: Option<Vec<u64>>,
}

impl Compilers {
    /// Those of a process now.
    pub fn of(pid: u32) -> Compilers {
        Compilers::read(&ProcRoot::default(), pid)
    }

    fn read(proc: &ProcRoot, pid: u32) -> Compilers {
        let of_thread = |tid: u32| {
            let name = proc.read_thread_name(pid, tid).ok()??;
            NAMES.iter().any(|start| name.starts_with(start)).then_some(())?;
            let ran_ns = proc.read_thread_schedstat(pid, tid).ok()??.run_ns;
            let stack = proc.read_thread_stack_pointer(pid, tid).ok().flatten();
            Some((tid, Compiler { ran_ns, stack }))
        };
        let threads = proc.read_thread_ids(pid).unwrap_or_default();
        Compilers(threads.into_iter().filter_map(of_thread).collect())
    }

    /// Waits until those of a process have no work, or for long enough.
    pub fn wait_until_idle(pid: u32) {
        let begun = Instant::now();
        let is_idle = |of: &Compilers| of.0.values().all(|compiler| compiler.stack.is_some());
        while !is_idle(&Compilers::of(pid)) && begun.elapsed() < BUSY_MAX {
            std::thread::sleep(LOOK);
        }
    }

    /// What they did since an earlier moment.
    pub fn since(&self, earlier: &Compilers) -> Compiled {
        let all = self.0.iter().map(|(thread, now)| {
            let then = earlier.0.get(thread).copied().unwrap_or_default();
            (now.ran_ns.saturating_sub(then.ran_ns), then.stack.or(now.stack))
        });
        let all: Vec<(u64, Option<u64>)> = all.collect();
        let stacks = all.iter().filter(|(ran_ns, _)| *ran_ns != 0).map(|(_, stack)| *stack);
        Compiled {
            ran_ns: all.iter().map(|(ran_ns, _)| *ran_ns).reduce(u64::saturating_add),
            stacks: stacks.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compilers(all: &[(u32, u64, Option<u64>)]) -> Compilers {
        Compilers(
            all.iter()
                .map(|(tid, ran_ns, stack)| (*tid, Compiler { ran_ns: *ran_ns, stack: *stack }))
                .collect(),
        )
    }

    #[test]
    fn threads_that_compile_are_known_by_their_names_and_their_stacks_while_they_wait() {
        let folder = tempfile::tempdir().unwrap();
        let thread = |number: &str, name: &str, syscall: &str| {
            let path = folder.path().join("7/task").join(number);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("comm"), format!("{name}\n")).unwrap();
            std::fs::write(path.join("schedstat"), "7000 20 3\n").unwrap();
            std::fs::write(path.join("syscall"), syscall).unwrap();
        };
        thread("11", "C2 CompilerThre", "202 0x7f00 0x189 0x0 0x0 0x0 0xffffffff 0x7f12f00 0x7f0011\n");
        thread("12", "C1 CompilerThre", "running\n");
        thread("13", "HTTP-Dispatcher", "-1 0x7f20 0x7f30\n");
        let found = Compilers::read(&ProcRoot::at(folder.path()), 7);
        assert_eq!(found, compilers(&[(11, 7_000, Some(0x7f1_2f00)), (12, 7_000, None)]));
    }

    #[test]
    fn what_compilers_did_is_known_where_the_stack_of_each_that_did_something_is() {
        let before = compilers(&[(1, 100, Some(0x1000)), (2, 50, None)]);
        let idle = before.since(&before);
        assert_eq!(idle, Compiled { ran_ns: Some(0), stacks: Some(Vec::new()) });
        let later = compilers(&[(1, 130, None), (2, 70, Some(0x2000)), (3, 5, Some(0x3000))]);
        assert_eq!(
            later.since(&before),
            Compiled { ran_ns: Some(55), stacks: Some(vec![0x1000, 0x2000, 0x3000]) }
        );
        let busy = compilers(&[(1, 130, None), (2, 70, None)]);
        assert_eq!(busy.since(&before).stacks, None, "one compiled at both moments");
        assert_eq!(Compilers::default().since(&before), Compiled { ran_ns: None, stacks: Some(Vec::new()) });
    }
}
