//! `assay memory` without a PID: the JVMs that run here.

use crate::failure::Failure;
use crate::output;
use assay_host::running_jvms;
use assay_linux::{Denial, ProcRoot};
use std::process::ExitCode;

/// Prints them, the biggest first.
pub fn list(json: bool) -> Result<ExitCode, Failure> {
    let (found, denial) =
        running_jvms(&ProcRoot::default()).map_err(|e| Failure::environment(e.to_string()))?;
    if json {
        output::print_json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(|out| {
        if found.jvms.is_empty() {
            writeln!(out, "no JVM runs here that can be seen")?;
        } else {
            writeln!(out, "{:>8}{:>15}  {:<28}program", "pid", "RSS", "JVM")?;
        }
        for jvm in &found.jvms {
            let rss = jvm.rss_bytes.map_or("-".to_owned(), |b| format!("{:.1} MiB", b as f64 / 1_048_576.0));
            let version = jvm.version.as_deref().unwrap_or("-");
            writeln!(out, "{:>8}{rss:>15}  {version:<28}{}", jvm.pid, jvm.program)?;
        }
        denial.map_or(Ok(()), |denial| writeln!(out, "{}", not_readable(found.not_readable, &denial)))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// How many could not be looked at, and why the first of them could not.
fn not_readable(processes: usize, denial: &Denial) -> String {
    match processes {
        1 => format!("1 process could not be looked at: {denial}"),
        more => format!("{more} processes could not be looked at; one of them: {denial}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_could_not_be_looked_at_is_counted_with_the_reason() {
        let denial = Denial { cause: "no CAP_SYS_PTRACE".to_owned(), fix: "add it".to_owned() };
        assert_eq!(not_readable(1, &denial), "1 process could not be looked at: no CAP_SYS_PTRACE; add it");
        assert!(
            not_readable(2, &denial).starts_with("2 processes could not be looked at; one of them: no CAP")
        );
    }
}
