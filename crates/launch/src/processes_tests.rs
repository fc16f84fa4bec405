//! The order of starting and stopping, and that nothing is left of what processes have started, wherever it went.

use super::*;
use crate::local::Local;
use crate::spec::ReadyWhen;
use assay_linux::ProcRoot;
use std::path::PathBuf;
use std::time::Instant;

struct Fixture {
    _folder: tempfile::TempDir,
    trial: PathBuf,
    engine: Rc<Local>,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let (trial, runtime) = (folder.path().join("trial"), folder.path().join("runtime"));
        std::fs::create_dir(&trial).unwrap();
        let engine = Rc::new(Local::begin_in(runtime).unwrap());
        Fixture { _folder: folder, trial, engine }
    }

    fn plan(&self, specs: &[ProcessSpec]) -> Processes<Local> {
        let folders = TrialFolders { trial: &self.trial, runtime: self.engine.folder(), base: &self.trial };
        Processes::plan(&self.engine, specs, folders, &Placeholders::default()).unwrap()
    }

    fn start(&mut self, specs: &[ProcessSpec]) -> Result<Processes<Local>, String> {
        let mut processes = self.plan(specs);
        while !processes.step()? {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(processes)
    }

    fn told(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.trial.join("told")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Pids of live processes that have this word on their command line.
    fn find(word: &str) -> Vec<u32> {
        let has_word = |pid: u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split(|b| *b == 0).any(|w| w == word.as_bytes())
        };
        let all = ProcRoot::default().read_processes().unwrap();
        all.into_iter().filter(|p| !p.has_ended() && has_word(p.pid)).map(|p| p.pid).collect()
    }
}

/// A shell script that says what it does, and when it ends.
fn script(role: &str, script: &str, ready: ReadyWhen) -> ProcessSpec {
    let command = ["sh", "-c", script, role].map(str::to_owned).to_vec();
    ProcessSpec { is_server: role == "server", ..ProcessSpec::new(role, command, ready) }
}

/// Counts before it is ready: the busiest process of a family is its main one, and that must not be a `sleep`.
fn waits(role: &str) -> ProcessSpec {
    let text = "echo start $0-{number} >> told; trap 'echo stop $0-{number} >> told; exit 0' TERM; \
                i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done; \
                : > ready-$0-{number}; while :; do sleep 0.02; done";
    let is_there = ["test", "-f", &format!("ready-{role}-{{number}}")].map(str::to_owned).to_vec();
    script(role, text, ReadyWhen::Command(is_there))
}

#[test]
fn each_is_ready_before_the_next_starts_and_the_last_stops_first() {
    let fixture = Fixture::new();
    let mut first = waits("first");
    first.prepare = ["sh", "-c", "echo prepare >> told"].map(str::to_owned).to_vec();
    first.count = 2;
    let specs = [first, waits("server"), waits("last")];
    let mut processes = fixture.plan(&specs);
    processes.start_server(&|| true).unwrap();
    assert!(processes.server_pid().is_some() && processes.server_ready_after().is_none());
    while !processes.step().unwrap() {
        std::thread::sleep(POLL_INTERVAL);
    }
    let started = ["prepare", "start first-1", "prepare", "start first-2", "start server-1", "start last-1"];
    assert_eq!(fixture.told(), started);
    assert!(processes.server_ready_after().is_some());
    let roles: Vec<String> = processes.pids().iter().map(|(r, _)| (*r).to_owned()).collect();
    assert_eq!(roles, ["first-1", "first-2", "server", "last"]);
    let beside = processes.companion_pids();
    assert!(
        processes.pids().iter().all(|(role, pid)| beside.contains(pid) == (*role != "server")),
        "{beside:?}"
    );
    assert_eq!(processes.ended("in the end"), None);
    let ports: Vec<String> = roles.iter().map(|r| processes.names().fill(&format!("{{{r}.port}}"))).collect();
    assert!(ports.iter().all(|p| p.parse::<u16>().is_ok()), "{ports:?}");
    assert_eq!(processes.finish(false), []);
    let mut told = fixture.told().split_off(6);
    // Those of one table stop together.
    told[2..].sort_unstable();
    assert_eq!(told, ["stop last-1", "stop server-1", "stop first-1", "stop first-2"]);
    for log in ["server.log", "first-1.log", "last.log"] {
        assert!(fixture.trial.join(log).is_file(), "{log}");
    }
    let files = std::fs::read_dir(&fixture.trial).unwrap().flatten();
    assert!(!files.into_iter().any(|f| f.file_name().to_string_lossy().starts_with("server-files")));
}

