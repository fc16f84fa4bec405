//! Observes what all processes of a trial take in each window, the server and what stands beside it: CPU time by role, the kernel's share
//! of it, page faults, and memory as proportional set size, in which a page that several share counts once in all.
//!
//! It looks when the settling before a window ends and when its load does. Processes that a role started count with it.

use super::completed::Completed;
use super::contract::{Observer, Target};
use super::edges::WindowEdges;
use crate::process_cpu::members_cpu_ns;
use assay_counters::is_collector_s;
use assay_linux::{ProcRoot, ProcessIdentity, ProcessStat, ProcessTree, monotonic_ns, ticks_per_s};
use assay_load::Measured;
use assay_model::{Metric, Problem, Window, metric};
use std::collections::BTreeMap;
use std::time::Duration;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: u64 = 1_000_000_000;
/// Threads of a process that are looked at; a collector's are among the first.
const THREADS_MAX: usize = 4096;

/// CPU time and page faults of a role's processes since they began.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    cpu_ns: u64,
    /// Of it in the kernel: sampled by the kernel in ticks, and without processes that have ended.
    kernel_ns: u64,
    minor_faults: u64,
    /// Of the CPU time that of threads whose names are those of a collector's; none where there are none.
    collector_ns: Option<u64>,
}

impl Used {
    fn cpu_ms(self) -> f64 {
        self.cpu_ns as f64 / NS_PER_MS
    }

    fn kernel_ms(self) -> f64 {
        self.kernel_ns as f64 / NS_PER_MS
    }

    fn faults(self) -> f64 {
        self.minor_faults as f64
    }

    fn and(self, other: Used) -> Used {
        self.with(other, u64::saturating_add)
    }

    fn less(self, other: Used) -> Used {
        self.with(other, u64::saturating_sub)
    }

    fn with(self, other: Used, of: fn(u64, u64) -> u64) -> Used {
        Used {
            cpu_ns: of(self.cpu_ns, other.cpu_ns),
            kernel_ns: of(self.kernel_ns, other.kernel_ns),
            minor_faults: of(self.minor_faults, other.minor_faults),
            collector_ns: match (self.collector_ns, other.collector_ns) {
                (None, None) => None,
                (own, other) => Some(of(own.unwrap_or(0), other.unwrap_or(0))),
            },
        }
    }
}

/// One role with its processes.
struct Role {
    name: String,
    tree: ProcessTree,
    /// At the start of the window.
    from: Used,
    /// And at its end.
    to: Used,
    /// Use of processes that ended and were started again.
    gone: Used,
    /// What its processes had used when one of them had ended, before it was waited for.
    at_loss: Option<Used>,
}

impl Role {
    fn new(name: &str, tree: ProcessTree) -> Role {
        let none = Used::default();
        Role { name: name.to_owned(), tree, from: none, to: none, gone: none, at_loss: None }
    }

    /// Use of its processes, including those that ended.
    fn used(&mut self, proc: &ProcRoot) -> Used {
        let members = self.tree.read(proc).unwrap_or_default();
        let sum = |of: fn(&ProcessStat) -> u64| members.iter().map(of).fold(0, u64::saturating_add);
        Used {
            cpu_ns: members_cpu_ns(&members, &[]),
            kernel_ns: sum(|p| p.system_ticks).saturating_mul(NS_PER_S / ticks_per_s().max(1)),
            minor_faults: sum(|p| p.minor_faults),
            collector_ns: members
                .iter()
                .filter_map(|p| collector_ns(proc, p.pid))
                .reduce(u64::saturating_add),
        }
        .and(self.gone)
    }

    /// What the collectors used of the CPU time in the window, percent.
    fn collector_percent(&self) -> Option<f64> {
        let of_all_ns = self.to.cpu_ns.saturating_sub(self.from.cpu_ns);
        let of_collectors_ns = self.to.collector_ns?.saturating_sub(self.from.collector_ns?);
        (of_all_ns != 0).then(|| 100.0 * of_collectors_ns as f64 / of_all_ns as f64)
    }
}

/// CPU time of the collector's threads of a process, if it has any.
fn collector_ns(proc: &ProcRoot, pid: u32) -> Option<u64> {
    let of_one = |thread: &u32| {
        let name = proc.read_thread_name(pid, *thread).ok()??;
        let used = is_collector_s(&name).then(|| proc.read_thread_schedstat(pid, *thread))?;
        used.ok()?.map(|used| used.run_ns)
    };
    proc.read_thread_ids(pid).ok()?.iter().take(THREADS_MAX).filter_map(of_one).reduce(u64::saturating_add)
}

