//! What it costs to look at a process: its pages, its threads, its bytes; each beside the older way to the same.
//!
//! `cargo bench -p assay-linux`. Figures are CPU time of the reading thread, so that a busy machine does not blur them;
//! those of a freeze are time on the clock, since it mostly waits. The process that is looked at is this program, started again; it stands still.
#![expect(unsafe_code, reason = "the program maps memory of which only parts are touched")]

use assay_linux::{Freeze, LiveProcess, MemorySource, ProcRoot};
use criterion::{Bencher, BenchmarkId, Criterion, Throughput};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const KIND: &str = "ASSAY_LINUX_BENCH_TARGET";
const MIB: usize = 1 << 20;
/// Resident without a gap.
const SOLID_BYTES: usize = 256 * MIB;
/// Every other page of it is resident.
const ALTERNATING_BYTES: usize = 1024 * MIB;

struct Target {
    child: Child,
    address: u64,
}

impl Target {
    fn start(kind: &str) -> Target {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .env(KIND, kind)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
        Target { child, address: line.trim().parse().expect("an address") }
    }

    fn open(&self) -> LiveProcess {
        LiveProcess::open(&ProcRoot::default(), self.child.id()).expect("our child")
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn be_target(kind: &str) {
    let map = |bytes: usize, step: usize| {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory at an address that the kernel chooses.
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, MapFlags::PRIVATE) };
        let at = at.expect("memory");
        // SAFETY: advice for this memory. With huge pages, no page would be left out.
        let _ = unsafe { madvise(at, bytes, Advice::LinuxNoHugepage) };
        for offset in (0..bytes).step_by(step) {
            // SAFETY: inside of this memory, to which nothing else refers.
            unsafe { at.cast::<u8>().add(offset).write(1) };
        }
        at as usize
    };
    let address = match kind {
        "solid" => map(SOLID_BYTES, 4096),
        "alternating" => map(ALTERNATING_BYTES, 8192),
        threads => {
            for _ in 0..threads.parse().expect("a number") {
                let thread = std::thread::Builder::new().stack_size(32 << 10);
                thread.spawn(std::thread::park).expect("a thread");
            }
            0
        }
    };
    println!("{address}");
    let _ = std::io::stdin().read(&mut [0]);
}

/// Measures CPU time of this thread.
fn cpu(bencher: &mut Bencher<'_>, mut work: impl FnMut()) {
    bencher.iter_custom(|times| {
        let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("a time");
        let began = now();
        (0..times).for_each(|_| work());
        now().saturating_sub(began)
    });
}

/// Everything that happens when a process is opened, beside reading all 8-byte entries of the same addresses.
fn pages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pages");
    for (kind, bytes) in [("solid", SOLID_BYTES), ("alternating", ALTERNATING_BYTES)] {
        let target = Target::start(kind);
        group.throughput(Throughput::Bytes(bytes as u64)).sample_size(20);
        group.bench_function(BenchmarkId::new("open", kind), |b| cpu(b, || drop(target.open())));
        group.bench_function(BenchmarkId::new("smaps alone", kind), |b| {
            cpu(b, || {
                assert_ne!(ProcRoot::default().open_smaps(target.child.id()).expect("our child").count(), 0);
            });
        });
        let file = File::open(format!("/proc/{}/pagemap", target.child.id())).expect("our child");
        let mut entries = vec![0; 64 << 10];
        group.bench_function(BenchmarkId::new("entries alone", kind), |b| {
            cpu(b, || {
                for offset in (0..bytes as u64 / 512).step_by(entries.len()) {
                    file.read_exact_at(&mut entries, target.address / 512 + offset).expect("our child");
                }
            });
        });
    }
    group.finish();
}

/// 256 MiB by the source, which uses `process_vm_readv` for large reads, beside `/proc/PID/mem`.
fn bytes(criterion: &mut Criterion) {
    let target = Target::start("solid");
    let live = target.open();
    let file = File::open(format!("/proc/{}/mem", target.child.id())).expect("our child");
    let mut group = criterion.benchmark_group("bytes");
    for step in [MIB, 64 << 10, 4096] {
        let mut buffer = vec![0; step];
        let addresses = || (target.address..target.address + SOLID_BYTES as u64).step_by(step);
        group.throughput(Throughput::Bytes(SOLID_BYTES as u64)).sample_size(10);
        group.bench_function(BenchmarkId::new("source", step), |b| {
            cpu(b, || addresses().for_each(|at| live.read(at, &mut buffer).expect("resident")));
        });
        group.bench_function(BenchmarkId::new("mem", step), |b| {
            cpu(b, || addresses().for_each(|at| file.read_exact_at(&mut buffer, at).expect("our child")));
        });
    }
    let mut word = [0; 8];
    group.throughput(Throughput::Elements(1));
    group.bench_function("word by source", |b| {
        cpu(b, || assert_eq!(live.u64(target.address + 4096), Some(1)));
    });
    group.bench_function("word by mem", |b| {
        cpu(b, || file.read_exact_at(&mut word, target.address + 4096).expect("our child"));
    });
    group.finish();
}

fn threads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("threads");
    for number in [1000, 10_000] {
        let target = Target::start(&number.to_string());
        group.throughput(Throughput::Elements(number)).sample_size(10);
        group.bench_function(BenchmarkId::new("open", number), |b| cpu(b, || drop(target.open())));
        // Each thread's stack and its guard are two mappings.
        group.bench_function(BenchmarkId::new("smaps alone", number), |b| {
            cpu(b, || {
                assert_ne!(ProcRoot::default().open_smaps(target.child.id()).expect("our child").count(), 0);
            });
        });
        let (proc, pid) = (ProcRoot::default(), target.child.id());
        let counters =
            |before: &HashMap<_, _>| proc.read_thread_counters(pid, before).expect("our child").threads;
        group.bench_function(BenchmarkId::new("counters", number), |b| {
            cpu(b, || assert_ne!(counters(&HashMap::new()).len(), 0));
        });
        let before = counters(&HashMap::new());
        group.bench_function(BenchmarkId::new("counters again", number), |b| {
            cpu(b, || assert_eq!(counters(&before).len(), before.len()));
        });
        group.bench_function(BenchmarkId::new("freeze", number), |b| {
            b.iter(|| {
                let limit = Duration::from_secs(10);
                Freeze::start(&ProcRoot::default(), target.child.id(), limit).expect("our child").end()
            });
        });
    }
    group.finish();
}

fn main() {
    if let Ok(kind) = std::env::var(KIND) {
        return be_target(&kind);
    }
    let mut criterion = Criterion::default().configure_from_args();
    pages(&mut criterion);
    bytes(&mut criterion);
    threads(&mut criterion);
    criterion.final_summary();
}
