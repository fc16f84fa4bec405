//! One process of a trial, from its plan to its end: what it is given, what it prepares, when it is ready.

use crate::engine::{Engine, Ready, Signal, Start};
use crate::launch::Launch;
use crate::placeholders::Placeholders;
use crate::private_folder::{PrivateFolder, SERVER_FILES};
use crate::programs;
use crate::runtime_folder::Port;
use crate::spec::{ProcessSpec, ReadyWhen, TrialFolders};
use assay_model::file;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `nobody` and `nogroup`, or what has their numbers.
const UNPRIVILEGED: (u32, u32) = (65_534, 65_534);
/// How long a process may prepare.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(300);

/// Values of a process that are fixed before anything starts, so that the others can refer to them.
pub(crate) struct Given {
    pub role: String,
    /// Values of its own placeholders.
    pub names: BTreeMap<&'static str, String>,
    folder: Folder,
    port: Port,
}

/// Names of the placeholders that each process has of its own.
pub const OWN_NAMES: [&str; 4] = ["port", "password", "folder", "number"];
/// Behind the role of several: the ports of all, with blanks between.
pub const PORTS: &str = "ports";

impl Given {
    pub fn allot(spec: &ProcessSpec, number: u32, folders: TrialFolders<'_>) -> io::Result<Given> {
        let role = if spec.count == 1 { spec.role.clone() } else { format!("{}-{number}", spec.role) };
        let port = Port::claim(folders.runtime)?;
        let folder = Folder::make(spec, &role, folders.trial)?;
        let names = [
            port.number.to_string(),
            random_password()?,
            folder.path().to_string_lossy().into_owned(),
            number.to_string(),
        ];
        Ok(Given { role, names: OWN_NAMES.into_iter().zip(names).collect(), folder, port })
    }
}

/// Folder of a process's own files; removed when dropped.
enum Folder {
    InTrial(PathBuf),
    OfOther(PrivateFolder),
}

impl Folder {
    /// The run directory cannot be entered by anybody else, so another user's lies elsewhere.
    fn make(spec: &ProcessSpec, role: &str, trial: &Path) -> io::Result<Folder> {
        if run_as(spec).is_some() {
            return PrivateFolder::make(&std::env::temp_dir(), UNPRIVILEGED).map(Folder::OfOther);
        }
        let name = if spec.is_server { SERVER_FILES.to_owned() } else { format!("{SERVER_FILES}-{role}") };
        let path = trial.join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder::InTrial(path))
    }

    fn path(&self) -> &Path {
        match self {
            Folder::InTrial(path) => path,
            Folder::OfOther(folder) => &folder.files,
        }
    }

    fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.path()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Reported by `finish`, if it was called.
        let _ = self.remove();
    }
}

fn run_as(spec: &ProcessSpec) -> Option<(u32, u32)> {
    (spec.is_unprivileged && rustix::process::geteuid().is_root()).then_some(UNPRIVILEGED)
}

/// Of the kernel's random bytes: this is not a draw of the study, and need not be repeated.
fn random_password() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// One process of the list. The fields are dropped in their order: the process before its folder and port.
pub(crate) struct Member<P> {
    state: State<P>,
    role: String,
    spec: ProcessSpec,
    prepare: Option<Start>,
    start: Start,
    ready: Ready,
    names: Placeholders,
    /// Whether its end is wanted, or follows from what was done to it.
    may_end: bool,
    folder: Folder,
    _port: Port,
}

enum State<P> {
    Planned,
    Preparing(P, Instant),
    Starting(P, Instant),
    Ready(P, Duration),
    Gone,
}