#[derive(Default)]
pub(crate) struct ProcessesObserver {
    proc: ProcRoot,
    roles: Vec<Role>,
    edges: WindowEdges,
    /// When the looks at the start and the end of the window were taken.
    looked_ns: (u64, Option<u64>),
}

impl ProcessesObserver {
    fn look(&mut self, set: fn(&mut Role, Used)) -> u64 {
        let at_ns = monotonic_ns();
        for role in &mut self.roles {
            let used = role.used(&self.proc);
            set(role, used);
        }
        at_ns
    }

    /// CPU time and page faults for each request.
    fn add_used(&self, measured: &Measured, window: &mut Window) {
        let id = metric::ALL_CPU_MS_PER_REQUEST;
        let (from_ns, Some(to_ns)) = self.looked_ns else {
            window
                .problems
                .push(Problem::new(id, "the window is too short for two readings of the processes"));
            return;
        };
        let requests = Completed::of(measured).between(from_ns, to_ns);
        if requests < 1.0 {
            window.problems.push(Problem::new(id, "no request completed"));
            return;
        }
        let kinds = [
            (id, metric::PROCESS_CPU_MS_PER_REQUEST, Used::cpu_ms as fn(Used) -> f64),
            (metric::ALL_KERNEL_MS_PER_REQUEST, metric::PROCESS_KERNEL_MS_PER_REQUEST, Used::kernel_ms),
            (metric::ALL_MINOR_FAULTS_PER_REQUEST, metric::PROCESS_MINOR_FAULTS_PER_REQUEST, Used::faults),
        ];
        for (of_all, of_one, amount) in kinds {
            let mut all = 0.0;
            for role in &self.roles {
                // A process that ended during the window is in neither.
                let used = (amount(role.to) - amount(role.from)).max(0.0) / requests;
                all += used;
                add(of_one, &role.name, used, window);
            }
            window.metrics.insert(of_all.to_owned(), all);
        }
        for role in &self.roles {
            if let Some(percent) = role.collector_percent() {
                add(metric::PROCESS_COLLECTOR_CPU_PERCENT, &role.name, percent, window);
            }
        }
    }

    /// At the end of the window. A role of which it cannot be read makes the sum unknown, too.
    fn add_memory(&mut self, window: &mut Window) {
        let mut all_bytes = Ok(0);
        for role in &mut self.roles {
            let pids = role.tree.read(&self.proc).map_err(|e| e.to_string());
            // One that has ended and was not waited for has no memory.
            let running = pids.map(|all| all.into_iter().filter(|p| p.state != 'Z').map(|p| p.pid).collect());
            let pss = running.and_then(|pids: Vec<u32>| pss_bytes(&self.proc, &pids));
            match pss {
                Ok(bytes) => {
                    all_bytes = all_bytes.map(|all: u64| all.saturating_add(bytes));
                    add(metric::PROCESS_PSS_BYTES, &role.name, bytes as f64, window);
                }
                Err(why) => all_bytes = Err(format!("of {}: {why}", role.name)),
            }
        }
        match all_bytes {
            Ok(bytes) => {
                window.metrics.insert(metric::ALL_PSS_BYTES.to_owned(), bytes as f64);
            }
            Err(why) => window.problems.push(Problem::new(metric::ALL_PSS_BYTES, why)),
        }
    }
}

fn add(kind: &str, role: &str, value: f64, window: &mut Window) {
    if let Some(of_role) = Metric::of_process(kind, role) {
        window.metrics.insert(of_role.id.into_owned(), value);
    }
}

fn pss_bytes(proc: &ProcRoot, pids: &[u32]) -> Result<u64, String> {
    if pids.is_empty() {
        return Err("it has ended".to_owned());
    }
    let mut sum = 0_u64;
    for pid in pids {
        let rollup = proc.read_smaps_rollup(*pid).map_err(|e| e.to_string())?;
        let of_one = rollup.and_then(|rollup| rollup.pss_bytes);
        sum = sum.saturating_add(of_one.ok_or("the kernel does not say it (smaps_rollup)")?);
    }
    Ok(sum)
}

