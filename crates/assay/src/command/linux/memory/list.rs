//! `assay memory` without a PID: the JVMs that run here.

use crate::arguments::{Form, Format};
use crate::failure::Failure;
use crate::forms::{Described, print};
use assay_host::running_jvms;
use assay_linux::{Denial, ProcRoot};
use assay_model::RunningJvms;
use assay_report::{self as report, Data, Document};
use std::process::ExitCode;

/// Prints them, the biggest first.
pub fn list(form: Form) -> Result<ExitCode, Failure> {
    let (found, denial) =
        running_jvms(&ProcRoot::default()).map_err(|e| Failure::environment(e.to_string()))?;
    let not_readable = denial.map(|denial| not_readable(found.not_readable, &denial));
    if let Some(why) = not_readable.as_ref().filter(|_| form == Format::Csv) {
        // The rows have no place for it.
        say!("note: {why}");
    }
    print(&Listed { found, not_readable }, form)?;
    Ok(ExitCode::SUCCESS)
}

struct Listed {
    found: RunningJvms,
    /// How many processes could not be read, and why.
    not_readable: Option<String>,
}

impl Described for Listed {
    type Stored = RunningJvms;

    fn stored(&self) -> &RunningJvms {
        &self.found
    }
    fn document(&self) -> Document {
        report::memory::running(&self.found, self.not_readable.as_deref())
    }
    fn data(&self) -> Data {
        report::memory::running_data(&self.found)
    }
}

/// How many could not be read, and why the first of them could not.
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
    fn processes_that_could_not_be_read_are_counted_with_the_reason() {
        let denial = Denial { cause: "no CAP_SYS_PTRACE".to_owned(), fix: "add it".to_owned() };
        assert_eq!(not_readable(1, &denial), "1 process could not be read: no CAP_SYS_PTRACE; add it");
        assert!(not_readable(2, &denial).starts_with("2 processes could not be read; one of them: no CAP"));
    }
}