impl<P> Member<P> {
    /// Fills in everything that it is started with.
    pub fn plan(
        spec: &ProcessSpec,
        given: Given,
        folders: TrialFolders<'_>,
        names: &Placeholders,
    ) -> io::Result<Member<P>> {
        let Given { role, names: own, folder, port } = given;
        let mut names = names.clone();
        own.iter().for_each(|(name, value)| names.set(name, value));
        if spec.is_server || spec.is_replica {
            names.set_path("server_dir", folder.path());
        }
        if let Some(template) = &spec.template {
            copy_folder(Path::new(&names.fill(template)), folder.path())?;
        }
        let mut spec = spec.clone();
        if run_as(&spec).is_some() {
            // It could not enter the study's folder.
            spec.directory.get_or_insert_with(|| folder.path().to_string_lossy().into_owned());
        }
        let own = ProcessSpec {
            jvm_options: [&*spec.jvm_options, &*own_options(&spec, &names)].concat(),
            ..spec.clone()
        };
        let programs: Vec<String> = spec.programs.iter().map(|folder| names.fill(folder)).collect();
        let build = |spec: &ProcessSpec, command: &[String]| {
            let mut launch = Launch::build(spec, command, folders.base, &names);
            programs::add_to_path(&mut launch, &programs);
            launch
        };
        let log = if spec.is_server { file::SERVER_LOG.to_owned() } else { format!("{role}.log") };
        let start = |launch: Launch| Start {
            launch,
            log: folders.trial.join(&log),
            files: folder.path().to_owned(),
            run_as: run_as(&spec),
            groups: spec.groups.clone(),
        };
        Ok(Member {
            state: State::Planned,
            prepare: (!spec.prepare.is_empty()).then(|| start(build(&spec, &spec.prepare))),
            start: start(build(&own, &own.command)),
            ready: match &spec.ready {
                ReadyWhen::Started => Ready::Started,
                ReadyWhen::Url(url) => Ready::Url(names.fill(url)),
                ReadyWhen::Command(command) => Ready::Command(build(&spec, command)),
            },
            spec,
            role,
            names,
            may_end: false,
            folder,
            _port: port,
        })
    }

    pub fn role(&self) -> &str {
        &self.role
    }

    /// The role of its table, of which it may be one of several.
    pub fn table(&self) -> &str {
        &self.spec.role
    }

