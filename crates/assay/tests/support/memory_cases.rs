//! `assay memory` where a JVM runs in another way than most: on other C libraries, with other options, without symbols.

use super::cell::Cell;
use super::memory::{Snapshot, options, snapshot_of};
use super::subject::{COLLECTORS, Collector, Subject, assay};
use assay_model::MemoryTrim;
use assay_testkit::{Running, checkout, java_command, start_buffers, start_java, stripped_java};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Releases of glibc, as `scripts/fetch-glibc` unpacks them.
pub const C_LIBRARIES: [&str; 4] = ["2.31", "2.36", "2.41", "2.43"];
/// Lays a folder of libraries over another one, for this program and its children alone.
const WITH_LIBRARIES: &str =
    r#"mount -t overlay overlay -o "ro,lowerdir=$1:$2" "$2" && shift 2 && exec "$@""#;
/// Loaders of 64-bit and of 32-bit programs, as these name them.
const LOADERS: [&str; 2] = ["/ld-linux-x86-64.so.2\0", "/ld-linux.so.2\0"];
/// Direct buffers that are freed before a trim.
const BUFFERS: u32 = 3000;
/// Huge pages of 2 MiB for two heaps, and what else a JVM has in them.
const HUGE_PAGES_MIN: u64 = 600;
/// By how much a trim may differ from what was predicted: as in `crates/memory/tests/trim.rs`.
const TRIM_SHARE_MAX: u64 = 100;
const TRIM_BYTES_MAX: u64 = 64 << 10;

/// A case of its own.
pub struct Case {
    pub title: &'static str,
    test: fn(&Subject) -> Cell,
}

pub const CASES: [Case; 6] = [
    Case { title: "`-Xint`", test: |subject| with(subject, &["-Xint"], |_| true) },
    Case { title: "`-Xshare:off`", test: |subject| with(subject, &["-Xshare:off"], |_| true) },
    Case {
        title: "transparent huge pages",
        test: |subject| {
            with(subject, &["-XX:+UseTransparentHugePages"], |snapshot| {
                0 < snapshot.0.outside_rss.huge_pages_bytes.unwrap_or(0)
            })
        },
    },
    Case { title: "reserved huge pages", test: reserved_huge_pages },
    Case { title: "stripped `libjvm`", test: stripped },
    Case { title: "`--trim`", test: trim },
];

fn g1() -> Collector {
    COLLECTORS[3]
}

/// One cell for each case.
pub fn special(subject: &Subject) -> Vec<Cell> {
    CASES.iter().map(|case| (case.test)(subject)).collect()
}

/// One cell for each C library.
pub fn on_c_libraries(subject: &Subject) -> Vec<Cell> {
    if subject.row.bits == 32 {
        return vec![Cell::Absent("64 bits only".to_owned()); C_LIBRARIES.len()];
    }
    C_LIBRARIES.iter().map(|release| on_c_library(subject, release)).collect()
}

fn on_c_library(subject: &Subject, release: &str) -> Cell {
    let folder = checkout().join(".assay/glibc").join(release);
    let (Ok(folder), Some(own)) = (fs::canonicalize(folder), own_libraries(subject)) else {
        return Cell::NotTested;
    };
    let run = |java: &Command| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", WITH_LIBRARIES, "sh"]).args([&folder, &own]);
        command.arg(java.get_program()).args(java.get_args());
        command
    };
    let Ok(tried) = run(Command::new(&subject.java).arg("-version")).output() else { return Cell::NotTested };
    if !tried.status.success() {
        return wanted(&tried)
            .map_or(Cell::NotTested, |version| Cell::Absent(format!("the build needs {version}")));
    }
    let java = java_command(&subject.java, &options(g1(), &[]), "Waiting");
    let jvm = Running::start(&mut run(&java), "waiting");
    let is_on_it = |snapshot: &Snapshot| {
        let version = snapshot.0.allocator.as_ref().and_then(|allocator| allocator.version.as_deref());
        version == Some(release)
    };
    owned(snapshot_of(&jvm), is_on_it)
}

/// The folder of the C library that a JVM runs on: that of its loader.
fn own_libraries(subject: &Subject) -> Option<PathBuf> {
    let program = fs::read(&subject.java).ok()?;
    let named = LOADERS.iter().flat_map(|name| {
        let places = program.windows(name.len()).enumerate().filter(|(_, bytes)| *bytes == name.as_bytes());
        places.filter_map(|(at, _)| {
            let begin = program[..at].iter().rposition(|byte| !byte.is_ascii_graphic())? + 1;
            String::from_utf8(program[begin..at + name.len() - 1].to_vec()).ok()
        })
    });
    // Where `patchelf` has put another one, the former, which is shorter, is still there.
    let loader = named.max_by_key(String::len)?;
    Some(fs::canonicalize(loader).ok()?.parent()?.to_owned())
}

