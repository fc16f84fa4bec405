//! Changes of a killed run are reverted, whatever the moment.

use super::*;
use crate::change::{FileSetting, Form};
use rustix::fs::{FlockOperation, flock};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const POINT: &str = "ASSAY_TEST_KILL_AT";
const FOLDER: &str = "ASSAY_TEST_FOLDER";
const SETTINGS: usize = 3;

/// A setting, and a process that is killed on the way.
#[derive(Serialize, Deserialize)]
struct Deadly(FileSetting);

impl Deadly {
    fn die_at(&self, point: &str) {
        let name = self.0.name();
        let name = name.rsplit('/').next().unwrap();
        if std::env::var(POINT).is_ok_and(|wanted| wanted == format!("{point} {name}")) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            unreachable!("SIGKILL");
        }
    }
}

impl Treatment for Deadly {
    fn apply(&self) -> io::Result<()> {
        self.die_at("before apply");
        self.0.apply()?;
        self.die_at("after apply");
        Ok(())
    }

    fn verify(&self) -> io::Result<()> {
        self.0.verify()?;
        self.die_at("after verify");
        Ok(())
    }

    fn undo(&self) -> io::Result<()> {
        self.die_at("before undo");
        self.0.undo()?;
        self.die_at("after undo");
        Ok(())
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let private = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().permissions(private).tempdir().unwrap()
}

fn settings(folder: &Path) -> Vec<String> {
    (0..SETTINGS).map(|i| std::fs::read_to_string(folder.join(format!("setting-{i}"))).unwrap()).collect()
}

fn make_settings(folder: &Path) -> Vec<String> {
    // Of several lengths, and one without a line end: all come back byte by byte.
    for (i, text) in ["always [madvise] never\n", "", "1"].iter().enumerate() {
        std::fs::write(folder.join(format!("setting-{i}")), text).unwrap();
    }
    settings(folder)
}

fn setting(folder: &Path, i: usize) -> FileSetting {
    FileSetting::new(&folder.join(format!("setting-{i}")), "never\n", Form::Text).unwrap()
}

/// Not a test of its own: the next one starts it and has it killed.
#[test]
fn a_run_that_changes_the_machine() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mut treatments = Treatments::begin(&folder).unwrap();
    for i in 0..SETTINGS {
        treatments.apply(Deadly(setting(&folder, i))).unwrap();
    }
    assert_eq!(settings(&folder), ["never\n"; SETTINGS]);
    assert_eq!(treatments.undo_all(), Vec::<String>::new());
}

#[test]
fn whenever_a_run_is_killed_the_next_start_sets_everything_back() {
    let points = ["before apply", "after apply", "after verify", "before undo", "after undo"];
    for (point, i) in points.iter().flat_map(|point| (0..SETTINGS).map(move |i| (point, i))) {
        let folder = folder();
        let before = make_settings(folder.path());
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "treatment::tests::a_run_that_changes_the_machine"])
            .env(FOLDER, folder.path())
            .env(POINT, format!("{point} setting-{i}"))
            .output()
            .unwrap();
        assert_eq!(run.status.signal(), Some(9), "{point} {i}: {run:?}");
        let changes_nothing = i == 0 && ["before apply", "after undo"].contains(point);
        if !changes_nothing {
            assert_ne!(settings(folder.path()), before, "{point} {i}: something was changed");
        }
        let told = undo_left_over::<Deadly>(folder.path());
        assert!(!told.is_empty() && told.iter().all(|t| t.starts_with("set /")), "{point} {i}: {told:?}");
        assert_eq!(settings(folder.path()), before, "{point} {i}");
        assert_eq!(undo_left_over::<Deadly>(folder.path()), Vec::<String>::new(), "{point} {i}: once");
    }
}

/// The record is on disk before the change, so a record that is not whole is of a change that was not made.
#[test]
fn what_a_killed_run_was_about_to_start_holds_its_lock_for_a_moment_only() {
    let folder = folder();
    let before = make_settings(folder.path());
    let mut treatments = Treatments::begin(folder.path()).unwrap();
    treatments.apply(setting(folder.path(), 0)).unwrap();
    // The child of a killed run: nobody takes the change back, and the lock is let go a little later.
    treatments.made.clear();
    treatments.has_failed = true;
    let child = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(treatments);
    });
    assert_eq!(undo_left_over::<FileSetting>(folder.path()).len(), 1);
    assert_eq!(settings(folder.path()), before);
    child.join().unwrap();
}

