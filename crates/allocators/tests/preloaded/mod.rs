//! A program under a preloaded allocator that says itself which blocks it has, and the survey held against that.

pub mod jvm;

use assay_allocators::{BlockState, Survey, survey};
use assay_linux::{AlteredMemory, LiveProcess, MemorySource, ProcRoot};
use assay_model::Allocator;
use assay_testkit::{Damage, Running, each_java, find_library, skip};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a program says of its own blocks and its allocator.
#[derive(Default)]
pub struct Told {
    /// Address and usable bytes.
    pub live: Vec<(u64, u64)>,
    pub freed: Vec<u64>,
    pub stats: HashMap<String, u64>,
}

/// Compiles `testdata/allocators/NAME.c`; `None` when there is no compiler.
pub fn compile(folder: &Path, name: &str) -> Option<PathBuf> {
    let source = assay_testkit::testdata(&format!("allocators/{name}.c"));
    let program = folder.join(name);
    let mut cc = Command::new("cc");
    let status = cc.args(["-O1", "-o"]).arg(&program).arg(source).arg("-lpthread").status().ok()?;
    assert!(status.success(), "{name}.c compiles");
    Some(program)
}

/// Starts the program and reads what it tells until it is ready.
pub fn start(
    program: &Path,
    library: &Path,
    setting: Option<(&str, &str)>,
    arguments: [&str; 4],
) -> (Running, Told) {
    let mut command = Command::new(program);
    command.args(arguments).envs(setting).env("LD_PRELOAD", library);
    let child = Running::start(&mut command, "ready");
    let mut told = Told::default();
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address");
    for line in child.said.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["live", address, bytes] => told.live.push((hex(address), bytes.parse().expect("bytes"))),
            ["freed", address] => told.freed.push(hex(address)),
            ["stat", name, value] => _ = told.stats.insert(name.to_owned(), value.parse().expect("a value")),
            ["ready"] => {}
            _ => panic!("a line of another form: {line}"),
        }
    }
    (child, told)
}

/// Starts a program with this allocator in each setting. What it says of its blocks agrees with the survey, which `look` gets with a name
/// of the start: setting and seed.
pub fn known_blocks_agree<'a>(
    (library, allocator): (&str, Allocator),
    settings: impl IntoIterator<Item = Option<(&'a str, &'a str)>>,
    look: impl Fn(Option<(&str, &str)>, &str, &Survey, &Told),
) {
    let Some(library) = find_library(library) else { skip!("no {library}") };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compile(folder.path(), "known_blocks") else { skip!("no C compiler") };
    for (setting, seed) in settings.into_iter().zip(1..) {
        let (child, told) = start(&program, &library, setting, [&format!("{seed}"), "5", "4000", "0"]);
        let (_, survey) = survey_of(child.pid());
        assert_eq!(survey.allocator, Some(allocator));
        assert!(survey.version.is_some());
        assert_well_formed(&survey);
        assert_tells_them_apart(&survey, &told);
        look(setting, &format!("seed {seed}, {setting:?}"), &survey, &told);
    }
}

/// Surveys a process as it is now.
pub fn survey_of(pid: u32) -> (LiveProcess, Survey) {
    let process = LiveProcess::open(&ProcRoot::default(), pid).expect("a process of our own");
    let survey = survey(&process, &[]);
    (process, survey)
}

/// Blocks and ranges are sorted, without overlap, and blocks lie in ranges.
pub fn assert_well_formed(survey: &Survey) {
    for pair in survey.ranges.windows(2) {
        assert!(pair[0].addresses.end <= pair[1].addresses.start, "ranges overlap: {pair:x?}");
    }
    for (block, next) in survey.blocks.iter().zip(survey.blocks.iter().skip(1)) {
        assert!(block.addresses().end <= next.address, "blocks overlap: {block:x?} {next:x?}");
    }
    let mut range = 0;
    for block in &survey.blocks {
        while survey.ranges.get(range).is_some_and(|range| range.addresses.end <= block.address) {
            range += 1;
        }
        let inside = survey.ranges.get(range).is_some_and(|range| {
            range.addresses.start <= block.address && block.addresses().end <= range.addresses.end
        });
        assert!(inside, "{block:x?} is in no range");
    }
}

/// Every live block is a used one of the usable size; no freed one is in a used one.
pub fn assert_tells_them_apart(survey: &Survey, told: &Told) {
    let finder = survey.blocks.finder();
    let state_of = |address: u64| finder.find(address).map(|(_, block)| block);
    for (address, bytes) in &told.live {
        let block = state_of(*address).unwrap_or_else(|| panic!("{address:x}, live, is in no block"));
        assert_eq!(
            (block.address, block.bytes, block.state),
            (*address, *bytes, BlockState::Used),
            "{address:x} of {bytes} bytes is live"
        );
    }
    for address in &told.freed {
        let block = state_of(*address);
        // Another live block may lie there by now.
        if block.is_some_and(|block| block.state == BlockState::Used) {
            let again = told.live.iter().any(|(live, bytes)| (*live..live + bytes).contains(address));
            assert!(again, "{address:x} was freed, and is used: {block:x?}");
        }
    }
}

