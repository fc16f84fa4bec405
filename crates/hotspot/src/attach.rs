//! HotSpot's attach protocol: asks a running JVM to carry out a diagnostic command, as `jcmd` does.
//!
//! Everything else in this crate only looks. This acts on the target, so it is for commands that the user asked for.
//! What it does there: the first command ever makes the JVM start a thread, `Attach Listener`, which stays for the
//! JVM's life (about 200 KiB resident), and create a socket in `/tmp`; carrying out a command takes a stop of the Java
//! threads for most commands, and memory for the answer. The file that asks for the thread is removed again.
//!
//! The protocol (version 1, spoken by every HotSpot since JDK 6): a UNIX socket `/tmp/.java_pidN`, where N is the
//! process's number in its own PID namespace and `/tmp` is that of its own mount namespace. If it is not there, a file
//! `.attach_pidN` in `/tmp` or in the process's working directory and then SIGQUIT make the JVM create it. A request is
//! five strings that each end with a zero byte: version, command, three arguments. The answer is a line with a number,
//! 0 for success, then text until the connection ends.
//!
//! Folklore, each with its test:
//! - SIGQUIT ends a process that does not catch it: one that is no JVM, a JVM in its first milliseconds, and one that
//!   was started with `-Xrs`. The last listens from its start, so it answers, unless something cleaned its socket away.
//!   Held by `a_process_that_is_no_jvm_is_not_signalled`, `a_jvm_that_does_not_catch_quit_is_not_signalled`.
//! - A container's first process is number 1 in there, and two containers may share `/tmp`: the socket of a number may
//!   be another process's. The kernel says who listens. Held by `a_socket_of_another_process_is_refused`.
//! - The JVM ignores the file unless the file belongs to its own user or to root; it then prints a thread dump to its
//!   standard output, which is what SIGQUIT means otherwise. So the file is given to the JVM's user.
//! - Root and folders of the process are made by whoever started it: `/tmp` may be a link, and its working directory may
//!   be one that it could not write to itself. Held by `a_link_in_the_place_of_tmp_leads_nowhere_else` and
//!   `a_request_is_laid_only_where_the_jvm_itself_could`.

use assay_linux::{LinuxError, ProcRoot};
use request::RequestFile;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{Pid, PidfdFlags, Signal};
use status::Status;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod request;
mod status;

/// Longest command: the JVM refuses arguments of more than 1,024 bytes.
const COMMAND_BYTES_MAX: usize = 1024;
/// Longest answer that is kept. A thread dump of 10,000 threads is about 10 MB.
const ANSWER_BYTES_MAX: u64 = 32 << 20;
/// How often it is looked whether the JVM has made its socket.
const SOCKET_POLL: Duration = Duration::from_millis(10);

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The kernel did not report what is needed to ask safely.
    #[error(transparent)]
    Linux(#[from] LinuxError),
    /// The process does not map libjvm: a signal to ask it would end it.
    #[error("process {pid} is not a HotSpot JVM: it does not map libjvm.so")]
    NotJvm {
        /// The process.
        pid: u32,
    },
    /// SIGQUIT would end it.
    #[error(
        "the JVM {pid} does not listen, and SIGQUIT, the request to listen, would end it. It has only just \
            started, or was started with -Xrs and its socket in /tmp was removed"
    )]
    QuitNotCaught {
        /// The process.
        pid: u32,
    },
    /// The socket was made by another process.
    #[error("{path} is not the socket of process {pid}: {why}", path = .path.display())]
    ForeignSocket {
        /// The process.
        pid: u32,
        /// The socket.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file or call gave an error.
    #[error("cannot {what} {path}: {source}", path = .path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// It took too long.
    #[error(
        "the JVM {pid} did not answer a request to {what} within {seconds:.1} s; it may be stopped, very busy, or \
         started with -XX:+DisableAttachMechanism"
    )]
    Timeout {
        /// The process.
        pid: u32,
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: f64,
    },
    /// The command cannot be sent.
    #[error("a command has 1 to {COMMAND_BYTES_MAX} bytes, none of them zero")]
    BadCommand,
    /// The answer is not in the protocol's form, or too long.
    #[error("the JVM {pid} gave no answer that can be understood: {why}")]
    BadAnswer {
        /// The process.
        pid: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The JVM does not know the command, or could not carry it out.
    #[error("the JVM {pid} did not carry out the command (code {code}): {answer}")]
    Refused {
        /// The process.
        pid: u32,
        /// The JVM's number for the error.
        code: i32,
        /// The JVM's words.
        answer: String,
    },
}

