//! Runs `testdata/allocators/blocks.c`, a program that knows its own malloc blocks, and reads what it tells.

use assay_linux::{LiveProcess, ProcRoot};
use assay_testkit::c_program;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SOURCE: &str = "allocators/blocks.c";

/// The program, waiting for commands; killed when dropped.
pub struct Blocks {
    child: Child,
    commands: ChildStdin,
    answers: ChildStdout,
    folder: tempfile::TempDir,
}

/// What the program knows.
#[derive(Debug, Default)]
pub struct Listed {
    /// Address and usable bytes of what is in use.
    pub used: Vec<(u64, u64)>,
    /// Given back.
    pub freed: Vec<u64>,
}

/// One arena in `malloc_info`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Heap {
    /// Chunks in fast bins, and their bytes.
    pub fast: (u64, u64),
    /// Chunks in bins and the top, and their bytes, to which `malloc_info` adds the flag bit of each chunk in a bin.
    pub rest: (u64, u64),
    /// Bytes from the kernel.
    pub system: u64,
}

impl Heap {
    /// Bytes in bins and the top, without the flag bits.
    pub fn rest_bytes(&self) -> u64 {
        self.rest.1 - (self.rest.0 - 1)
    }
}

/// The program, linked with the system's C library; `None` where there is no C compiler.
pub fn program() -> Option<PathBuf> {
    c_program(SOURCE, &[])
}

/// The program, linked with another release of glibc: one of those that `scripts/fetch-glibc` unpacked. `Err` says why not.
pub fn program_on(release: &str) -> Result<PathBuf, String> {
    program().ok_or("no C compiler")?;
    let all = assay_testkit::checkout().join(".assay/glibc");
    let folder = all.join(release);
    let loader = folder.join("ld-linux-x86-64.so.2");
    if !loader.exists() {
        let why = std::fs::read_to_string(all.join("unavailable")).unwrap_or_default();
        return Err(format!(
            "no glibc {release}: {}",
            if why.is_empty() { "scripts/fetch-glibc fetches it" } else { why.trim() }
        ));
    }
    // By their files: what the program is compiled with must not ask for versions of symbols that older releases lack.
    let mut link: Vec<OsString> = vec!["-nodefaultlibs".into()];
    link.extend(["libc.so.6", "libpthread.so.0"].map(|name| folder.join(name).into_os_string()));
    link.extend([loader.clone().into_os_string(), "-lgcc".into()]);
    link.push(format!("-Wl,--as-needed,--dynamic-linker={}", loader.display()).into());
    link.push(format!("-Wl,-rpath={}", folder.display()).into());
    c_program(SOURCE, &link).ok_or_else(|| format!("the compiler cannot link with glibc {release}"))
}

/// Makes a module of tests for this system's C library and for each release that is tested. Those between the oldest and the newest are
/// long: one of them is the system's own on most machines.
macro_rules! on_each_glibc {
    ($($test:ident)*) => {
        on_each_glibc!(@of this_system (program().ok_or("no C compiler")) [] $($test)*);
        on_each_glibc!(@of glibc_2_31 (program_on("2.31")) [] $($test)*);
        on_each_glibc!(@of glibc_2_36 (program_on("2.36")) [#[ignore = "long: a release between others"]] $($test)*);
        on_each_glibc!(@of glibc_2_41 (program_on("2.41")) [#[ignore = "long: a release between others"]] $($test)*);
        on_each_glibc!(@of glibc_2_43 (program_on("2.43")) [] $($test)*);
    };
    (@of $module:ident ($program:expr) $when:tt $($test:ident)*) => {
        mod $module {
            use crate::blocks_program::*;
            $(on_each_glibc!(@one ($program) $when $test);)*
        }
    };
    (@one ($program:expr) [$($when:tt)*] $test:ident) => {
        #[test]
        $($when)*
        fn $test() {
            match $program {
                Ok(program) => super::$test(&program),
                Err(why) => assay_testkit::skip!("{why}"),
            }
        }
    };
}

pub(crate) use on_each_glibc;

impl Blocks {
    /// Starts the program, and waits until it has done its work.
    pub fn start(program: &Path, arguments: &str, environment: &[(&str, &str)]) -> Blocks {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(program);
        command.args(arguments.split_whitespace());
        command.arg(format!("list={}", folder.path().join("list").display()));
        command.arg(format!("info={}", folder.path().join("info").display()));
        command.env_remove("LD_PRELOAD").env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
        command.envs(environment.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (commands, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut blocks = Blocks { child, commands, answers, folder };
        blocks.answer(arguments);
        blocks
    }

    fn answer(&mut self, what: &str) {
        let mut answer = [0; 3];
        self.answers.read_exact(&mut answer).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(&answer, b"ok\n", "{what}");
    }

    /// Has a command carried out.
    pub fn command(&mut self, letter: char) {
        self.commands.write_all(&[letter as u8]).expect("the program listens");
        self.answer(&letter.to_string());
    }

    /// The program's own list of its blocks.
    pub fn list(&mut self) -> Listed {
        self.command('l');
        let text = std::fs::read_to_string(self.folder.path().join("list")).expect("the list");
        let mut listed = Listed::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let kind = words.next().expect("a kind");
            let address = u64::from_str_radix(words.next().expect("an address"), 16).expect("hexadecimal");
            match kind {
                "u" => listed.used.push((address, words.next().expect("bytes").parse().expect("a number"))),
                _ => listed.freed.push(address),
            }
        }
        listed
    }

    /// What glibc says of its arenas, and of mapped chunks: number and bytes.
    pub fn malloc_info(&mut self) -> (Vec<Heap>, (u64, u64)) {
        self.command('i');
        parse_malloc_info(&std::fs::read_to_string(self.folder.path().join("info")).expect("malloc_info"))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn open(&self) -> LiveProcess {
        LiveProcess::open(&ProcRoot::default(), self.pid()).expect("the program is alive")
    }

    /// The kernel's RSS.
    pub fn rss_bytes(&self) -> u64 {
        let rollup = ProcRoot::default().read_smaps_rollup(self.pid()).expect("the program is alive");
        rollup.expect("a kernel with smaps_rollup").rss_bytes
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the XML that `malloc_info` writes.
pub fn parse_malloc_info(text: &str) -> (Vec<Heap>, (u64, u64)) {
    let mut heaps = Vec::new();
    let mut mapped = (0, 0);
    let mut heap: Option<Heap> = None;
    for line in text.lines() {
        let attributes: BTreeMap<&str, &str> = line
            .split_whitespace()
            .filter_map(|word| word.trim_end_matches("/>").split_once('='))
            .map(|(key, value)| (key, value.trim_matches('"')))
            .collect();
        let number = |key: &str| attributes.get(key).and_then(|value| value.parse().ok()).unwrap_or(0);
        let kind = attributes.get("type").copied().unwrap_or_default();
        if line.starts_with("<heap ") {
            heap = Some(Heap::default());
        } else if line.starts_with("</heap>") {
            heaps.extend(heap.take());
        } else if let Some(heap) = &mut heap {
            match kind {
                "fast" => heap.fast = (number("count"), number("size")),
                "rest" => heap.rest = (number("count"), number("size")),
                "current" => heap.system = number("size"),
                _ => {}
            }
        } else if kind == "mmap" {
            mapped = (number("count"), number("size"));
        }
    }
    (heaps, mapped)
}