#[test]
fn a_record_that_was_cut_off_anywhere_hides_no_other() {
    let whole = {
        let folder = folder();
        make_settings(folder.path());
        let mut treatments = Treatments::begin(folder.path()).unwrap();
        treatments.apply(setting(folder.path(), 0)).unwrap();
        let first = std::fs::read(folder.path().join(CHANGES)).unwrap().len();
        treatments.apply(setting(folder.path(), 1)).unwrap();
        (first, std::fs::read(folder.path().join(CHANGES)).unwrap().len())
    };
    for cut in whole.0..whole.1 {
        let folder = folder();
        let before = make_settings(folder.path());
        let mut treatments = Treatments::begin(folder.path()).unwrap();
        treatments.apply(setting(folder.path(), 0)).unwrap();
        let record = OpenOptions::new().write(true).open(folder.path().join(CHANGES)).unwrap();
        treatments
            .write(&Line::Change {
                number: 2,
                boot_id: treatments.boot_id.clone(),
                treatment: setting(folder.path(), 1),
            })
            .unwrap();
        // Killed here: neither dropped nor undone, its lock gone.
        record.set_len(cut as u64).unwrap();
        flock(&treatments.file, FlockOperation::Unlock).unwrap();
        std::mem::forget(treatments);
        assert!(Treatments::<FileSetting>::begin(folder.path()).is_ok());
        assert_eq!(settings(folder.path()), before, "cut at {cut}");
    }
}

#[test]
fn one_run_at_a_time_changes_the_machine_and_leaves_nothing() {
    let folder = folder();
    let before = make_settings(folder.path());
    let mut one = Treatments::begin(folder.path()).unwrap();
    one.apply(setting(folder.path(), 0)).unwrap();
    let why = Treatments::<FileSetting>::begin(folder.path()).unwrap_err();
    // Whoever can wait tells it by its kind.
    assert_eq!(why.kind(), io::ErrorKind::WouldBlock);
    assert!(why.to_string().contains("another run is changing settings"), "{why}");
    assert_eq!(undo_left_over::<FileSetting>(folder.path()), Vec::<String>::new());
    assert_eq!(settings(folder.path())[0], "never\n");
    drop(one);
    assert_eq!(settings(folder.path()), before);
    assert_eq!(std::fs::metadata(folder.path().join(CHANGES)).unwrap().len(), 0);
}

#[test]
fn what_does_not_read_back_is_taken_back_at_once() {
    let folder = folder();
    let before = make_settings(folder.path());
    /// The kernel rounds, or ignores, written values.
    #[derive(Serialize, Deserialize)]
    struct Ignored(FileSetting);
    impl Treatment for Ignored {
        fn apply(&self) -> io::Result<()> {
            std::fs::write(self.0.name(), "something else")
        }
        fn verify(&self) -> io::Result<()> {
            self.0.verify()
        }
        fn undo(&self) -> io::Result<()> {
            self.0.undo()
        }
        fn name(&self) -> String {
            self.0.name()
        }
    }
    let mut treatments = Treatments::begin(folder.path()).unwrap();
    let why = treatments.apply(Ignored(setting(folder.path(), 2))).unwrap_err().to_string();
    assert!(why.contains("is `something else`, not `never`"), "{why}");
    assert_eq!(settings(folder.path()), before);
}

#[test]
fn a_change_of_an_earlier_boot_is_none_any_more() {
    let folder = folder();
    let before = make_settings(folder.path());
    let line =
        Line::Change { number: 1, boot_id: "another".to_owned(), treatment: setting(folder.path(), 0) };
    let mut file =
        OpenOptions::new().create(true).append(true).mode(0o600).open(folder.path().join(CHANGES)).unwrap();
    file.write_all(serde_json::to_string(&line).unwrap().as_bytes()).unwrap();
    std::fs::write(folder.path().join("setting-0"), "of this boot").unwrap();
    assert_eq!(undo_left_over::<FileSetting>(folder.path()), Vec::<String>::new());
    assert_eq!(settings(folder.path())[0], "of this boot");
    assert_eq!(settings(folder.path())[1..], before[1..]);
}

#[test]
fn a_change_of_a_version_that_knows_more_is_not_lost() {
    let folder = folder();
    make_settings(folder.path());
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(folder.path().join(CHANGES)).unwrap();
    let boot_id = ProcRoot::default().read_boot_id().unwrap();
    let line = format!(r#"{{"change":{{"number":1,"boot-id":"{boot_id}","treatment":{{"from":"later"}}}}}}"#);
    file.write_all(line.as_bytes()).unwrap();
    let why = Treatments::<FileSetting>::begin(folder.path()).unwrap_err().to_string();
    assert!(why.contains("does not know"), "{why}");
    assert!(undo_left_over::<FileSetting>(folder.path())[0].contains("does not know"));
    assert_eq!(std::fs::read_to_string(folder.path().join(CHANGES)).unwrap(), line);
}

#[test]
fn one_run_at_a_time_has_the_machine_whatever_its_folder() {
    if !rustix::process::geteuid().is_root() {
        assay_testkit::skip!("only root");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let held = lock_machine(&path).unwrap();
    assert!(lock_machine(&path).is_err_and(|e| e.to_string().contains("another run")));
    drop(held);
    assert!(lock_machine(&path).is_ok());
}