/// Has the JVM carry out a diagnostic command (what follows the process number in `jcmd 4242 VM.version`), and gives its
/// answer. All waiting together takes at most `timeout`.
///
/// See the module for what this does to the target. Needs the target's user, or root.
///
/// # Errors
/// Before anything is sent: when the process is no HotSpot JVM, or asking could end it. Later: when it does not answer
/// in time, answers with an error, or somebody else holds its socket.
pub fn attach_command(
    proc: &ProcRoot,
    pid: u32,
    command: &str,
    timeout: Duration,
) -> Result<String, AttachError> {
    request(proc, pid, "jcmd", [command, ""], timeout)
}

/// Has the JVM set a flag: the protocol's own operation, which JDK 8 has too, where it lacks the diagnostic command.
///
/// # Errors
/// As of [`attach_command`]; refused where the flag may not change while it runs.
pub(crate) fn attach_set_flag(
    proc: &ProcRoot,
    pid: u32,
    [name, value]: [&str; 2],
    timeout: Duration,
) -> Result<String, AttachError> {
    request(proc, pid, "setflag", [name, value], timeout)
}

/// Sends an operation with its arguments; the third of the protocol is always empty.
fn request(
    proc: &ProcRoot,
    pid: u32,
    operation: &str,
    arguments: [&str; 2],
    timeout: Duration,
) -> Result<String, AttachError> {
    let [first, second] = arguments;
    let is_bad = |text: &str| COMMAND_BYTES_MAX < text.len() || text.contains('\0');
    if first.is_empty() || arguments.into_iter().any(is_bad) {
        return Err(AttachError::BadCommand);
    }
    let target = Target::find(proc, pid, timeout)?;
    let mut stream = match target.connect()? {
        Some(stream) => stream,
        None => target.ask_to_listen()?,
    };
    let request = format!("1\0{operation}\0{first}\0{second}\0\0");
    stream
        .set_write_timeout(Some(target.remaining("take the command")?))
        .map_err(|e| target.io("write to", e))?;
    stream.write_all(request.as_bytes()).map_err(|e| target.io("write to", e))?;
    let answer = target.read_answer(&mut stream)?;
    parse_answer(pid, &answer)
}

/// A JVM that may be asked.
struct Target {
    pid: u32,
    /// Keeps the number from meaning another process.
    handle: OwnedFd,
    /// Its number in its own PID namespace.
    pid_inside: u32,
    status: Status,
    folder: PathBuf,
    /// Its `/tmp`.
    temporary: OwnedFd,
    working_folder: PathBuf,
    timeout: Duration,
    started: Instant,
}

impl Target {
    fn find(proc: &ProcRoot, pid: u32, timeout: Duration) -> Result<Target, AttachError> {
        let started = Instant::now();
        let folder = proc.path().join(pid.to_string());
        let failed = |what, path: &Path, source: Errno| AttachError::Io {
            what,
            path: path.to_owned(),
            source: source.into(),
        };
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(AttachError::NotJvm { pid })?;
        // From here on signals reach this process or nobody.
        let handle = rustix::process::pidfd_open(raw, PidfdFlags::empty())
            .map_err(|e| failed("open the process", &folder, e))?;
        let path = folder.join("status");
        let status = Status::read(&path).map_err(|source| AttachError::Io { what: "read", path, source })?;
        if !maps_libjvm(proc, pid)? {
            return Err(AttachError::NotJvm { pid });
        }
        // The creator of its root may have replaced its `/tmp` by a link.
        let path = folder.join("root/tmp");
        let temporary = proc.hold_at(pid, Path::new("/tmp"));
        let temporary = temporary.map_err(|source| AttachError::Io { what: "open", path, source })?;
        Ok(Target {
            pid,
            handle,
            pid_inside: status.pid_inside.unwrap_or(pid),
            status,
            working_folder: folder.join("cwd"),
            folder,
            temporary,
            timeout,
            started,
        })
    }

