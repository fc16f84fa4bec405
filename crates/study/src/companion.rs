//! PostgreSQL beside a server: started from the system's binaries on a free port of the loopback interface, in a private
//! folder, and stopped with the server.
//!
//! PostgreSQL refuses to run as root; then it runs as `nobody`, in a folder below `/tmp` that belongs to it, since the
//! run directory cannot be entered by anybody else. Its durability is at its defaults: commits reach the disk.
//!
//! Its processes for connections leave the group of the main process (`setsid`), and end when that ends. So they are
//! known by their parent. While its server is held still, the database is not: without its only client it is idle but for
//! a checkpoint, and processes that are stopped would not notice the end of a run that was killed.

use crate::placeholders::Placeholders;
use crate::private_folder::PrivateFolder;
use crate::process::{LOOK, Launch, ServerProcess};
use crate::runtime_folder::{Lease, Port, SERVER_FILES};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where distributions put PostgreSQL's programs, a folder for each version.
const SYSTEM_FOLDER: &str = "/usr/lib/postgresql";
/// `nobody` and `nogroup`, or what has their numbers.
const UNPRIVILEGED: (u32, u32) = (65534, 65534);
const READY_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const USER: &str = "assay";
/// Names that a workload's texts may use.
const PLACEHOLDERS: [&str; 3] = ["postgresql_port", "postgresql_user", "postgresql_password"];

/// A running database.
#[derive(Debug)]
pub(crate) struct PostgreSql {
    process: ServerProcess,
    _port: Port,
    /// Removed when this is dropped.
    _folder: Option<PrivateFolder>,
}

/// Whether a variant's options ask for it.
pub(crate) fn is_wanted(options: &BTreeMap<String, String>) -> bool {
    options.get("database").is_some_and(|database| database == "postgresql")
}