    pub fn is_server(&self) -> bool {
        self.spec.is_server
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready(..))
    }

    /// Whether it itself, not only what prepares it, has been started.
    pub fn is_started(&self) -> bool {
        !matches!(self.state, State::Planned | State::Preparing(..))
    }

    pub fn ready_after(&self) -> Option<Duration> {
        if let State::Ready(_, after) = self.state { Some(after) } else { None }
    }

    pub fn process(&self) -> Option<&P> {
        match &self.state {
            State::Starting(process, _) | State::Ready(process, _) => Some(process),
            _ => None,
        }
    }

    pub fn process_mut(&mut self) -> Option<&mut P> {
        match &mut self.state {
            State::Starting(process, _) | State::Ready(process, _) => Some(process),
            _ => None,
        }
    }

    /// Whether it may end without failing the trial.
    pub fn may_end(&self) -> bool {
        self.may_end
    }

    /// Sets whether it may end without failing the trial.
    pub fn set_may_end(&mut self, may_end: bool) {
        self.may_end = may_end;
    }

    /// What its placeholders stand for.
    pub fn names(&self) -> &Placeholders {
        &self.names
    }

    /// How it is started.
    pub fn launch(&self) -> &Launch {
        &self.start.launch
    }

    /// Takes the next step towards being ready, if it can be taken.
    pub fn step<E: Engine<Process = P>>(&mut self, engine: &E) -> Result<(), String> {
        let role = self.role.clone();
        let failed = |e: io::Error| format!("the {role}: {e}");
        self.state = match (std::mem::replace(&mut self.state, State::Gone), &self.prepare) {
            (State::Planned, Some(prepare)) => {
                State::Preparing(engine.start(prepare).map_err(failed)?, Instant::now())
            }
            (State::Planned, None) => {
                State::Starting(engine.start(&self.start).map_err(failed)?, Instant::now())
            }
            (State::Preparing(mut process, begun), _) => {
                let what = format!("what prepares the {role}");
                match asked(engine, &mut process, &Ready::Done, begun, PREPARE_TIMEOUT, &what)? {
                    None => State::Preparing(process, begun),
                    Some(_) => {
                        engine.finish(&mut process, Duration::ZERO);
                        State::Starting(engine.start(&self.start).map_err(failed)?, Instant::now())
                    }
                }
            }
            (State::Starting(mut process, begun), _) => {
                let (what, timeout) = (format!("the {role}"), self.spec.ready_timeout);
                match asked(engine, &mut process, &self.ready, begun, timeout, &what) {
                    Ok(None) => State::Starting(process, begun),
                    Ok(Some(after)) => State::Ready(process, after),
                    Err(why) => {
                        // Its folder is looked at, and it is ended, by who asked.
                        self.state = State::Starting(process, begun);
                        return Err(why);
                    }
                }
            }
            (state, _) => state,
        };
        Ok(())
    }

    /// Starts it again as it was started, once it has ended: with its port, its files and its log. Its preparation is not run again, so
    /// that it finds its files as it left them.
    pub fn restart<E: Engine<Process = P>>(&mut self, engine: &E) -> Result<(), String> {
        match self.process_mut().map(|process| engine.ended(process)) {
            Some(Some(_)) => {}
            Some(None) => return Err(format!("the {} still runs", self.role)),
            None => return Err(format!("the {} was not started before", self.role)),
        }
        if let State::Starting(mut process, _) | State::Ready(mut process, _) =
            std::mem::replace(&mut self.state, State::Gone)
        {
            engine.finish(&mut process, Duration::ZERO);
        }
        let process = engine.start(&self.start).map_err(|e| format!("the {}: {e}", self.role))?;
        self.state = State::Starting(process, Instant::now());
        self.may_end = false;
        Ok(())
    }

    pub fn ask_to_stop<E: Engine<Process = P>>(&mut self, engine: &E) {
        let signal = Signal::Stop(self.spec.stop_signal);
        if let Some(process) = self.process_mut() {
            engine.signal(process, signal);
        }
    }

    /// Stops it and removes its files; what was not as it should be.
    pub fn finish<E: Engine<Process = P>>(&mut self, engine: &E, is_hasty: bool) -> Vec<String> {
        let timeout = if is_hasty { Duration::ZERO } else { self.spec.stop_timeout };
        if !is_hasty {
            self.ask_to_stop(engine);
        }
        let mut problems =
            self.process_mut().map_or_else(Vec::new, |process| engine.finish(process, timeout));
        self.state = State::Gone;
        problems.extend(self.folder.remove().err().map(|e| format!("its files could not be removed: {e}")));
        problems
    }
}

/// The JVM options that this one of several has for itself.
fn own_options(spec: &ProcessSpec, names: &Placeholders) -> Vec<String> {
    let number = names.fill("{number}").parse::<usize>().ok();
    let options = number.and_then(|number| spec.options_of_each.get(number.checked_sub(1)?));
    options.cloned().unwrap_or_default()
}

/// Asks once whether it is ready: how long that took, none as long as it is not.
fn asked<E: Engine>(
    engine: &E,
    process: &mut E::Process,
    ready: &Ready,
    begun: Instant,
    timeout: Duration,
    what: &str,
) -> Result<Option<Duration>, String> {
    let Err(why) = engine.ready(process, ready) else { return Ok(Some(begun.elapsed())) };
    if let Some(ended) = engine.ended(process) {
        return Err(format!("{what} {} before it was ready{}", ended.how, engine.last_words(process)));
    }
    if timeout <= begun.elapsed() {
        let seconds = timeout.as_secs_f64();
        let words = engine.last_words(process);
        return Err(format!("{what} was not ready within {seconds} s: {why}{words}"));
    }
    Ok(None)
}

/// Copies a folder with all that is in it; symbolic links stay links.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
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