/// Σ of the bytes of blocks in a state.
pub fn bytes_in(survey: &Survey, state: BlockState) -> u64 {
    survey.blocks.iter().filter(|block| block.state == state).map(|block| block.bytes).sum()
}

/// Surveys a program of this library's whose memory is corrupt: 30 times with other words flipped, from one in 30 to
/// one in 100,000. Whatever it says must be well-formed, and cost no more reading than a few walks through its memory.
pub fn corrupt_memory_gives_problems(library: &str) {
    let Some(library) = find_library(library) else { skip!("no {library}") };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compile(folder.path(), "known_blocks") else { skip!("no C compiler") };
    let (child, _) = start(&program, &library, None, ["9", "3", "3000", "0"]);
    let process = LiveProcess::open(&ProcRoot::default(), child.pid()).expect("a process of our own");
    let whole = survey(&process, &[]);
    assert_eq!(whole.problems, []);
    let resident_bytes: u64 = process
        .mappings()
        .iter()
        .map(|mapping| process.pages().resident_bytes_in(mapping.addresses.clone()))
        .sum();
    let (mut with_blocks, mut said) = (0, 0);
    for seed in 0..30 {
        let one_in = [30, 300, 3000, 10_000, 100_000][seed as usize % 5];
        let damage = Damage::new(seed, one_in);
        let read_bytes = AtomicU64::new(0);
        let source = AlteredMemory::new(&process, |address, buffer| {
            read_bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            damage.apply(address, buffer, |at| process.u64(at).map(u64::to_le_bytes));
        });
        let survey = survey(&source, &[]);
        let walks = read_bytes.into_inner() as f64 / resident_bytes as f64;
        println!("seed {seed}, one word in {one_in}: reads {walks:.1} times what is resident");
        assert_well_formed(&survey);
        // A flipped word may be one that nobody reads: only where many are wrong must every survey say so.
        let is_said = !survey.problems.is_empty();
        assert!(is_said || 30 < one_in, "seed {seed}: one word in {one_in} is wrong, and nothing is said");
        said += u32::from(is_said && one_in <= 3000);
        assert!(walks < 10.0, "seed {seed}, one in {one_in}: {walks} times what is resident was read");
        with_blocks += u32::from(!survey.blocks.is_empty());
    }
    assert!(12 <= said, "one word in 30 to 3,000 was wrong 18 times, and {said} surveys said so");
    assert!(5 < with_blocks, "only {with_blocks} of 30 found blocks: the corruption hid everything");
}

/// Surveys a program that allocates and frees on two threads meanwhile. What it held before, and holds still, is used;
/// where a torn list says otherwise, the survey has a problem, and it is one block in a thousand at most.
pub fn what_is_held_stays_used(library: &str) {
    let Some(library) = find_library(library) else { skip!("no {library}") };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compile(folder.path(), "known_blocks") else { skip!("no C compiler") };
    let (child, told) = start(&program, &library, None, ["4", "4", "4000", "2"]);
    let (mut wrong, mut surveys_with_problems) = (0, 0);
    const SURVEYS: usize = 20;
    for _ in 0..SURVEYS {
        let (_, survey) = survey_of(child.pid());
        assert_well_formed(&survey);
        let finder = survey.blocks.finder();
        let is_used = |(address, bytes): &&(u64, u64)| {
            let wanted = (*address, *bytes, BlockState::Used);
            let found = finder.find(*address);
            found.map(|(_, block)| (block.address, block.bytes, block.state)) == Some(wanted)
        };
        let not_used = told.live.iter().filter(|block| !is_used(block)).count();
        assert!(not_used == 0 || !survey.problems.is_empty(), "{not_used} live blocks are not used");
        wrong += not_used;
        surveys_with_problems += usize::from(!survey.problems.is_empty());
    }
    let of = SURVEYS * told.live.len();
    println!("{wrong} of {of} live blocks wrong, {surveys_with_problems} of {SURVEYS} surveys with problems");
    assert!(wrong * 1000 <= of, "{wrong} of {of} live blocks are not used");
}

/// Surveys JVMs under this library: whatever they tagged is at the start of a used block.
pub fn tagged_blocks_are_used(library: &str) {
    let Some(library) = find_library(library) else { skip!("no {library}") };
    if each_java(64).is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in each_java(64) {
        let folder = tempfile::tempdir().expect("a folder");
        let jvm = jvm::start_and_stop(&java, &library, folder.path());
        let started = std::time::Instant::now();
        let (process, survey) = survey_of(jvm.pid());
        let seconds = started.elapsed().as_secs_f64();
        assert_eq!(survey.problems, []);
        assert_well_formed(&survey);
        let tagged = jvm::tagged_blocks(&process);
        jvm::assert_tagged_are_used(&survey, &tagged);
        assert!(5000 < tagged.len(), "{} tagged blocks", tagged.len());
        let blocks = survey.blocks.len();
        println!("JDK {feature}: {} tagged blocks, {blocks} blocks, {seconds:.2} s", tagged.len());
        survey.arenas.iter().for_each(|arena| println!("arena at {:#x}: {:?}", arena.address, arena.facts));
    }
}
