//! Observes what all processes of a trial take in each window, the server and what stands beside it: CPU time by role, and memory as
//! proportional set size, in which a page that several share counts once in all.
//!
//! It looks when the settling before a window ends and when its load does. Processes that a role started count with it.

use super::completed::Completed;
use super::contract::{Observer, Target};
use crate::watch::tree_cpu_ns;
use assay_linux::{ProcRoot, ProcessIdentity, ProcessTree, monotonic_ns};
use assay_load::Measured;
use assay_model::{Metric, Problem, Window, metric};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const NS_PER_MS: f64 = 1e6;

/// One role with its processes.
struct Role {
    name: String,
    tree: ProcessTree,
    /// CPU time at the start of the window.
    from_ns: u64,
    /// And at its end.
    to_ns: u64,
    /// What those used that are gone and were started again.
    gone_ns: u64,
    /// CPU time when one of them had ended, before it was waited for.
    at_loss_ns: Option<u64>,
}

impl Role {
    fn new(name: &str, tree: ProcessTree) -> Role {
        Role { name: name.to_owned(), tree, from_ns: 0, to_ns: 0, gone_ns: 0, at_loss_ns: None }
    }

    /// What its processes have used, those that are gone included.
    fn used_ns(&mut self, proc: &ProcRoot) -> u64 {
        tree_cpu_ns(proc, &mut self.tree, &[]).saturating_add(self.gone_ns)
    }
}

#[derive(Default)]
pub(crate) struct ProcessesObserver {
    proc: ProcRoot,
    roles: Vec<Role>,
    /// When the settling ends; `None` once the look at the window's start was taken.
    begins: Option<Instant>,
    /// When the looks at the start and the end of the window were taken.
    looked_ns: (u64, Option<u64>),
    is_in_window: bool,
}

impl ProcessesObserver {
    fn look(&mut self, set: fn(&mut Role, u64)) -> u64 {
        let at_ns = monotonic_ns();
        for role in &mut self.roles {
            let used_ns = role.used_ns(&self.proc);
            set(role, used_ns);
        }
        at_ns
    }

    fn add_cpu(&self, measured: &Measured, window: &mut Window) {
        let id = metric::ALL_CPU_MS_PER_REQUEST;
        let (from_ns, Some(to_ns)) = self.looked_ns else {
            window.problems.push(Problem::new(id, "the window is too short to look at the processes twice"));
            return;
        };
        let requests = Completed::of(measured).between(from_ns, to_ns);
        if requests < 1.0 {
            window.problems.push(Problem::new(id, "no request completed"));
            return;
        }
        let mut all_ms = 0.0;
        for role in &self.roles {
            let ms = role.to_ns.saturating_sub(role.from_ns) as f64 / NS_PER_MS / requests;
            all_ms += ms;
            add(metric::PROCESS_CPU_MS_PER_REQUEST, &role.name, ms, window);
        }
        window.metrics.insert(id.to_owned(), all_ms);
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
            return Err("it tells processes apart in windows of one load only".to_owned());
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
        self.begins = Some(Instant::now() + settle);
        self.looked_ns = (0, None);
        self.is_in_window = true;
        Ok(())
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        if self.begins.is_some_and(|begins| begins <= Instant::now()) {
            self.begins = None;
            self.looked_ns = (self.look(|role, used_ns| role.from_ns = used_ns), None);
        }
        Ok(())
    }

    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        if std::mem::take(&mut self.is_in_window) && self.begins.take().is_none() {
            let to_ns = self.look(|role, used_ns| role.to_ns = used_ns);
            self.looked_ns.1 = Some(to_ns);
        }
        Ok(())
    }

    fn lost(&mut self, _target: &Target, role: &str, _pid: u32) -> Result<(), String> {
        for role in self.roles.iter_mut().filter(|of| of.name == role) {
            role.at_loss_ns = Some(role.used_ns(&self.proc));
        }
        Ok(())
    }

    fn replaced(&mut self, _target: &Target, role: &str, pid: u32) -> Result<(), String> {
        let identity = self.proc.identity_of(pid).map_err(|e| e.to_string())?;
        for role in self.roles.iter_mut().filter(|of| of.name == role) {
            // The one that ended was waited for, and what it used is counted nowhere any more.
            let left_ns = role.used_ns(&self.proc);
            role.gone_ns += role.at_loss_ns.take().unwrap_or(left_ns).saturating_sub(left_ns);
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
        self.add_cpu(measured, window);
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
        let to_ns = observer.look(|role, used_ns| role.to_ns = used_ns);
        observer.looked_ns = (0, Some(to_ns));
        let mut window = Window::default();
        observer.add_cpu(&measured(10), &mut window);
        observer.add_memory(&mut window);
        assert_eq!(window.problems, []);
        let of = |id: &str| window.metrics.get(id).copied().unwrap_or_else(|| panic!("{id}"));
        let (busy_ms, idle_ms) =
            (of("process_cpu_ms_per_request/busy"), of("process_cpu_ms_per_request/idle"));
        assert!(idle_ms < busy_ms, "{idle_ms} {busy_ms}");
        assert!((of("all_cpu_ms_per_request") - busy_ms - idle_ms).abs() < 1e-9);
        // Of both shells of the busy one: each counted as far.
        let own_ns = assay_linux::process_cpu_ns(busy.0.id()).expect("it runs") as f64;
        assert!(1.2 * own_ns < busy_ms * 10.0 * NS_PER_MS, "{own_ns} {busy_ms}");
        let sum = of("process_pss_bytes/busy") + of("process_pss_bytes/idle");
        assert!(0.0 < sum && (of("all_pss_bytes") - sum).abs() < 1.0, "{:?}", window.metrics);
    }

    #[test]
    fn what_one_used_that_was_ended_and_started_again_stays_counted() {
        let mut first = Worker::alone(40_000);
        let mut observer = observer(&[("busy", first.0.id())]);
        let before_ns = observer.roles[0].used_ns(&observer.proc);
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
        let after_ns = observer.roles[0].used_ns(&observer.proc);
        // The kernel gives the time of children that ended in ticks.
        assert!(before_ns + own_ns - 50_000_000 < after_ns, "{before_ns} + {own_ns} <= {after_ns}");
    }

    #[test]
    fn a_window_without_two_looks_or_requests_says_so() {
        let mut window = Window::default();
        observer(&[]).add_cpu(&measured(10), &mut window);
        let mut looked = observer(&[]);
        looked.looked_ns = (5, Some(6));
        looked.add_cpu(&measured(10), &mut window);
        let what: Vec<&str> = window.problems.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(what, ["the window is too short to look at the processes twice", "no request completed"]);
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
