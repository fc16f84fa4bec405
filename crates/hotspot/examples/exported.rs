//! Prints what the JVM of a process exports for debuggers, one fact a line, so that two releases can be compared by
//! `diff`: `cargo run -p assay-hotspot --example exported -- PID`.

use assay_hotspot::Hotspot;
use assay_linux::{LiveProcess, ProcRoot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: exported PID")?.parse()?;
    let process = LiveProcess::open(&ProcRoot::default(), pid)?;
    let hotspot = Hotspot::open(&process)?.ok_or("no JVM")?;
    println!("# {:?}", hotspot.version());
    for line in hotspot.structs().listing() {
        println!("{line}");
    }
    for problem in hotspot.problems() {
        println!("# {problem:?}");
    }
    Ok(())
}