    fn socket_path(&self) -> PathBuf {
        self.folder.join("root/tmp").join(format!(".java_pid{}", self.pid_inside))
    }

    fn io(&self, what: &'static str, source: std::io::Error) -> AttachError {
        match source.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                self.late("carry out the command")
            }
            _ => AttachError::Io { what, path: self.socket_path(), source },
        }
    }

    fn late(&self, what: &'static str) -> AttachError {
        AttachError::Timeout { pid: self.pid, what, seconds: self.timeout.as_secs_f64() }
    }

    /// Time left, never zero: a zero timeout would mean none.
    fn remaining(&self, what: &'static str) -> Result<Duration, AttachError> {
        let left = self.timeout.saturating_sub(self.started.elapsed());
        if left.is_zero() { Err(self.late(what)) } else { Ok(left) }
    }

    /// Connects to the JVM's socket; `None` where nobody listens.
    fn connect(&self) -> Result<Option<UnixStream>, AttachError> {
        let name = format!(".java_pid{}", self.pid_inside);
        // The handle is to what lies there now, be it a link: nobody can exchange it between check and use.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let socket = match rustix::fs::openat(&self.temporary, &name, flags, Mode::empty()) {
            Ok(socket) => socket,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => return Err(self.io("open", e.into())),
        };
        self.check_socket(&socket)?;
        let stream = self.connect_to(&socket)?;
        if let Some(stream) = &stream {
            let listener = listener_of(stream).map_err(|e| self.io("ask who listens at", e))?;
            if i64::from(listener) != i64::from(self.pid) {
                return Err(self.foreign("another process listens there"));
            }
        }
        Ok(stream)
    }

    fn foreign(&self, why: &'static str) -> AttachError {
        AttachError::ForeignSocket { pid: self.pid, path: self.socket_path(), why }
    }

    fn check_socket(&self, socket: &OwnedFd) -> Result<(), AttachError> {
        let found = rustix::fs::fstat(socket).map_err(|e| self.io("stat", e.into()))?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
            return Err(self.foreign("it is not a socket"));
        }
        if found.st_uid != self.status.user {
            return Err(self.foreign("it belongs to another user than the process"));
        }
        if Mode::from_raw_mode(found.st_mode).contains(Mode::WOTH) {
            return Err(self.foreign("everybody may write to it"));
        }
        Ok(())
    }

    fn connect_to(&self, socket: &OwnedFd) -> Result<Option<UnixStream>, AttachError> {
        let path = format!("/proc/self/fd/{}", socket.as_raw_fd());
        let address = SocketAddrUnix::new(path).map_err(|e| self.io("name", e.into()))?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        loop {
            let stream = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
                .map_err(|e| self.io("make a socket for", e.into()))?;
            match rustix::net::connect(&stream, &address) {
                Ok(()) => {
                    let stream = UnixStream::from(stream);
                    stream.set_nonblocking(false).map_err(|e| self.io("wait for", e))?;
                    return Ok(Some(stream));
                }
                // Left by a process that had this number before.
                Err(Errno::CONNREFUSED) => return Ok(None),
                // Others are being served.
                Err(Errno::AGAIN | Errno::INTR) => {
                    let left = self.remaining("take a connection")?;
                    std::thread::sleep(left.min(SOCKET_POLL));
                }
                Err(e) => return Err(self.io("connect to", e.into())),
            }
        }
    }

    /// Makes the JVM start its listener, and connects.
    fn ask_to_listen(&self) -> Result<UnixStream, AttachError> {
        if !self.status.catches_quit {
            return Err(AttachError::QuitNotCaught { pid: self.pid });
        }
        let name = format!(".attach_pid{}", self.pid_inside);
        let temporary = self.temporary.try_clone().map_err(|e| self.io("open", e))?;
        let _request =
            RequestFile::create(temporary, &self.working_folder, &name, &self.status).map_err(|source| {
                AttachError::Io {
                    what: "create",
                    path: self.folder.join("root/tmp").join(name),
                    source: source.into(),
                }
            })?;
        rustix::process::pidfd_send_signal(&self.handle, Signal::QUIT).map_err(|source| AttachError::Io {
            what: "send SIGQUIT to",
            path: self.folder.clone(),
            source: source.into(),
        })?;
        loop {
            if let Some(stream) = self.connect()? {
                return Ok(stream);
            }
            let left = self.remaining("start its listener")?;
            std::thread::sleep(left.min(SOCKET_POLL));
        }
    }

    fn read_answer(&self, stream: &mut UnixStream) -> Result<Vec<u8>, AttachError> {
        let mut answer = Vec::new();
        let mut buffer = [0; 1 << 14];
        loop {
            // Each read gets what is left of the whole time: a JVM that sends a byte a minute cannot hold us.
            let left = self.remaining("carry out the command")?;
            stream.set_read_timeout(Some(left)).map_err(|e| self.io("read from", e))?;
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(answer),
                Ok(bytes) if ANSWER_BYTES_MAX < (answer.len() + bytes) as u64 => {
                    return Err(AttachError::BadAnswer { pid: self.pid, why: "it is longer than 32 MiB" });
                }
                Ok(bytes) => answer.extend_from_slice(&buffer[..bytes]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.io("read from", e)),
            }
        }
    }
}

