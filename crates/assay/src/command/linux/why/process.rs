//! The readers of a running process, one after the other.

use super::next;
use super::ranked::ranked;
use crate::command::gc;
use crate::command::linux::{host, memory, time};
use crate::command::process::identity_of;
use crate::failure::Failure;
use assay_model::{SilentReader, WhyReader, WhyReport};
use std::time::Duration;

/// Asks each; one that cannot answer says why.
pub fn ask(pid: u32, duration: Duration) -> Result<WhyReport, Failure> {
    identity_of(pid)?;
    let mut silent = Vec::new();
    let memory = heard(memory::look(pid), WhyReader::Memory, &mut silent);
    let gc = heard(gc::of_process(pid), WhyReader::Gc, &mut silent);
    let host = heard(host::look(), WhyReader::Host, &mut silent);
    let time = heard(time::look(pid, duration), WhyReader::Time, &mut silent);
    let program = memory.as_ref().map(|of| of.main.clone().unwrap_or_else(|| of.program.clone()));
    let subject = program.map_or_else(|| format!("process {pid}"), |program| format!("{program} ({pid})"));
    let parts = WhyReport { subject, pid: Some(pid), silent, memory, gc, time, host, ..WhyReport::default() };
    let report = ranked(parts, None);
    Ok(WhyReport { next: next::of_process(&report, pid), ..report })
}

/// The first line of a failure says why, the others what would mend it.
fn heard<T>(answer: Result<T, Failure>, reader: WhyReader, silent: &mut Vec<SilentReader>) -> Option<T> {
    let failure = match answer {
        Ok(answer) => return Some(answer),
        Err(failure) => failure,
    };
    let mut lines = failure.message.lines().map(|line| line.trim().to_owned());
    let why = lines.next().unwrap_or_default();
    silent.push(SilentReader { reader, why, enable: lines.collect() });
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_becomes_why_and_what_would_mend_it() {
        let mut silent = Vec::new();
        let failed: Result<u32, _> =
            Err(Failure::input("JVM 7 writes no GC log\n  turn it on: jcmd 7 VM.log"));
        assert_eq!(heard(failed, WhyReader::Gc, &mut silent), None);
        assert_eq!(heard(Ok(3), WhyReader::Time, &mut silent), Some(3));
        let [only] = silent.as_slice() else { panic!("{silent:?}") };
        assert_eq!((only.reader, only.why.as_str()), (WhyReader::Gc, "JVM 7 writes no GC log"));
        assert_eq!(only.enable, ["turn it on: jcmd 7 VM.log"]);
    }
}
