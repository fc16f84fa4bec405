//! A server's process: started in a group of its own, held still and continued, stopped with all its children.
//!
//! Nothing may outlive a run. Four nets, each for what the others cannot catch:
//! - `Drop` kills the group on every way out of the runner, panics included;
//! - the kernel kills the leader when the thread that started it dies (`PR_SET_PDEATHSIG`), also by `kill -9`. That is
//!   safe since servers are started by the runner's own thread only, which outlives them;
//! - children of the leader are found by the lease at the next start (`runtime_folder.rs`);
//! - a group that is held still is killed like any other: SIGKILL needs no SIGCONT.

use crate::runtime_folder::{Lease, TOKEN_VARIABLE};
use crate::server_log::ServerLog;
use assay_linux::{ProcRoot, process_cpu};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Lines of its output that a message quotes.
const LAST_LINES: usize = 12;
/// How often a process is asked whether it has ended.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// How long a group may take to be gone after SIGKILL.
const KILL_WAIT: Duration = Duration::from_secs(10);
/// JVM options from the caller's environment would change all variants behind the study's back.
const FOREIGN_OPTIONS: [&str; 4] =
    ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "OPENJ9_JAVA_OPTIONS"];

/// What to start.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// Program and arguments.
    pub words: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Folder in which it starts.
    pub directory: PathBuf,
    /// File for what it prints.
    pub log: PathBuf,
    /// Copy of the template, to be removed after it.
    pub server_dir: Option<PathBuf>,
    /// User and group to run as; absent for the caller's own.
    pub run_as: Option<(u32, u32)>,
}

/// A started server.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    group: Pid,
    log: ServerLog,
    held: bool,
    asked_to_stop: bool,
    ended: Option<String>,
    exit_code: Option<i32>,
    main_pid: u32,
}

impl ServerProcess {
    /// Starts it. Must be called by the thread that lives as long as the run.
    pub fn start(launch: &Launch, lease: &mut Lease) -> io::Result<ServerProcess> {
        let (program, arguments) =
            launch.words.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let (reader, writer) = io::pipe()?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&launch.log)?;
        let mut command = Command::new(program);
        FOREIGN_OPTIONS.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
            .args(arguments)
            .envs(&launch.environment)
            .env(TOKEN_VARIABLE, &lease.token)
            .current_dir(&launch.directory)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        if let Some((uid, gid)) = launch.run_as {
            command.uid(uid).gid(gid);
        }
        die_with_parent(&mut command);
        let child =
            command.spawn().map_err(|e| io::Error::new(e.kind(), format!("cannot start {program}: {e}")))?;
        // The command holds the writing ends of the pipe: without them the copier sees the end of the output.
        drop(command);
        let pid = child.id();
        let group =
            i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no pid"))?;
        let log = ServerLog::start(reader, file);
        let mut server = ServerProcess {
            child,
            group,
            log,
            held: false,
            asked_to_stop: false,
            ended: None,
            exit_code: None,
            main_pid: pid,
        };
        // It may have ended already; then there is nothing to lease.
        if let Ok(identity) = ProcRoot::default().identity_of(pid)
            && let Err(e) = lease.add(identity, launch.server_dir.as_deref())
        {
            server.kill();
            return Err(e);
        }
        Ok(server)
    }

    /// The process that does the work: the leader, or the child of a starting script that used most CPU time.
    pub fn main_pid(&self) -> u32 {
        self.main_pid
    }

    /// Finds [`ServerProcess::main_pid`]; called once the server is ready.
    pub fn find_main(&mut self) {
        let members = ProcRoot::default().read_group(self.child.id()).unwrap_or_default();
        let busiest = members.iter().max_by_key(|p| process_cpu(p.pid).map_or(0, |cpu| cpu.total_ns));
        self.main_pid = busiest.map_or(self.child.id(), |p| p.pid);
    }

    /// The end of what it printed, as the end of a sentence that says what went wrong.
    pub fn last_words(&self) -> String {
        if self.ended.is_some() {
            self.log.catch_up();
        }
        let lines = self.log.last_lines(LAST_LINES);
        if lines.trim().is_empty() {
            return "; it printed nothing".to_owned();
        }
        format!("; the end of its output:\n{lines}")
    }

    /// How it ended, if it has; in words.
    pub fn ended(&mut self) -> Option<String> {
        if self.ended.is_none() {
            // It is left a zombie until `finish`, so that its number stays taken and the group can be killed.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(self.group), options).ok().flatten()?;
            self.exit_code = status.exit_status();
            self.ended = Some(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (_, Some(signal)) => format!("was ended by signal {signal}"),
                _ => "ended".to_owned(),
            });
        }
        self.ended.clone()
    }

    /// Its exit code, once [`ServerProcess::ended`] has seen its end; none if a signal ended it.
    pub fn exit_code(&self) -> Option<i32> {
        self.exit_code
    }

    /// Stops its clock: no instruction of the group runs until it is continued.
    pub fn hold(&mut self) {
        if !self.held && kill_process_group(self.group, Signal::STOP).is_ok() {
            self.held = true;
        }
    }

    /// Lets it run again.
    pub fn resume(&mut self) {
        if self.held && kill_process_group(self.group, Signal::CONT).is_ok() {
            self.held = false;
        }
    }

    /// Asks it to stop, without waiting; once only, since many servers take a second signal for impatience.
    pub fn ask_to_stop(&mut self, signal: Signal) {
        self.resume();
        if !std::mem::replace(&mut self.asked_to_stop, true) {
            // It may have ended meanwhile.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Waits until it has stopped, and kills what is left after `timeout`. Returns what was not as it should be.
    pub fn finish(&mut self, timeout: Duration) -> Vec<String> {
        let mut problems = Vec::new();
        let begun = Instant::now();
        while self.ended().is_none() {
            if timeout <= begun.elapsed() {
                problems.push(format!("it did not stop within {} s and was killed", timeout.as_secs_f64()));
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.kill();
        problems.extend(self.log.finish().map(|e| format!("what it printed is not whole: {e}")));
        problems
    }

    fn kill(&mut self) {
        let leader = self.child.id();
        // The leader is not waited for yet, so that its number, and so the group's, is still taken.
        let _ = kill_process_group(self.group, Signal::KILL);
        let begun = Instant::now();
        while begun.elapsed() < KILL_WAIT {
            match ProcRoot::default().read_group(leader) {
                Ok(members) if !members.is_empty() => std::thread::sleep(LOOK),
                _ => break,
            }
        }
        // Already waited for, at most.
        let _ = self.child.try_wait();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Has the kernel kill the process when the thread that starts it dies.
fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    #[expect(unsafe_code, reason = "there is no safe way to run code between fork and exec")]
    // SAFETY: the closure makes system calls only: it takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the call.
            let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
            if now == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        });
    }
}

/// Copies a folder with all that is in it; symbolic links stay links.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let failed =
        |path: &Path, e: io::Error| io::Error::new(e.kind(), format!("cannot copy {}: {e}", path.display()));
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs_err::read_link(&source)?, &target)
                .map_err(|e| failed(&source, e))?;
        } else if kind.is_file() {
            fs_err::copy(&source, &target)?;
        }
    }
    Ok(())
}