/// The second is ready when the third has started, and the fourth starts when one of them is ready.
#[test]
fn the_first_of_a_table_is_ready_before_the_others_which_start_several_at_once() {
    let fixture = Fixture::new();
    let text = "echo start {number} >> told; : > started-{number}; \
                [ {number} != 2 ] || until [ -e started-3 ]; do sleep 0.02; done; \
                echo ready {number} >> told; : > ready-{number}; while :; do sleep 0.02; done";
    let is_there = ["test", "-f", "ready-{number}"].map(str::to_owned).to_vec();
    let mut copies = script("copies", text, ReadyWhen::Command(is_there));
    copies.count = 4;
    let mut processes = fixture.plan(&[copies, waits("server")]);
    processes.starting_max = 2;
    while !processes.step().unwrap() {
        std::thread::sleep(POLL_INTERVAL);
    }
    let told = fixture.told();
    let at = |line: &str| told.iter().position(|told| told == line).expect(line);
    assert_eq!((at("start 1"), at("ready 1")), (0, 1), "{told:?}");
    assert!(at("start 3") < at("ready 2") && at("ready 2").min(at("ready 3")) < at("start 4"), "{told:?}");
    assert!(at("ready 4") < at("start server-1"), "{told:?}");
    assert_eq!(processes.finish(false), []);
}