fn maps_libjvm(proc: &ProcRoot, pid: u32) -> Result<bool, AttachError> {
    for mapping in proc.open_smaps(pid)? {
        let mapping = mapping?;
        let name = mapping.name.strip_suffix(" (deleted)").unwrap_or(&mapping.name);
        if mapping.is_executable() && name.rsplit('/').next() == Some("libjvm.so") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The process that called `listen` on the socket at the other end, numbered as here; 0 if it is not visible from here.
fn listener_of(stream: &UnixStream) -> std::io::Result<i32> {
    // rustix reads the number as one that is never 0, which it is for a process of another PID namespace.
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    #[expect(
        unsafe_code,
        reason = "no library reads SO_PEERCRED of a listener that this namespace does not see"
    )]
    // SAFETY: `found` is a plain structure of integers of `bytes` bytes, valid for writing during the call.
    let result = unsafe {
        libc::getsockopt(
            stream.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut bytes,
        )
    };
    if result == 0 { Ok(found.pid) } else { Err(std::io::Error::last_os_error()) }
}

fn parse_answer(pid: u32, answer: &[u8]) -> Result<String, AttachError> {
    let text = String::from_utf8_lossy(answer);
    let bad = |why| AttachError::BadAnswer { pid, why };
    if text.is_empty() {
        return Err(bad("it closed the connection, as it does for requests of another user"));
    }
    let (code, text) = text.split_once('\n').ok_or_else(|| bad("there is no line with a code"))?;
    match code.trim().parse() {
        Ok(0) => Ok(text.to_owned()),
        Ok(code) => Err(AttachError::Refused { pid, code, answer: text.trim_end().to_owned() }),
        Err(_) => Err(bad("it does not begin with a code")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_a_code_and_text() {
        assert_eq!(parse_answer(1, b"0\na\nb\n").expect("an answer"), "a\nb\n");
        assert!(matches!(parse_answer(1, b"-1\nno\n"), Err(AttachError::Refused { code: -1, .. })));
        for bad in [&b""[..], b"0", b"\n", b"x\ny", b"\xff\n"] {
            assert!(matches!(parse_answer(1, bad), Err(AttachError::BadAnswer { .. })), "{bad:?}");
        }
    }
}
