//! Records the memory of a small process with the files that it maps, machine code left out, as a seed for the fuzz
//! target `memory_snapshot`: `cargo run -p assay-memory --example record_memory -- PID FILE`

use assay_linux::{BeforeMemory, LiveProcess, Mapping, MemorySource, ProcRoot, Recording};
use std::fs::File;
use std::io::{self, Read, Seek, Write};

const BYTES_MAX: u64 = 16 << 20;

/// A process whose files have zeros where the machine code was: a seed is to be small.
struct WithoutCode(LiveProcess);

impl BeforeMemory for WithoutCode {
    fn behind(&self) -> &dyn MemorySource {
        &self.0
    }

    fn open_before(&self, mapping: &Mapping) -> io::Result<File> {
        let mut bytes = Vec::new();
        self.0.open_mapped_file(mapping)?.take(BYTES_MAX).read_to_end(&mut bytes)?;
        let of_file = |m: &&Mapping| m.inode == mapping.inode && m.is_file() && m.is_executable();
        for code in self.mappings().iter().filter(of_file) {
            let end = code.offset_bytes.saturating_add(code.size_bytes()).min(bytes.len() as u64);
            bytes[code.offset_bytes.min(end) as usize..end as usize].fill(0);
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        file.rewind()?;
        Ok(file)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(pid), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: record_memory PID FILE".into());
    };
    let process = WithoutCode(LiveProcess::open(&ProcRoot::default(), pid.parse()?)?);
    // What was never written is read from the files.
    let recording = Recording::capture(&process, |m| m.permissions[1] == b'w', BYTES_MAX)?;
    recording.with_files(&process, |_| true, BYTES_MAX)?.write(File::create(file)?)?;
    Ok(())
}