/// The release of glibc that a program asks for, by what its loader says of versions that are not there.
fn wanted(tried: &Output) -> Option<String> {
    let said = String::from_utf8_lossy(&tried.stderr);
    let versions = said.match_indices("GLIBC_").filter_map(|(at, mark)| {
        let (version, _) = said[at + mark.len()..].split_once('\'')?;
        let (major, minor) = version.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

/// Whether the sum is exact, and what nobody is known for; `is_so`: whether the JVM really ran as the case has it.
fn owned(snapshot: Result<Snapshot, String>, is_so: impl Fn(&Snapshot) -> bool) -> Cell {
    match snapshot {
        Ok(snapshot) if !is_so(&snapshot) => Cell::Wrong("it did not run so".to_owned()),
        Ok(snapshot) => {
            let figures = format!("{:.2} %", snapshot.unknown_percent());
            Cell::of(snapshot.off_by() == 0 && snapshot.is_known(), figures)
        }
        Err(why) => Cell::Wrong(why),
    }
}

fn with(subject: &Subject, with: &[&str], is_so: impl Fn(&Snapshot) -> bool) -> Cell {
    let options = options(g1(), with);
    if !subject.takes(&options) {
        return Cell::Absent("none".to_owned());
    }
    owned(snapshot_of(&start_java(&subject.java, &options, &[], "Waiting")), is_so)
}

/// Of what the machine has set aside: a test does not change it.
fn reserved_huge_pages(subject: &Subject) -> Cell {
    let free =
        fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").unwrap_or_default();
    if free.trim().parse::<u64>().unwrap_or(0) < HUGE_PAGES_MIN {
        return Cell::NotTested;
    }
    with(subject, &["-XX:+UseLargePages"], |snapshot| 0 < snapshot.0.outside_rss.hugetlb_bytes.unwrap_or(0))
}

/// That of JDK 8 has none as it is built, and a home of another form.
fn stripped(subject: &Subject) -> Cell {
    if subject.row.feature == 8 {
        return with(subject, &[], |_| true);
    }
    let Ok(folder) = tempfile::tempdir() else { return Cell::NotTested };
    let Some(java) = stripped_java(&subject.java, folder.path(), false) else { return Cell::NotTested };
    // A launcher that finds its libraries beside its own place is elsewhere now. Debian 12 has the C library in another folder.
    let libraries = own_libraries(subject).and_then(|folder| {
        let others = folder.parent()?.parent()?.join("usr/lib").join(folder.file_name()?);
        Some(format!("{}:{}", folder.display(), others.display()))
    });
    let environment = [("LD_LIBRARY_PATH", libraries.as_deref().unwrap_or_default())];
    let Ok(started) = Command::new(&java).arg("-version").envs(environment).output() else {
        return Cell::NotTested;
    };
    if !started.status.success() {
        let said = String::from_utf8_lossy(&started.stderr);
        return Cell::Wrong(format!("it does not start: {}", said.lines().next().unwrap_or_default()));
    }
    owned(snapshot_of(&start_java(&java, &options(g1(), &[]), &environment, "Waiting")), |_| true)
}

/// What was predicted of a trim against what came of it.
fn trim(subject: &Subject) -> Cell {
    let options = options(g1(), &[]);
    // The program that frees memory is compiled for 17. On older releases the test asks only whether they have the command.
    let is_compiled_for = 17 <= subject.row.feature;
    let jvm = if is_compiled_for {
        start_buffers(&subject.java, &options, BUFFERS)
    } else {
        start_java(&subject.java, &options, &[], "Waiting")
    };
    let trimmed: MemoryTrim = match assay(&["memory", &jvm.pid().to_string(), "--trim"]) {
        Ok(trimmed) => trimmed,
        Err(why) if why.contains("trim_native_heap") => return Cell::Absent("none".to_owned()),
        Err(why) => return Cell::Wrong(why),
    };
    if !is_compiled_for {
        return Cell::NotTested;
    }
    let Some(predicted_bytes) = trimmed.predicted_bytes else {
        return Cell::Wrong("nothing predicted".to_owned());
    };
    let actual_bytes = u64::try_from(trimmed.actual_bytes).unwrap_or(0);
    let bound_bytes = (actual_bytes / TRIM_SHARE_MAX).max(TRIM_BYTES_MAX);
    let off_by = predicted_bytes.abs_diff(actual_bytes);
    let figures = format!("{} of {} KB", predicted_bytes >> 10, actual_bytes >> 10);
    Cell::of(off_by <= bound_bytes && TRIM_BYTES_MAX < actual_bytes, figures)
}
