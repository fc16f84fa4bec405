//! `assay memory` as it is typed: exit codes, messages, what a pipe and what a terminal gets.

use crate::kafka;
use assay_model::{
    DeadMemory, MemoryChange, MemoryPageOut, MemoryReport, MemoryToolReport, MemoryTrim, SnapshotDepth,
    schema,
};
use assay_testkit::{MemoryGroup, find_java, skip, start_java, testdata};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn assay(arguments: &[&str]) -> Output {
    Command::new(ASSAY).args(arguments).env("COLUMNS", "100").output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program with a pipe for what it says.
fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(ASSAY);
    command.args(arguments).env("COLUMNS", "100").stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("assay starts")
}

/// So many lines, as soon as they are there.
fn lines(of: &mut impl BufRead, count: usize) -> String {
    let mut said = String::new();
    for _ in 0..count {
        assert!(0 < of.read_line(&mut said).expect("text"), "it ended: {said}");
    }
    said
}

/// Ctrl-C.
fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("our child takes signals");
}

/// A process that does nothing, and is no JVM; ended when dropped.
struct Sleeper(Child);

impl Sleeper {
    /// It has loaded its libraries, and sleeps.
    fn start() -> Sleeper {
        let sleeper = Sleeper(Command::new("sleep").arg("3600").spawn().expect("sleep starts"));
        let stat = format!("/proc/{}/stat", sleeper.0.id());
        while !fs_err::read_to_string(&stat).expect("it lives").contains(") S ") {
            std::thread::yield_now();
        }
        sleeper
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_does_not_exist_is_wrong_use_with_a_way_on() {
    // Above the kernel's largest pid_max.
    for arguments in [
        &["memory", "4194305"][..],
        &["memory", "advise", "4194305"],
        &["memory", "4194305", "--watch"],
        &["memory", "4194305", "--trim"],
    ] {
        let output = assay(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = text(&output.stderr);
        assert!(told.contains("no process with PID 4194305") && told.contains("assay memory"), "{told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_process_of_somebody_else_lacks_a_right_that_is_named() {
    if !rustix_is_root() {
        skip!("not root: cannot become another user");
    }
    let sleeper = Sleeper::start();
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("assay");
    // Not by this process: a child that another test starts meanwhile would have it open for writing, so that it could
    // not be run.
    let copied = Command::new("cp").arg(ASSAY).arg(&program).status();
    assert!(copied.expect("cp runs").success());
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(folder.path(), open).expect("opened");
    let nobody = |arguments: &[&str]| {
        let output = Command::new(&program).arg("memory").args(arguments).uid(65534).gid(65534).output();
        output.expect("assay starts as nobody")
    };
    for form in [&[][..], &["--trim"], &["--watch"]] {
        let output = nobody(&[&[&*sleeper.pid()], form].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{form:?}: {told}");
        assert!(told.contains("CAP_SYS_PTRACE") && told.contains("sudo assay"), "{form:?}: {told}");
    }
    let told = text(&nobody(&[]).stdout);
    assert!(told.contains("not be read") && told.contains("CAP_SYS_PTRACE"), "{told}");
}

fn rustix_is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|o| text(&o.stdout).trim() == "0")
}

#[test]
fn a_process_that_is_no_jvm_gets_what_holds_for_it_and_its_leaves_add_up() {
    let sleeper = Sleeper::start();
    let output = assay(&["memory", &sleeper.pid(), "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: MemoryReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    let sum: u64 = report.entries.iter().map(|l| l.resident_bytes).sum();
    assert_eq!(sum.cast_signed() - report.rss_bytes.cast_signed(), report.difference_bytes);
    assert_eq!(report.difference_bytes, 0, "nothing moves in it");
    assert!(report.jvm.is_none());
    let tree = text(&assay(&["memory", &sleeper.pid(), "--all"]).stdout);
    assert!(tree.contains("not a JVM that could be read") && tree.contains("difference 0 B"), "{tree}");
    let advice = assay(&["memory", "advise", &sleeper.pid()]);
    assert_eq!(advice.status.code(), Some(2), "no JVM, no bounds");
}

#[test]
fn a_pipe_gets_a_line_for_each_look_without_control_sequences() {
    let sleeper = Sleeper::start();
    let mut watch = start(&["memory", &sleeper.pid(), "--watch=200ms"]);
    let mut out = BufReader::new(watch.stdout.take().expect("piped"));
    let mut shown = lines(&mut out, 3);
    interrupt(&watch);
    out.read_to_string(&mut shown).expect("text");
    let output = watch.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.lines().all(|l| l.contains("  RSS ") && l.contains("iB")), "{shown}");
    assert!(!shown.contains('\x1b'));
}

#[test]
fn as_json_a_watch_prints_its_full_looks_too_and_says_which_they_are() {
    let sleeper = Sleeper::start();
    let mut watch = start(&["memory", &sleeper.pid(), "--watch=100ms", "--json"]);
    let mut out = BufReader::new(watch.stdout.take().expect("piped"));
    let mut next = || {
        let snapshot: MemoryReport = serde_json::from_str(&lines(&mut out, 1)).expect("one snapshot a line");
        snapshot.depth
    };
    assert_eq!(
        next(),
        Some(SnapshotDepth::Owners),
        "the first snapshot is a full one, and is not taken twice"
    );
    while next() != Some(SnapshotDepth::Structures) {}
    interrupt(&watch);
    out.read_to_end(&mut Vec::new()).expect("the rest");
    assert!(watch.wait().expect("it ends").success());
}

#[test]
fn watching_ends_with_the_process() {
    let mut sleeper = Sleeper::start();
    let mut watch = start(&["memory", &sleeper.pid(), "--watch=100ms"]);
    let mut out = BufReader::new(watch.stdout.take().expect("piped"));
    lines(&mut out, 1);
    sleeper.0.kill().expect("killed");
    sleeper.0.wait().expect("waited for");
    out.read_to_end(&mut Vec::new()).expect("lines");
    let output = watch.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("the process has ended"), "{}", text(&output.stderr));
}

/// What a terminal of `script(1)` gets from a watch that this key ends, and what `stty` says of its modes before and after.
fn on_terminal(pid: &str, key: &[u8]) -> String {
    let command = format!("stty -g; {ASSAY} memory {pid} --watch=100ms; echo ended with $?; stty -g");
    let mut terminal = Command::new("script")
        .args(["-qfec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let mut out = terminal.stdout.take().expect("piped");
    let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
    while !text(&shown).contains("(pid") {
        let read = out.read(&mut piece).expect("what the terminal got");
        assert!(read != 0, "it ended: {}", text(&shown));
        shown.extend_from_slice(&piece[..read]);
    }
    let mut keys = terminal.stdin.take().expect("piped");
    keys.write_all(key).expect("typed");
    out.read_to_end(&mut shown).expect("the rest");
    terminal.wait().expect("it ends");
    text(&shown)
}

#[test]
fn the_screen_and_the_keyboard_are_left_as_they_were_after_ctrl_c_and_after_q() {
    if Command::new("script").arg("--version").output().is_err() {
        skip!("no script(1): Debian package bsdutils");
    }
    for key in [b"\x03", b"q"] {
        let mut sleeper = Sleeper::start();
        let shown = on_terminal(&sleeper.pid(), key);
        assert!(sleeper.0.try_wait().expect("our child").is_none(), "it was ended by the key");
        let entered = shown.find("\x1b[?1049h").expect("another screen");
        let left = shown.rfind("\x1b[?1049l").expect("and back");
        assert!(entered < left && shown[..left].ends_with("\x1b[?25h"), "the cursor comes back first");
        let after = &shown[left..];
        assert!(
            !after.contains("\x1b[H") && !after.contains("\x1b[?25l"),
            "nothing is drawn on the user's own screen"
        );
        let is_whole =
            ["sleep (pid", "RSS", "stopped", "ended with 0"].iter().all(|part| after.contains(part));
        assert!(is_whole, "the last picture stays: {after}");
        let modes =
            |text: &str, line: Option<&str>| line.unwrap_or_else(|| panic!("{text}")).trim().to_owned();
        let (before, last) = (modes(&shown, shown.lines().next()), modes(after, after.lines().last()));
        assert!(before.contains(':') && before == last, "modes of the terminal: {before}, then {last}");
    }
}

#[test]
fn a_terminal_that_knows_no_control_sequences_gets_lines() {
    if Command::new("script").arg("--version").output().is_err() {
        skip!("no script(1): Debian package bsdutils");
    }
    let sleeper = Sleeper::start();
    let command = format!("{ASSAY} memory {} --watch=100ms --for 300ms", sleeper.pid());
    let mut script = Command::new("script");
    script.args(["-qfec", &command, "/dev/null"]).env("TERM", "dumb").stdin(Stdio::null());
    let shown = text(&script.output().expect("script starts").stdout);
    assert!(shown.contains("  RSS ") && !shown.contains('\x1b'), "{shown}");
}

#[test]
fn a_record_can_be_compared_with_itself_and_made_a_page() {
    let sleeper = Sleeper::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (record, page, change_page) = (file("r.ndjson"), file("p.html"), file("c.html"));
    let mut recording =
        start(&["memory", &sleeper.pid(), "--record", &record, "--every", "300ms", "--html", &page]);
    let mut talk = BufReader::new(recording.stderr.take().expect("piped"));
    let mut said = lines(&mut talk, 4);
    interrupt(&recording);
    talk.read_to_string(&mut said).expect("text");
    assert!(recording.wait().expect("it ends").success(), "{said}");
    assert!(fs_err::read_to_string(&page).expect("a page").contains("id=\"over-time\""));
    let output = assay(&["memory", "diff", &record, &record, "--json", "--html", &change_page]);
    let change: MemoryChange = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert!(change.elapsed_ns.is_some_and(|ns| ns > 0), "first and last snapshot: {:?}", change.elapsed_ns);
    assert!(fs_err::read_to_string(&change_page).expect("a page").contains("What changed"));
    let same: MemoryChange = serde_json::from_slice(
        &assay(&["memory", "diff", &format!("{record}@1"), &format!("{record}@1"), "--json"]).stdout,
    )
    .expect("the stored form");
    assert_eq!((same.before_bytes, same.explained_bytes), (same.after_bytes, 0));
    let beyond = assay(&["memory", "diff", &record, &format!("{record}@999")]);
    assert_eq!(beyond.status.code(), Some(2));
    assert!(text(&beyond.stderr).contains("there is no snapshot 999"), "{}", text(&beyond.stderr));
}

#[test]
fn stored_looks_are_compared_by_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshots = kafka::snapshots();
    let write = |name: &str, snapshot: &MemoryReport| {
        let path = folder.path().join(name);
        fs_err::write(&path, serde_json::to_string_pretty(snapshot).expect("JSON")).expect("written");
        path.display().to_string()
    };
    let (before, after) = (write("a.json", &snapshots[0]), write("b.json", &snapshots[40]));
    let output = assay(&["memory", "diff", &before, &after]);
    let told = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let first = told.lines().find(|l| l.contains("  +")).unwrap_or_default();
    assert!(first.contains("direct") && first.contains("+98.5 MiB"), "{told}");
}

#[test]
fn help_has_examples_and_fits_a_terminal() {
    for arguments in
        [&["memory", "--help"][..], &["memory", "diff", "--help"], &["memory", "advise", "--help"]]
    {
        let help = text(&assay(arguments).stdout);
        assert!(help.contains("EXAMPLES:\n  assay memory"), "{help}");
        assert!(help.lines().all(|l| l.chars().count() <= 110), "{help}");
    }
}

#[test]
fn a_trim_has_a_stored_form_and_wants_a_jvm() {
    let sleeper = Sleeper::start();
    let output = assay(&["memory", &sleeper.pid(), "--trim", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is not a HotSpot JVM"), "{}", text(&output.stderr));
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25") };
    let jvm = start_java(&java, &["-Xmx100m"], &[], "Waiting");
    let output = assay(&["memory", &jvm.pid().to_string(), "--trim", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trim: MemoryTrim = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!((trim.schema.as_str(), trim.pid), (schema::MEMORY_TRIM, jvm.pid()));
    assert!(trim.predicted_bytes.is_some());
    let fell = i128::from(trim.rss_bytes_before) - i128::from(trim.rss_bytes_after);
    assert_eq!(i128::from(trim.actual_bytes), fell);
}

#[test]
fn a_dry_run_of_a_page_out_has_a_stored_form_and_needs_no_swap() {
    let sleeper = Sleeper::start();
    let output = assay(&[
        "memory",
        &sleeper.pid(),
        "--page-out",
        "freed,stale-stacks,free-heap",
        "--dry-run",
        "--json",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let result: MemoryPageOut = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(result.schema, schema::MEMORY_PAGE_OUT);
    assert!(result.is_dry_run && result.rss_bytes_after.is_none() && result.watched_ns.is_none());
    let kinds: Vec<DeadMemory> = result.parts.iter().map(|part| part.memory).collect();
    assert_eq!(kinds, DeadMemory::ALL);
    let of_heap = result.problems.iter().find(|problem| problem.about == "free-heap");
    assert!(of_heap.is_some_and(|problem| problem.text.contains("not a JVM")), "{:?}", result.problems);
}

#[test]
fn another_users_process_is_left_alone_without_consent() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can start a process of another user");
    }
    let mut child = Command::new("sleep").arg("1000").uid(65_534).spawn().expect("it starts");
    let pid = child.id().to_string();
    let answers =
        [&["--trim"][..], &["--page-out", "freed"]].map(|of| assay(&[&["memory", &pid], of].concat()));
    child.kill().and_then(|()| child.wait()).expect("our child");
    for output in answers {
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        let told = text(&output.stderr);
        assert!(told.contains("another user (UID 65534)") && told.contains("--yes"), "{told}");
    }
}

/// A process in the group that waits for a line, and then takes memory until the kernel kills it.
fn growing_in(group: &MemoryGroup) -> Child {
    let script = "echo $$ > \"$0\"; echo ready; read go; v=xxxxxxxxxxxxxxxx; while :; do v=$v$v; done";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(group.path().join("cgroup.procs"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("sh starts")
}

#[test]
fn a_record_survives_the_kill_at_the_limit_and_says_so() {
    let Some(group) = MemoryGroup::new("killed").filter(|group| group.limit(64 << 20)) else {
        skip!("no right to make a control group with a limit")
    };
    let mut child = growing_in(&group);
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    assert_eq!(lines(&mut said, 1), "ready\n");
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("killed-%p.ndjson").display().to_string();
    let pid = child.id().to_string();
    let mut recorder = start(&["memory", &pid, "--record", &record, "--every", "200ms"]);
    let mut errors = BufReader::new(recorder.stderr.take().expect("a pipe"));
    assert!(lines(&mut errors, 1).contains("recorded"), "the first snapshot is of the waiting process");
    // Dropped, it is a line and the end of the input.
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    let status = child.wait().expect("our child");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status:?}");
    let printed = recorder.wait_with_output().expect("it ends with the process");
    let printed = text(&printed.stdout);
    // Not every kernel counts how often the limit was met.
    let is_told = |said: &str| said.contains("The kernel killed the process ") && said.contains("64.0 MiB");
    assert!(is_told(&printed) && !printed.contains("not at its"), "{printed}");
    let named = record.replace("%p", &pid);
    let why = assay(&["why", &named]);
    let answer = text(&why.stdout);
    assert!(is_told(&answer), "{answer}");
    assert!(answer.lines().count() <= 40, "{answer}");
}

/// A report of another tool, recorded from a JVM.
fn recorded(name: &str) -> String {
    testdata("../fuzz/corpus/memory_report_read").join(name).display().to_string()
}

#[test]
fn a_report_of_another_tool_is_read_and_is_said_to_lack_what_it_lacks() {
    for (name, said) in [("smaps-17", "anonymous memory"), ("pmap-X-8", "malloc"), ("nmt-mb-25", "Java Heap")]
    {
        let path = recorded(name);
        let output = assay(&["memory", &path]);
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(printed.contains(said) && printed.contains("Unknown from this file"), "{printed}");
        assert!(printed.lines().count() <= 40, "{printed}");
        let json = assay(&["memory", &path, "--json"]).stdout;
        let report: MemoryToolReport = serde_json::from_slice(&json).expect("the stored form");
        assert_eq!((report.schema.as_str(), report.file), (schema::MEMORY_TOOL_REPORT, path.clone()));
    }
}

#[test]
fn what_needs_a_process_is_refused_for_a_file_of_another_tool_with_the_way() {
    for option in ["--watch", "--live", "--ranges", "--trim"] {
        let output = assay(&["memory", &recorded("nmt-8"), option]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        let told = text(&output.stderr);
        assert!(told.contains("assay memory PID") || told.contains("cannot be used"), "{option}: {told}");
    }
    let output = assay(&["report", &recorded("nmt-8")]);
    // Where the lines break depends on how long the file's path is.
    let told = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("a report of another tool about") && told.contains("assay memory /"), "{told}");
}