#[test]
fn what_goes_wrong_names_the_process_and_what_it_printed() {
    let mut fixture = Fixture::new();
    let mut specs = [waits("first"), waits("server")];
    specs[0].prepare = ["sh", "-c", "echo no disk; exit 3"].map(str::to_owned).to_vec();
    let why = fixture.start(&specs).err().unwrap();
    assert!(
        why.contains("what prepares the first ended with exit code 3") && why.contains("no disk"),
        "{why}"
    );

    // Where it was started before it ended, it must be gone before the next has its folder.
    if let Err(why) =
        fixture.start(&[script("first", "echo bad luck; exit 4", ReadyWhen::Started), waits("server")])
    {
        assert!(why.contains("the first ended with exit code 4 before it was ready"), "{why}");
    }
    let mut slow = waits("first");
    slow.ready = ReadyWhen::Command(["false".to_owned()].to_vec());
    slow.ready_timeout = Duration::from_millis(100);
    let why = fixture.start(&[slow]).err().unwrap();
    assert!(why.contains("the first was not ready within 0.1 s: false gave exit status: 1"), "{why}");

    let mut processes = fixture
        .start(&[waits("first"), script("server", "echo bye; sleep 0.2; exit 5", ReadyWhen::Started)])
        .unwrap();
    let begun = Instant::now();
    let why = loop {
        match processes.ended("in the end") {
            Some(why) => break why,
            None => assert!(begun.elapsed() < Duration::from_secs(60)),
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    assert!(why.contains("the server ended with exit code 5") && why.contains("bye"), "{why}");
}

/// Start scripts that leave their server behind: in a session of its own, without a parent, with another's environment.
#[test]
fn what_left_the_group_is_stopped_with_it() {
    let word = |name: &str| format!("assay-{name}-{}", std::process::id());
    let cases = [
        ("session", "setsid sh -c 'sleep 600; :' WORD & wait"),
        ("orphan", "(setsid sh -c 'sleep 600; :' WORD &) ; sleep 600"),
        ("daemon", "setsid sh -c '(setsid sh -c \"sleep 600; :\" WORD &) ; exit 0' ; sleep 600"),
        ("stubborn", "setsid sh -c 'trap : TERM; while :; do sleep 600; done' WORD & wait"),
        // It overwrites its environment, as some do to show a title; it is known by descent.
        ("clean", "env -i setsid sh -c 'sleep 600; :' WORD & wait"),
    ];
    for (name, text) in cases {
        let mut fixture = Fixture::new();
        let word = word(name);
        let mut server = script("server", &text.replace("WORD", &word), ReadyWhen::Started);
        server.stop_timeout = Duration::from_millis(500);
        let mut processes = fixture.start(&[server]).unwrap();
        let begun = Instant::now();
        while Fixture::find(&word).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{name} starts");
            std::thread::sleep(POLL_INTERVAL);
        }
        let left = Fixture::find(&word);
        processes.hold();
        for pid in &left {
            // The signal is sent; it takes effect when the process is scheduled.
            while ProcRoot::default().read_process_stat(*pid).unwrap().state != 'T' {
                assert!(begun.elapsed() < Duration::from_secs(60), "{name} stands still");
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        processes.resume();
        let problems = processes.finish(false);
        assert_eq!(Fixture::find(&word), Vec::<u32>::new(), "{name}: {problems:?}");
        assert!(left.iter().all(|pid| !PathBuf::from(format!("/proc/{pid}")).exists()), "{name}: no zombie");
    }
}

#[test]
fn a_list_that_is_dropped_leaves_no_process_and_no_file() {
    let mut fixture = Fixture::new();
    let word = format!("assay-dropped-{}", std::process::id());
    let text = format!("setsid sh -c 'sleep 600; :' {word} & wait");
    let processes = fixture.start(&[waits("first"), script("server", &text, ReadyWhen::Started)]).unwrap();
    let begun = Instant::now();
    while Fixture::find(&word).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(POLL_INTERVAL);
    }
    drop(processes);
    assert_eq!(Fixture::find(&word), Vec::<u32>::new());
    assert_eq!(std::fs::read_dir(fixture.engine.folder()).unwrap().count(), 1, "the lease alone");
}

#[test]
fn every_process_beside_the_server_is_a_companion_once() {
    let mut fixture = Fixture::new();
    let word = format!("assay-counted-{}", std::process::id());
    // Four generations, the last in a session of its own.
    let text = format!("sh -c 'sh -c \"setsid sh -c \\\"sleep 600; :\\\" {word}; :\" {word}; :' {word}; :");
    let processes = fixture.start(&[script("deep", &text, ReadyWhen::Started), waits("server")]).unwrap();
    let begun = Instant::now();
    while Fixture::find(&word).len() < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(POLL_INTERVAL);
    }
    let beside = processes.companion_pids();
    for pid in Fixture::find(&word) {
        assert_eq!(beside.iter().filter(|found| **found == pid).count(), 1, "{pid} of {beside:?}");
    }
    let leader = processes.pids()[0].1;
    assert!(
        !beside.contains(&processes.server_pid().unwrap()) && !beside.contains(&std::process::id()),
        "{leader}"
    );
}

/// Each is asked to stop when those started after it have ended, however long that takes; those of one table are asked together.
#[test]
fn what_was_started_first_is_asked_to_stop_when_the_others_have_stopped() {
    let mut fixture = Fixture::new();
    let slow = |role: &str| {
        let mut slow = waits(role);
        slow.command[2] =
            slow.command[2].replace("trap '", "trap 'echo asked $0-{number} >> told; sleep 0.3; ");
        slow
    };
    let pair = ProcessSpec { count: 2, ..slow("pair") };
    let mut processes = fixture.start(&[slow("first"), pair, slow("server"), slow("proxy")]).unwrap();
    let started = fixture.told().len();
    processes.ask_to_stop();
    assert_eq!(processes.finish(false), []);
    let told = fixture.told().split_off(started);
    let one = |role: &str| [format!("asked {role}"), format!("stop {role}")];
    assert_eq!(told[..4], [one("proxy-1"), one("server-1")].concat());
    for words in [&told[4..6], &told[6..8]] {
        let word = &words[0][..words[0].len() - 1];
        let mut numbers = words.iter().filter_map(|told| told.strip_prefix(word)).collect::<Vec<_>>();
        numbers.sort_unstable();
        assert_eq!(numbers, ["1", "2"], "{told:?}");
    }
    assert!(told[4].starts_with("asked pair-") && told[6].starts_with("stop pair-"), "{told:?}");
    assert_eq!(told[8..], one("first-1"));
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[test]
fn one_that_was_killed_is_started_again_as_it_was_and_the_others_stay() {
    let mut fixture = Fixture::new();
    let mut first = waits("first");
    first.prepare = ["sh", "-c", "echo prepare >> told"].map(str::to_owned).to_vec();
    first.environment.insert("PORT".to_owned(), "{port}".to_owned());
    first.command[2] = first.command[2].replace("echo start", "echo $PORT >> ports; echo start");
    let mut processes = fixture.start(&[first, waits("server")]).unwrap();
    let (killed, server) = (processes.pid_of("first").unwrap(), processes.server_pid());
    assert!(processes.restart("first").unwrap_err().contains("still runs"));
    assert!(processes.restart("none").is_err() && processes.signal("none", Signal::Kill).is_err());

    processes.set_may_end("first", true);
    assert_eq!(processes.signal("first", Signal::Kill), Ok(Some(killed)));
    until("it ends", || processes.ended_of("first").is_some());
    assert_eq!(processes.ended_of("first").unwrap().how, "was ended by signal 9");
    assert_eq!(processes.ended("in the end"), None, "its end was wanted");
    assert_eq!(processes.lost().as_deref(), Some("first"));
    let again = processes.signal("first", Signal::Hold).unwrap_err();
    assert_eq!(again, "the first was ended by signal 9 before");

    std::fs::remove_file(fixture.trial.join("ready-first-1")).unwrap();
    processes.restart("first").unwrap();
    until("it is ready", || processes.step_of("first").unwrap());
    assert_ne!(processes.pid_of("first").unwrap(), killed);
    assert_eq!(processes.lost(), None);
    assert_eq!(processes.server_pid(), server);
    assert_eq!(fixture.told(), ["prepare", "start first-1", "start server-1", "start first-1"]);
    let ports = std::fs::read_to_string(fixture.trial.join("ports")).unwrap();
    let ports: Vec<&str> = ports.lines().collect();
    assert!(ports.len() == 2 && ports[0] == ports[1], "{ports:?}");

    processes.signal("first", Signal::Kill).unwrap();
    until("it ends", || processes.ended_of("first").is_some());
    assert!(processes.ended("in the end").is_some(), "once it runs again its end is a mistake");
    assert_eq!(processes.finish(false), []);
}

#[test]
fn one_that_stands_still_stops_with_the_others() {
    for is_dropped in [false, true] {
        let mut fixture = Fixture::new();
        let mut processes = fixture.start(&[waits("first"), waits("server")]).unwrap();
        let pid = processes.signal("first", Signal::Hold).unwrap().unwrap();
        // A shell that was stopped while it started a program with vfork() waits for that one, which is stopped: `D` until both go on.
        until("it stands still", || {
            matches!(ProcRoot::default().read_process_stat(pid).unwrap().state, 'T' | 'D')
        });
        if is_dropped {
            drop(processes);
        } else {
            assert_eq!(processes.finish(false), []);
            assert_eq!(fixture.told().last().unwrap(), "stop first-1");
        }
        assert!(!PathBuf::from(format!("/proc/{pid}")).exists(), "it is gone, dropped: {is_dropped}");
    }
}

/// The file of a log is one's own, and what prepares it or asks for it is no JVM of that log.
#[test]
fn each_of_several_has_the_options_of_its_own_behind_those_of_all() {
    let fixture = Fixture::new();
    let mut pair = waits("pair");
    pair.command.push("{jvm_options}".to_owned());
    pair.prepare = vec!["sh".to_owned(), "{jvm_options}".to_owned()];
    let pair = ProcessSpec {
        count: 2,
        jvm_options: vec!["-Xmx1m".to_owned()],
        options_of_each: vec![vec!["-Dlog=1".to_owned()], vec!["-Dlog=2".to_owned()]],
        ..pair
    };
    let processes = fixture.plan(&[pair]);
    let options = processes.launches().map(|(_, launch)| launch.argv[4..].join(" "));
    assert_eq!(options.collect::<Vec<_>>(), ["-Xmx1m -Dlog=1", "-Xmx1m -Dlog=2"]);
}