/// Folder of the newest PostgreSQL here.
///
/// # Errors
/// That there is none, and what adds it.
pub(crate) fn find_programs() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir(SYSTEM_FOLDER).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|e| Some((e.file_name().to_str()?.parse::<u32>().ok()?, e.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").is_file())
        .max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || std::env::split_paths(&path).find(|folder| folder.join("initdb").is_file());
    newest.map(|(_, bin)| bin).or_else(on_path).ok_or_else(|| {
        "there is no PostgreSQL here (looked for initdb in /usr/lib/postgresql and on the path); \
         sudo apt-get install postgresql adds it"
            .to_owned()
    })
}

/// The names stand for nothing where no database was started.
pub(crate) fn set_no_placeholders(names: &mut Placeholders) {
    PLACEHOLDERS.iter().for_each(|name| names.set(name, ""));
}

impl PostgreSql {
    /// Makes an empty database and starts it; `folder` is the trial's.
    pub fn start(
        folder: &Path,
        runtime: &Path,
        lease: &mut Lease,
        names: &mut Placeholders,
    ) -> io::Result<PostgreSql> {
        let programs = find_programs().map_err(io::Error::other)?;
        let run_as = rustix::process::geteuid().is_root().then_some(UNPRIVILEGED);
        let (base, own_folder) = make_folder(folder, run_as)?;
        let (data, log) = (base.join("postgresql-data"), folder.join("postgresql.log"));
        let password = random_password()?;
        make_cluster(&programs, &base, &data, &password, run_as)?;
        let port = Port::claim(runtime)?;
        let words = [
            programs.join("postgres").to_string_lossy().into_owned(),
            "-D".to_owned(),
            data.to_string_lossy().into_owned(),
            "-p".to_owned(),
            port.number.to_string(),
            "-clisten_addresses=127.0.0.1".to_owned(),
            // Their path may be longer than a socket's may be, and nobody uses them.
            "-cunix_socket_directories=".to_owned(),
        ];
        let launch = Launch {
            words: words.to_vec(),
            environment: BTreeMap::new(),
            directory: base.clone(),
            log,
            server_dir: Some(base),
            run_as,
        };
        let process = ServerProcess::start(&launch, lease)?;
        names.set("postgresql_port", port.number.to_string());
        names.set("postgresql_user", USER);
        names.set("postgresql_password", password);
        let mut started = PostgreSql { process, _port: port, _folder: own_folder };
        started.wait_until_ready(&programs)?;
        Ok(started)
    }

    fn wait_until_ready(&mut self, programs: &Path) -> io::Result<()> {
        let begun = Instant::now();
        let port = self._port.number.to_string();
        loop {
            let mut asked = Command::new(programs.join("pg_isready"));
            asked.args(["-q", "-h", "127.0.0.1", "-p", &port]).stdout(Stdio::null()).stderr(Stdio::null());
            if asked.status()?.success() {
                return Ok(());
            }
            let ended = self.process.ended();
            if ended.is_some() || READY_TIMEOUT <= begun.elapsed() {
                let how =
                    ended.unwrap_or_else(|| format!("was not ready within {} s", READY_TIMEOUT.as_secs()));
                return Err(io::Error::other(format!("PostgreSQL {how}{}", self.process.last_words())));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Its main process, which the others are children of.
    pub fn main_pid(&self) -> u32 {
        self.process.main_pid()
    }

    /// Ends all connections and stops it; what was not as it should be.
    pub fn stop(&mut self) -> Vec<String> {
        // "Fast shutdown": SIGTERM would wait for its clients.
        self.process.ask_to_stop(Signal::INT);
        self.process.finish(STOP_TIMEOUT).into_iter().map(|what| format!("PostgreSQL: {what}")).collect()
    }
}

/// Of the kernel's random bytes: this is no draw of the study, and need not be repeated.
fn random_password() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A folder that whoever runs the database may enter. It is removed with the server's files, or by itself.
fn make_folder(trial: &Path, run_as: Option<(u32, u32)>) -> io::Result<(PathBuf, Option<PrivateFolder>)> {
    let Some(owner) = run_as else {
        return Ok((trial.join(SERVER_FILES), None));
    };
    let own = PrivateFolder::make(&std::env::temp_dir(), owner)?;
    Ok((own.files.clone(), Some(own)))
}

/// Whoever runs the database makes it, so that root writes nothing in a folder of his. The shell hands on the password,
/// which no command line shows.
fn make_cluster(
    programs: &Path,
    base: &Path,
    data: &Path,
    password: &str,
    run_as: Option<(u32, u32)>,
) -> io::Result<()> {
    const MAKE: &str = "umask 077; cat > password; \
        \"$0\" -D \"$1\" -U \"$2\" -E UTF8 --locale=C --auth=scram-sha-256 --no-sync --no-instructions \
        --pwfile=password; rm password";
    let mut command = Command::new("/bin/sh");
    command.args(["-ec", MAKE]).args([&programs.join("initdb"), data]).arg(USER).current_dir(base);
    if let Some((uid, gid)) = run_as {
        command.uid(uid).gid(gid);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        writeln!(stdin, "{password}")?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("initdb could not make a database: {}", told.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_runs_on_loopback_and_leaves_nothing() {
        if let Err(why) = find_programs() {
            assay_testkit::skip!("{why}");
        }
        let (trial, runtime) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(trial.path().join(SERVER_FILES)).unwrap();
        let mut lease = Lease::take(runtime.path()).unwrap();
        let mut names = Placeholders::default();
        let mut database = PostgreSql::start(trial.path(), runtime.path(), &mut lease, &mut names).unwrap();
        let (main, port) = (database.process.main_pid(), names.fill("127.0.0.1:{postgresql_port}"));
        assert!(std::net::TcpStream::connect(&port).is_ok());
        assert!(assay_linux::process_cpu(database.main_pid()).unwrap().total_ns > 0);
        assert_eq!(database.stop(), Vec::<String>::new());
        drop(database);
        assert!(std::net::TcpStream::connect(&port).is_err());
        let all = assay_linux::ProcRoot::default().read_processes().unwrap();
        assert!(!all.iter().any(|p| p.pid == main || p.parent_pid == i64::from(main)));
    }
}
