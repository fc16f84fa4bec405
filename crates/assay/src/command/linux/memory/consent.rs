//! Acting on a process whose users are not asked: only with `--yes`, or after a question on a terminal.

use crate::failure::Failure;
use assay_linux::ProcRoot;
use std::io::{self, BufRead, IsTerminal, Write};

/// Whether the option was given, or a person agrees.
///
/// `action` is an infinitive without `to`; each of `reasons` a clause that says why it is asked.
pub fn consent(pid: u32, action: &str, reasons: &[String], is_given: bool) -> Result<(), Failure> {
    if is_given || reasons.is_empty() {
        return Ok(());
    }
    let reasons = reasons.join("; ");
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::input(format!(
            "assay does not {action} process {pid} without --yes: {reasons}\n  if that is what you want, add --yes"
        )));
    }
    let mut terminal = io::stderr().lock();
    let asked =
        write!(terminal, "{reasons}. Really {action} process {pid}? [y/N] ").and_then(|()| terminal.flush());
    asked?;
    drop(terminal);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::input(format!("process {pid} is left as it is"))),
    }
}

/// Why a process is somebody else's, as a clause; none where it is one's own, and where it cannot be acted on anyway: then the missing
/// right is the message.
pub fn not_ours(pid: u32) -> Result<Option<String>, Failure> {
    if fs_err::File::open(format!("/proc/{pid}/mem")).is_err() {
        return Ok(None);
    }
    let owner = ProcRoot::default().read_other_owner(pid)?;
    Ok(owner.map(|owner| format!("it belongs to another user (UID {owner})")))
}
