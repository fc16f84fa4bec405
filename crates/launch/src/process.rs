//! A process of this machine: started in a group of its own, suspended and resumed, stopped with all that it started.
//!
//! Nothing may outlive a run. Five nets, each for what the others cannot catch:
//! - `Drop` kills the whole family on every way out of the runner, panics included;
//! - what has left the group, or the parent, is found by descent and by the token in its environment ([`Family`]);
//! - the kernel kills the first process when the thread that started it dies (`PR_SET_PDEATHSIG`), also by `kill -9`. That
//!   is safe since processes are started by the runner's own thread only, which outlives them;
//! - its children are found by the lease at the next start (`runtime_folder.rs`);
//! - a suspended group is killed like any other: SIGKILL needs no SIGCONT.

use crate::engine::{Ended, Start};
use crate::family::{Family, TOKEN_VARIABLE};
use crate::launch::Launch;
use crate::runtime_folder::Lease;
use crate::server_log::ServerLog;
use assay_linux::{ProcRoot, process_cpu};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// File of a control group in which its processes stand; `cgroups(7)`.
const GROUP_MEMBERS: &str = "cgroup.procs";
/// Lines of its output that a message quotes.
const LAST_LINES: usize = 12;
/// How often a process is asked whether it has ended.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long killed processes may take to be gone.
const KILL_WAIT: Duration = Duration::from_secs(10);
/// How long a command may take that asks whether a process is ready.
const ASK_WAIT: Duration = Duration::from_secs(5);
/// JVM options from the caller's environment would change all variants behind the study's back.
const FOREIGN_OPTIONS: [&str; 4] =
    ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS"];
/// All that another user's process gets of the caller's environment, which may hold secrets.
const HARMLESS: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"];

/// A started process.
#[derive(Debug)]
pub struct LocalProcess {
    child: Child,
    group: Pid,
    family: Family,
    log: ServerLog,
    files: PathBuf,
    run_as: Option<(u32, u32)>,
    held: bool,
    asked_to_stop: Option<Signal>,
    ended: Option<Ended>,
    /// It was waited for: its number may be another's.
    is_gone: bool,
    main_pid: u32,
}

