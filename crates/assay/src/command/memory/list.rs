//! `assay memory` without a PID: the JVMs that run here.

use crate::arguments::Format;
use crate::failure::Failure;
use crate::forms::{Forms, print};
use assay_host::running_jvms;
use assay_linux::{Denial, ProcRoot};
use assay_model::RunningJvms;
use assay_report::TerminalView;
use assay_text::wrap::message;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints them, the biggest first.
pub fn list(format: Format) -> Result<ExitCode, Failure> {
    let (found, denial) =
        running_jvms(&ProcRoot::default()).map_err(|e| Failure::environment(e.to_string()))?;
    let said = denial.map(|denial| not_readable(found.not_readable, &denial));
    if let Some(said) = said.as_ref().filter(|_| format == Format::Csv) {
        // The rows have no place for it.
        say!("note: {said}");
    }
    print(&Listed { found, said }, format)?;
    Ok(ExitCode::SUCCESS)
}

struct Listed {
    found: RunningJvms,
    said: Option<String>,
}

impl Forms for Listed {
    type Stored = RunningJvms;

    fn stored(&self) -> &RunningJvms {
        &self.found
    }
    fn table(&self, view: TerminalView) -> String {
        table(&self.found, self.said.as_deref(), view.width.into())
    }
    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        assay_report::render_running_csv(&self.found, out)
    }
    fn markdown(&self) -> String {
        assay_report::render_running_markdown(&self.found, self.said.as_deref())
    }
}

fn table(found: &RunningJvms, said: Option<&str>, width: usize) -> String {
    let mut lines = Vec::new();
    if found.jvms.is_empty() {
        lines.push("no JVM runs here that can be seen".to_owned());
    } else {
        lines.push(format!("{:>8}{:>15}  {:<28}program", "pid", "RSS", "JVM"));
    }
    lines.extend(found.jvms.iter().map(|jvm| {
        let rss = jvm.rss_bytes.map_or("-".to_owned(), |b| format!("{:.1} MiB", b as f64 / 1_048_576.0));
        let version = jvm.version.as_deref().unwrap_or("-");
        format!("{:>8}{rss:>15}  {version:<28}{}", jvm.pid, jvm.program)
    }));
    lines.extend(said.map(|said| message(said, width)));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// How many could not be looked at, and why the first of them could not.
fn not_readable(processes: usize, denial: &Denial) -> String {
    match processes {
        1 => format!("1 process could not be read: {denial}"),
        more => format!("{more} processes could not be read; one of them: {denial}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_could_not_be_looked_at_is_counted_with_the_reason() {
        let denial = Denial { cause: "no CAP_SYS_PTRACE".to_owned(), fix: "add it".to_owned() };
        assert_eq!(not_readable(1, &denial), "1 process could not be read: no CAP_SYS_PTRACE; add it");
        assert!(not_readable(2, &denial).starts_with("2 processes could not be read; one of them: no CAP"));
    }
}