impl Observer for ProcessesObserver {
    fn name(&self) -> &'static str {
        "processes"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        if !target.has_even_load {
            return Err("it distinguishes processes only in windows of one load".to_owned());
        }
        let mut by_role: BTreeMap<&str, Vec<ProcessIdentity>> = BTreeMap::new();
        for (name, pid) in &target.processes {
            let identity = self.proc.identity_of(*pid).map_err(|e| e.to_string())?;
            by_role.entry(name).or_default().push(identity);
        }
        self.roles =
            by_role.into_iter().map(|(name, roots)| Role::new(name, ProcessTree::of(roots))).collect();
        if self.roles.is_empty() { Err("no process is known".to_owned()) } else { Ok(()) }
    }

    fn begin_window(&mut self, settle: Duration) -> Result<(), String> {
        self.edges.begin(settle);
        self.looked_ns = (0, None);
        Ok(())
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        if self.edges.is_start_due() {
            self.edges.has_started();
            self.looked_ns = (self.look(|role, used| role.from = used), None);
        }
        Ok(())
    }

    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        if self.edges.ends() && !self.edges.was_too_short() {
            let to_ns = self.look(|role, used| role.to = used);
            self.looked_ns.1 = Some(to_ns);
        }
        Ok(())
    }

    fn lost(&mut self, _target: &Target, role: &str, _pid: u32) -> Result<(), String> {
        for role in self.roles.iter_mut().filter(|of| of.name == role) {
            role.at_loss = Some(role.used(&self.proc));
        }
        Ok(())
    }

    fn replaced(&mut self, _target: &Target, role: &str, pid: u32) -> Result<(), String> {
        let identity = self.proc.identity_of(pid).map_err(|e| e.to_string())?;
        for role in self.roles.iter_mut().filter(|of| of.name == role) {
            // The one that ended was waited for, and what it used is counted nowhere any more.
            let left = role.used(&self.proc);
            role.gone = role.gone.and(role.at_loss.take().unwrap_or(left).less(left));
            role.tree.add(identity);
        }
        Ok(())
    }

    fn end_window(
        &mut self,
        _target: &Target,
        measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        self.add_used(measured, window);
        self.add_memory(window);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::Load;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// A shell that works for a while and then waits for its input; with a child of its own that does the same.
    struct Worker(Child);

    impl Worker {
        fn start(loops: u32) -> Worker {
            let work = format!("i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done; echo done");
            Worker::of(&format!("({work}; read x) & {work}; read x"), 2)
        }

        /// The same without a child.
        fn alone(loops: u32) -> Worker {
            Worker::of(&format!("i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done; echo done; read x"), 1)
        }

        fn of(text: &str, answers: u32) -> Worker {
            let mut command = Command::new("sh");
            command.args(["-c", text]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut worker = Worker(command.spawn().expect("a shell"));
            let mut told = BufReader::new(worker.0.stdout.take().expect("piped"));
            for _ in 0..answers {
                told.read_line(&mut String::new()).expect("its answer");
            }
            worker
        }
    }

    impl Drop for Worker {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn observer(processes: &[(&str, u32)]) -> ProcessesObserver {
        let mut observer = ProcessesObserver::default();
        for (name, pid) in processes {
            let tree = ProcessTree::of([observer.proc.identity_of(*pid).expect("it runs")]);
            observer.roles.push(Role::new(name, tree));
        }
        observer
    }

    /// Load that ended at the first nanosecond, after which so many requests were answered.
    fn measured(drained: u64) -> Measured {
        let load = Load::Closed { users: 1, think: None };
        Measured { drained, ..Measured::empty(load, 1, (0, 1)) }
    }

    #[test]
    fn each_role_has_what_its_processes_used_with_their_children_and_all_have_the_sum() {
        let (busy, idle) = (Worker::start(40_000), Worker::start(1));
        let mut observer = observer(&[("busy", busy.0.id()), ("idle", idle.0.id())]);
        let to_ns = observer.look(|role, used| role.to = used);
        observer.looked_ns = (0, Some(to_ns));
        let mut window = Window::default();
        observer.add_used(&measured(10), &mut window);
        observer.add_memory(&mut window);
        assert_eq!(window.problems, []);
        let of = |id: &str| window.metrics.get(id).copied().unwrap_or_else(|| panic!("{id}"));
        let (busy_ms, idle_ms) =
            (of("process_cpu_ms_per_request/busy"), of("process_cpu_ms_per_request/idle"));
        assert!(idle_ms < busy_ms, "{idle_ms} {busy_ms}");
        assert!((of("all_cpu_ms_per_request") - busy_ms - idle_ms).abs() < 1e-9);
        for kind in ["kernel_ms", "minor_faults"] {
            let of_kind = |role: &str| of(&format!("process_{kind}_per_request/{role}"));
            let sum = of_kind("busy") + of_kind("idle");
            assert!((of(&format!("all_{kind}_per_request")) - sum).abs() < 1e-9, "{kind}");
        }
        assert!(of("process_kernel_ms_per_request/busy") < busy_ms + 1.0, "ticks of 10 ms");
        assert!(0.0 < of("process_minor_faults_per_request/idle"), "{:?}", window.metrics);
        // Of both shells of the busy one: each counted as far.
        let own_ns = assay_linux::process_cpu_ns(busy.0.id()).expect("it runs") as f64;
        assert!(1.2 * own_ns < busy_ms * 10.0 * NS_PER_MS, "{own_ns} {busy_ms}");
        let sum = of("process_pss_bytes/busy") + of("process_pss_bytes/idle");
        assert!(0.0 < sum && (of("all_pss_bytes") - sum).abs() < 1.0, "{:?}", window.metrics);
    }

    /// A program with the name of a collector's thread: the kernel names its only thread after it.
    #[test]
    fn threads_with_a_collector_s_name_have_their_share() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("GC Thread#0");
        std::fs::copy("/bin/sh", &program).expect("a shell");
        let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x";
        let mut command = Command::new(&program);
        command.args(["-c", work]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut named = Worker(command.spawn().expect("it starts"));
        let mut told = BufReader::new(named.0.stdout.take().expect("piped"));
        told.read_line(&mut String::new()).expect("its answer");
        let other = Worker::start(1);
        let mut observer = observer(&[("named", named.0.id()), ("other", other.0.id())]);
        for role in &mut observer.roles {
            role.from.collector_ns = Some(0);
        }
        let to_ns = observer.look(|role, used| role.to = used);
        observer.looked_ns = (0, Some(to_ns));
        let mut window = Window::default();
        observer.add_used(&measured(10), &mut window);
        let percent = window.metrics.get("process_collector_cpu_percent/named").copied();
        assert!(percent.is_some_and(|percent| (80.0..120.0).contains(&percent)), "{percent:?}");
        assert!(!window.metrics.contains_key("process_collector_cpu_percent/other"), "absent is not zero");
    }

    #[test]
    fn what_one_used_that_was_ended_and_started_again_stays_counted() {
        let mut first = Worker::alone(40_000);
        let mut observer = observer(&[("busy", first.0.id())]);
        let before_ns = observer.roles[0].used(&observer.proc).cpu_ns;
        first.0.kill().expect("it runs");
        let target = Target::default();
        // Until it is waited for it can be read.
        while observer.proc.read_process_stat(first.0.id()).is_ok_and(|stat| stat.state != 'Z') {
            std::thread::sleep(Duration::from_millis(1));
        }
        observer.lost(&target, "busy", first.0.id()).expect("no reason");
        drop(first);
        let second = Worker::alone(40_000);
        observer.replaced(&target, "busy", second.0.id()).expect("it runs");
        let own_ns = assay_linux::process_cpu_ns(second.0.id()).expect("it runs");
        let after_ns = observer.roles[0].used(&observer.proc).cpu_ns;
        // The kernel gives the time of children that ended in ticks.
        assert!(before_ns + own_ns - 50_000_000 < after_ns, "{before_ns} + {own_ns} <= {after_ns}");
    }

    #[test]
    fn a_window_without_two_readings_or_requests_says_so() {
        let mut window = Window::default();
        observer(&[]).add_used(&measured(10), &mut window);
        let mut looked = observer(&[]);
        looked.looked_ns = (5, Some(6));
        looked.add_used(&measured(10), &mut window);
        let what: Vec<&str> = window.problems.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(
            what,
            ["the window is too short for two readings of the processes", "no request completed"]
        );
        assert!(window.metrics.is_empty());
    }

    #[test]
    fn a_role_that_has_ended_leaves_the_sum_of_memory_unknown() {
        let worker = Worker::start(1);
        let mut observer = observer(&[("gone", worker.0.id())]);
        drop(worker);
        let mut window = Window::default();
        observer.add_memory(&mut window);
        assert!(!window.metrics.contains_key("all_pss_bytes"), "{:?}", window.metrics);
    }
}