impl LocalProcess {
    /// Starts it. Must be called by the thread that lives as long as the run.
    pub(crate) fn start(start: &Start, lease: &mut Lease) -> io::Result<LocalProcess> {
        let (reader, writer) = io::pipe()?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&start.log)?;
        let token = lease.next_token();
        let mut command = command(&start.launch, start.run_as)?;
        command.env(TOKEN_VARIABLE, &token).stdout(writer.try_clone()?).stderr(writer).process_group(0);
        let groups =
            start.groups.iter().map(|folder| OpenOptions::new().write(true).open(folder.join(GROUP_MEMBERS)));
        let groups = groups.collect::<io::Result<Vec<File>>>()?;
        before_exec(&mut command, groups);
        let child = command.spawn().map_err(|e| {
            let program = start.launch.argv.first().map_or("", String::as_str);
            io::Error::new(e.kind(), format!("cannot start {program}: {e}"))
        })?;
        // The command holds the writing ends of the pipe: without them the copier sees the end of the output.
        drop(command);
        let pid = child.id();
        let group =
            i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no pid"))?;
        let log = ServerLog::start(reader, file);
        // Until it is waited for, its number and start are its own, even if it has ended already.
        let identity = ProcRoot::default().identity_of(pid).map_err(io::Error::other)?;
        let mut process = LocalProcess {
            child,
            group,
            family: Family::of(identity, &token),
            log,
            files: start.files.clone(),
            run_as: start.run_as,
            held: false,
            asked_to_stop: None,
            ended: None,
            is_gone: false,
            main_pid: pid,
        };
        if let Err(e) = lease.add(identity, &token, Some(&start.files)) {
            process.kill();
            return Err(e);
        }
        Ok(process)
    }

    /// The process that does the work: the first one, or that of a start script's which used most CPU time.
    pub fn main_pid(&self) -> u32 {
        self.main_pid
    }

    /// The folder of its files.
    pub(crate) fn files(&self) -> &Path {
        &self.files
    }

    /// Runs a command as this process runs, and finds it good if it ends with exit code 0.
    ///
    /// It is the last question before the process is used: its [`LocalProcess::main_pid`] is found then.
    pub(crate) fn asks(&self, launch: &Launch) -> Result<(), String> {
        let name = launch.argv.first().map_or("", String::as_str);
        let mut asked = command(launch, self.run_as).map_err(|e| e.to_string())?;
        let mut asked = asked
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start {name}: {e}"))?;
        let begun = Instant::now();
        loop {
            match asked.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("{name} gave {status}")),
                Ok(None) if begun.elapsed() < ASK_WAIT => std::thread::sleep(POLL_INTERVAL),
                _ => {
                    let _ = asked.kill();
                    let _ = asked.wait();
                    return Err(format!("{name} did not answer within {} s", ASK_WAIT.as_secs()));
                }
            }
        }
    }

    /// Finds [`LocalProcess::main_pid`]; called once it is ready.
    pub(crate) fn find_main(&mut self) {
        let members = self.family.members();
        let busiest = members.iter().max_by_key(|p| process_cpu(p.pid).map_or(0, |cpu| cpu.total_ns));
        self.main_pid = busiest.map_or(self.child.id(), |p| p.pid);
    }

    /// Numbers of all its processes.
    pub(crate) fn all_pids(&self) -> Vec<u32> {
        self.family.clone().members().iter().map(|p| p.pid).collect()
    }

    /// The end of what it printed, as the end of a sentence that says what went wrong.
    pub(crate) fn last_words(&self) -> String {
        if self.ended.is_some() {
            self.log.catch_up();
        }
        let lines = self.log.last_lines(LAST_LINES);
        if lines.trim().is_empty() {
            return "; it printed nothing".to_owned();
        }
        format!("; the end of its output:\n{lines}")
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        if self.ended.is_none() {
            // It is left a zombie until `kill`, so that its number stays taken and the group can be killed.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(self.group), options).ok().flatten()?;
            let code = status.exit_status();
            let how = match (code, status.terminating_signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (_, Some(signal)) => format!("was ended by signal {signal}"),
                _ => "ended".to_owned(),
            };
            self.ended = Some(Ended { how, code });
        }
        self.ended.clone()
    }

    /// Stops its clock: no instruction of the family runs until it is continued.
    pub(crate) fn hold(&mut self) {
        if !self.held && kill_process_group(self.group, Signal::STOP).is_ok() {
            let group = i64::from(self.child.id());
            self.family.signal(Signal::STOP, |p| p.group_id == group);
            self.held = true;
        }
    }

    /// Lets it run again.
    pub(crate) fn resume(&mut self) {
        if self.held && kill_process_group(self.group, Signal::CONT).is_ok() {
            let group = i64::from(self.child.id());
            self.family.signal(Signal::CONT, |p| p.group_id == group);
            self.held = false;
        }
    }

    /// Ends the family at once. Its first process is not waited for, so that how it ended can be asked, and its CPU time read.
    pub(crate) fn strike(&mut self) {
        // It may have ended meanwhile.
        let _ = kill_process_group(self.group, Signal::KILL);
        let group = i64::from(self.child.id());
        self.family.signal(Signal::KILL, |p| p.group_id == group);
    }

    /// Asks it to stop, without waiting; once only. Processes that left the group are asked when the first process has ended
    /// ([`LocalProcess::finish`]): a server stops its own children, and may need them until then.
    pub(crate) fn ask_to_stop(&mut self, signal: Signal) {
        self.resume();
        if self.asked_to_stop.is_none() {
            self.asked_to_stop = Some(signal);
            // Read while descent still shows which processes belong to it.
            self.family.members();
            // It may have ended meanwhile.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Waits until it has stopped, and kills what is left after `timeout`. Returns what was not as it should be.
    pub(crate) fn finish(&mut self, timeout: Duration) -> Vec<String> {
        let mut problems = Vec::new();
        let (begun, mut asks_others) = (Instant::now(), self.asked_to_stop);
        loop {
            let has_ended = self.ended().is_some();
            let left = if has_ended { self.family.members().len() } else { 1 };
            if left == 0 {
                break;
            }
            if timeout <= begun.elapsed() {
                let what = match has_ended {
                    true => format!("{left} processes that it had started did not stop"),
                    false => "it did not stop".to_owned(),
                };
                if self.asked_to_stop.is_some() {
                    let seconds = timeout.as_secs_f64();
                    problems.push(format!("{what} within {seconds} s and had to be killed"));
                }
                break;
            }
            if has_ended && let Some(signal) = asks_others.take() {
                self.family.signal_orphans(signal, self.child.id());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        self.kill();
        problems.extend(self.log.finish().map(|e| format!("what it printed is not whole: {e}")));
        problems
    }

    fn kill(&mut self) {
        if !self.is_gone {
            self.family.kill(KILL_WAIT);
            self.is_gone = self.child.try_wait().is_ok_and(|status| status.is_some());
        }
    }
}

impl Drop for LocalProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A command that is not started yet, without what the caller's environment would add to it.
fn command(launch: &Launch, run_as: Option<(u32, u32)>) -> io::Result<Command> {
    let (program, arguments) =
        launch.argv.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let mut command = Command::new(program);
    match run_as {
        Some((uid, gid)) => {
            command.env_clear().uid(uid).gid(gid);
            command.envs(HARMLESS.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        None => FOREIGN_OPTIONS.iter().for_each(|name| {
            command.env_remove(name);
        }),
    }
    command.args(arguments).envs(&launch.env).current_dir(&launch.cwd).stdin(Stdio::null());
    Ok(command)
}

/// Has the process enter its control groups, and the kernel kill it when the thread that starts it dies.
fn before_exec(command: &mut Command, groups: Vec<File>) {
    let parent = std::process::id();
    #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
    // SAFETY: the closure makes system calls only: it takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            for group in &groups {
                // 0 is the process that writes (cgroups(7)).
                rustix::io::write(group, b"0")?;
            }
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the call.
            let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
            if now == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        });
    }
}
