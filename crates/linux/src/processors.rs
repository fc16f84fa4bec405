//! Sets of processors: which ones this process may use, their halves by whole cores, and the threads that are moved between them.

use crate::{ProcRoot, SysRoot};
use assay_model::HalvesOf;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeSet;
use std::io;

/// Listings of a process's threads before it is given up to find none that is not moved: a new thread runs where the one ran that made it.
const LISTINGS_MAX: usize = 20;
/// Highest number in a list, and one more.
const NUMBERS_MAX: u32 = 1 << 16;

/// Processors, by the kernel's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processors(BTreeSet<u32>);

/// The processors of a machine in two halves of the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halves {
    /// The halves.
    pub halves: [Processors; 2],
    /// By which they were divided.
    pub of: HalvesOf,
    /// What is left over.
    pub left_over: Processors,
}

impl FromIterator<u32> for Processors {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Processors {
        Processors(numbers.into_iter().collect())
    }
}

/// As the kernel writes a list: `0-2,5`.
impl std::fmt::Display for Processors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for number in &self.0 {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *number => *last = *number,
                _ => runs.push((*number, *number)),
            }
        }
        let run = |(first, last): (u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        f.write_str(&runs.into_iter().map(run).collect::<Vec<_>>().join(","))
    }
}

impl Processors {
    /// Those of a list of the kernel, such as `0-3,8`; `None` if it is not one.
    pub fn parse(list: &str) -> Option<Processors> {
        let mut numbers = BTreeSet::new();
        for part in list.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if last < first || NUMBERS_MAX <= last {
                return None;
            }
            numbers.extend(first..=last);
        }
        Some(Processors(numbers))
    }

    /// Those that the calling thread may use.
    ///
    /// # Errors
    /// The kernel has more processors than a set of 1,024 can hold.
    pub fn allowed() -> io::Result<Processors> {
        let set = sched_getaffinity(None)?;
        Ok((0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).map(|number| number as u32).collect())
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this one belongs to them.
    pub fn contains(&self, number: u32) -> bool {
        self.0.contains(&number)
    }

    /// Their numbers, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// Two halves of them, as many processors in each; `None` of fewer than two. Cores are dealt out in turn, so that each half has its share of
    /// every socket, every shared cache and every kind of core.
    pub fn halves(&self, sys: &SysRoot) -> Option<Halves> {
        let cores = self.cores(sys);
        let of = match &cores {
            None => HalvesOf::Processors,
            Some(cores) if cores.len() == 1 => HalvesOf::ThreadsOfOneCore,
            Some(_) => HalvesOf::Cores,
        };
        let singly = || self.numbers().map(|number| Processors::from_iter([number])).collect();
        let cores: Vec<Processors> = cores.filter(|cores| 1 < cores.len()).unwrap_or_else(singly);
        let (mut halves, mut left_over) = ([Processors::default(), Processors::default()], BTreeSet::new());
        // A core with as many threads as the one before it is its counterpart in the other half.
        let mut waiting: Vec<Processors> = Vec::new();
        for core in cores {
            match waiting.iter().position(|other| other.count() == core.count()) {
                Some(at) => {
                    halves[0].0.extend(waiting.remove(at).0);
                    halves[1].0.extend(core.0);
                }
                None => waiting.push(core),
            }
        }
        waiting.into_iter().for_each(|core| left_over.extend(core.0));
        (0 < halves[0].count()).then_some(Halves { halves, of, left_over: Processors(left_over) })
    }

    /// Its cores, each with the threads of it that belong to the set; `None` where the kernel does not say.
    fn cores(&self, sys: &SysRoot) -> Option<Vec<Processors>> {
        let mut cores: Vec<Processors> = Vec::new();
        for number in self.numbers() {
            let name = format!("devices/system/cpu/cpu{number}/topology/thread_siblings_list");
            let siblings = Processors::parse(&sys.read_optional(&name).ok()??)?;
            if !siblings.contains(number) {
                return None;
            }
            if !cores.iter().any(|core| core.contains(number)) {
                cores.push(siblings.numbers().filter(|sibling| self.contains(*sibling)).collect());
            }
        }
        Some(cores)
    }

    /// Has the calling thread run on them alone, and every thread and process that it starts from then on.
    ///
    /// # Errors
    /// None of them may be used.
    pub fn run_here(&self) -> io::Result<()> {
        self.run_thread(None)
    }

    /// The same during `work`; afterwards the thread has what it had before.
    ///
    /// # Errors
    /// None of them may be used.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        let before = Processors::allowed()?;
        self.run_here()?;
        let done = work();
        before.run_here()?;
        Ok(done)
    }

    /// Moves all threads of a process to them; new threads of it begin there. A process or thread that has ended is none.
    ///
    /// # Errors
    /// None of them may be used, or the process belongs to somebody else.
    pub fn run_process(&self, proc: &ProcRoot, pid: u32) -> io::Result<()> {
        let mut moved = BTreeSet::new();
        for _ in 0..LISTINGS_MAX {
            let Ok(threads) = proc.read_thread_ids(pid) else { return Ok(()) };
            let new: Vec<u32> = threads.into_iter().filter(|thread| !moved.contains(thread)).collect();
            if new.is_empty() {
                return Ok(());
            }
            for thread in new {
                match Pid::from_raw(i32::try_from(thread).unwrap_or(0))
                    .map(|thread| self.run_thread(Some(thread)))
                {
                    Some(Err(e)) if e.raw_os_error() != Some(rustix::io::Errno::SRCH.raw_os_error()) => {
                        return Err(e);
                    }
                    _ => moved.insert(thread),
                };
            }
        }
        Err(io::Error::other(format!("process {pid} starts threads faster than they can be moved")))
    }

    fn run_thread(&self, thread: Option<Pid>) -> io::Result<()> {
        let mut set = CpuSet::new();
        self.numbers()
            .filter(|number| (*number as usize) < CpuSet::MAX_CPU)
            .for_each(|number| set.set(number as usize));
        Ok(sched_setaffinity(thread, &set)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Processors {
        Processors::parse(text).expect("a list")
    }

    /// Halves of the processors `all` of a machine with these cores.
    fn halves(all: &str, cores: &[&str]) -> Option<(String, String, HalvesOf, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        for core in cores {
            for number in list(core).numbers() {
                let topology = folder.path().join(format!("devices/system/cpu/cpu{number}/topology"));
                std::fs::create_dir_all(&topology).expect("a folder");
                std::fs::write(topology.join("thread_siblings_list"), format!("{core}\n")).expect("a file");
            }
        }
        let Halves { halves: [a, b], of, left_over } = list(all).halves(&SysRoot::at(folder.path()))?;
        Some((a.to_string(), b.to_string(), of, left_over.to_string()))
    }

    fn are(a: &str, b: &str, of: HalvesOf, left_over: &str) -> Option<(String, String, HalvesOf, String)> {
        Some((a.to_owned(), b.to_owned(), of, left_over.to_owned()))
    }

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for text in ["0", "0-2,5", "1,3,5-7", ""] {
            assert_eq!(list(text).to_string(), text);
        }
        assert_eq!(list("0,1\n"), list("0-1"));
        for wrong in ["a", "2-1", "0-65536", "-"] {
            assert_eq!(Processors::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn halves_are_whole_cores_dealt_out_in_turn() {
        assert_eq!(halves("0-1", &["0", "1"]), are("0", "1", HalvesOf::Cores, ""));
        assert_eq!(
            halves("0-7", &["0,4", "1,5", "2,6", "3,7"]),
            are("0,2,4,6", "1,3,5,7", HalvesOf::Cores, "")
        );
        assert_eq!(halves("0-3", &["0-1", "2-3"]), are("0-1", "2-3", HalvesOf::Cores, ""));
    }

    #[test]
    fn what_has_no_counterpart_is_left_over() {
        assert_eq!(halves("0-2", &["0", "1", "2"]), are("0", "1", HalvesOf::Cores, "2"));
        // Fast cores of two threads, slow ones of one.
        let hybrid = ["0-1", "2-3", "4", "5", "6"];
        assert_eq!(halves("0-6", &hybrid), are("0-1,4", "2-3,5", HalvesOf::Cores, "6"));
        // Of the third core one thread may be used.
        assert_eq!(halves("0-4", &["0-1", "2-3", "4-5"]), are("0-1", "2-3", HalvesOf::Cores, "4"));
    }

    #[test]
    fn one_core_and_an_unknown_topology_are_said() {
        assert_eq!(halves("0-1", &["0-1"]), are("0", "1", HalvesOf::ThreadsOfOneCore, ""));
        assert_eq!(halves("0-3", &[]), are("0,2", "1,3", HalvesOf::Processors, ""));
        assert_eq!(halves("3", &["3"]), None);
        assert_eq!(halves("", &[]), None);
    }

    /// On a machine of one processor both are the same, and nothing is moved; that it works is all the same to be read.
    #[test]
    fn a_process_and_its_new_threads_run_where_they_were_moved_to() {
        let all = Processors::allowed().expect("a set");
        let last = Processors::from_iter(all.numbers().last());
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let seen = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                last.run_here().expect("one of those allowed");
                let inherited = std::thread::scope(|scope| {
                    scope.spawn(|| Processors::allowed().expect("a set")).join().expect("no panic")
                });
                let during = all.run(|| Processors::allowed().expect("a set")).expect("allowed");
                drop(receiver);
                (inherited, during, Processors::allowed().expect("a set"))
            });
            thread.join().expect("no panic")
        });
        drop(sender);
        assert_eq!(seen, (last.clone(), all, last.clone()));
        let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("a process");
        let moved = last.run_process(&ProcRoot::default(), child.id());
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("its status");
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        moved.expect("it is ours");
        let allowed =
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a line");
        assert_eq!(list(allowed), last);
        assert!(last.run_process(&ProcRoot::default(), child.id()).is_ok(), "one that has ended is none");
    }
}
