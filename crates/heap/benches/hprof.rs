//! How many bytes of a dump are read in a second, beside a walk over the records with one thread and one byte at a time.
//!
//! `ASSAY_HPROF_DUMP=/path/of/a.hprof cargo bench -p assay-heap --bench hprof` also reads that dump, with it in the
//! cache, and runs `hprof-slurp` on it in turns, if that is on the PATH.
//! What JOL makes of a heap beside what Assay does: `scripts/heap-peers`.

#[expect(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/hprof_writer/mod.rs"]
mod hprof_writer;

use assay_heap::hprof;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hprof_writer::small;
use std::hint::black_box;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The small program's objects again and again: 64 MB, some 40 bytes each.
fn large_dump() -> Vec<u8> {
    let mut dump = small::names("1.0.2", 8);
    let (classes, objects) = (small::classes(&dump), small::objects(&dump, 8));
    dump.record(0x1c, &classes.bytes);
    while dump.bytes.len() < 64 << 20 {
        dump.record(0x1c, &objects.bytes.repeat(100));
    }
    dump.record(0x2c, &[]);
    dump.bytes
}

/// The peer: counts sub-records by tag, reading each byte as it comes.
struct ByteByByte<R> {
    bytes: std::io::Bytes<R>,
    counts: [u64; 256],
}

impl<R: Read> ByteByByte<R> {
    fn number(&mut self, bytes: u64) -> Option<u64> {
        let mut number = 0;
        for _ in 0..bytes {
            number = number << 8 | u64::from(self.bytes.next()?.ok()?);
        }
        Some(number)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        (0..bytes).try_for_each(|_| self.bytes.next().map(|_| ()))
    }

    fn records(&mut self) -> Option<()> {
        self.pass(31)?;
        loop {
            let tag = self.number(1)?;
            self.pass(4)?;
            let length = self.number(4)?;
            match tag {
                0x1c => self.sub_records(length)?,
                _ => self.pass(length)?,
            }
        }
    }

    fn sub_records(&mut self, mut left: u64) -> Option<()> {
        while left > 0 {
            let tag = self.number(1)?;
            self.counts[tag as usize] += 1;
            let bytes = match tag {
                0x20 => {
                    // Up to the statics: with one constant, as the writer makes them.
                    self.pass(73)?;
                    73 + self.values(true)? + self.values(false)?
                }
                0x21 => {
                    self.pass(20)?;
                    let body = self.number(4)?;
                    self.pass(body)?;
                    24 + body
                }
                0x22 => {
                    self.pass(12)?;
                    let length = self.number(4)?;
                    self.pass(8 + 8 * length)?;
                    24 + 8 * length
                }
                0x23 => {
                    self.pass(12)?;
                    let length = self.number(4)?;
                    let element = size_of(self.number(1)?);
                    self.pass(element * length)?;
                    17 + element * length
                }
                0x01 => self.pass(16).map(|()| 16)?,
                _ => self.pass(8).map(|()| 8)?,
            };
            left -= 1 + bytes;
        }
        Some(())
    }

    /// Statics, which have values, or fields; how many bytes.
    fn values(&mut self, have_values: bool) -> Option<u64> {
        let count = self.number(2)?;
        let mut bytes = 2;
        for _ in 0..count {
            self.pass(8)?;
            let kind = self.number(1)?;
            let value = if have_values { size_of(kind) } else { 0 };
            self.pass(value)?;
            bytes += 9 + value;
        }
        Some(bytes)
    }
}

fn size_of(kind: u64) -> u64 {
    [8, 8, 8, 8, 1, 2, 4, 8, 1, 2, 4, 8][kind as usize % 12]
}

fn nodes_byte_by_byte(source: impl Read) -> u64 {
    let mut walk = ByteByByte { bytes: BufReader::with_capacity(1 << 16, source).bytes(), counts: [0; 256] };
    walk.records();
    walk.counts[0x22]
}

fn nodes(dump: &[u8]) -> u64 {
    let histogram = hprof::read(dump, "bench", &|_| {}).expect("a dump");
    let class = histogram.classes.iter().find(|class| &*class.name == "demo.Node[]").expect("its arrays");
    class.instances
}

fn read(criterion: &mut Criterion) {
    let dump = large_dump();
    assert_eq!(nodes(&dump), nodes_byte_by_byte(dump.as_slice()), "both read all of it");
    let mut group = criterion.benchmark_group("hprof");
    group.throughput(Throughput::Bytes(dump.len() as u64)).sample_size(10);
    group.bench_function("read", |bencher| bencher.iter(|| nodes(black_box(&dump))));
    group.bench_function("byte by byte", |bencher| {
        bencher.iter(|| nodes_byte_by_byte(black_box(dump.as_slice())));
    });
    group.finish();
    let (ours, peer) = in_turns(|| _ = nodes(&dump), || _ = nodes_byte_by_byte(dump.as_slice()));
    tell("a walk byte by byte", dump.len() as u64, &ours, &peer);
}

fn read_file(_: &mut Criterion) {
    let Some(path) = std::env::var_os("ASSAY_HPROF_DUMP") else { return };
    let path = Path::new(&path);
    let bytes = std::fs::metadata(path).expect("the dump").len();
    let ours = || _ = hprof::read_file(path, &|_| {}).expect("a dump");
    let slurp = || {
        let quiet =
            Command::new("hprof-slurp").arg(path).stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    };
    // Into the cache.
    ours();
    if !slurp() {
        println!("hprof-slurp cannot be run: no comparison with {}", path.display());
        return;
    }
    let (ours, peer) = in_turns(ours, || _ = slurp());
    tell("hprof-slurp", bytes, &ours, &peer);
}

/// Times of both, in turns so that a disturbance hits both.
fn in_turns(mut ours: impl FnMut(), mut peer: impl FnMut()) -> (Vec<Duration>, Vec<Duration>) {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..7).map(|_| (time(&mut ours), time(&mut peer))).unzip()
}

fn tell(peer_name: &str, bytes: u64, ours: &[Duration], peer: &[Duration]) {
    let mut ratios: Vec<f64> =
        ours.iter().zip(peer).map(|(a, b)| b.as_secs_f64() / a.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let mut speeds: Vec<f64> = ours.iter().map(|time| bytes as f64 / time.as_secs_f64() / 1e9).collect();
    speeds.sort_by(f64::total_cmp);
    println!(
        "{bytes} bytes: {:.2} GB/s ({:.2} to {:.2}), {:.2} times as fast as {peer_name} ({:.2} to {:.2}; 7 turns, medians)",
        speeds[3], speeds[0], speeds[6], ratios[3], ratios[0], ratios[6]
    );
}

criterion_group!(benches, read, read_file);
criterion_main!(benches);
