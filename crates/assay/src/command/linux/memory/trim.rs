//! `assay memory PID --trim`: freed memory given back, with the prediction and the result.

use super::consent::{consent, not_ours};
use crate::arguments::SnapshotArguments;
use crate::command::process::identity_of;
use crate::failure::Failure;
use crate::output;
use assay_memory::Trimmed;
use assay_model::{MemoryTrim, TrimCall, schema};
use std::process::ExitCode;

const MIB: f64 = 1_048_576.0;

/// Asks the JVM to trim, or calls the allocator's function, and prints the gain.
pub fn trim(pid: u32, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    let json = arguments.format.is_json("--trim")?;
    identity_of(pid)?;
    let mut reasons: Vec<String> = not_ours(pid)?.into_iter().collect();
    if arguments.in_thread {
        reasons.push("a function of its allocator is called in its main thread".to_owned());
    }
    consent(pid, "trim", &reasons, arguments.yes)?;
    let trimmed =
        if arguments.in_thread { assay_memory::trim_in_thread(pid)? } else { assay_memory::trim(pid)? };
    let trim = stored(pid, &trimmed);
    if json {
        output::print_json(&trim)?;
    } else {
        output::print(|out| lines(&trim).iter().try_for_each(|line| writeln!(out, "{line}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks the JVM to trim, and says what that brought, or why it did not trim.
pub fn said(pid: u32) -> Vec<String> {
    match assay_memory::trim(pid) {
        Ok(trimmed) => lines(&stored(pid, &trimmed)),
        Err(e) => e.to_string().lines().map(str::to_owned).collect(),
    }
}

fn stored(pid: u32, trimmed: &Trimmed) -> MemoryTrim {
    MemoryTrim {
        schema: schema::MEMORY_TRIM.to_owned(),
        pid,
        rss_bytes_before: trimmed.before.rss_bytes,
        rss_bytes_after: trimmed.after.rss_bytes,
        predicted_bytes: trimmed.predicted_bytes,
        not_predicted: trimmed.not_predicted.clone(),
        actual_bytes: trimmed.actual_bytes,
        answer: one_line(&trimmed.answer),
        call: trimmed.call.clone(),
    }
}

fn lines(trim: &MemoryTrim) -> Vec<String> {
    let mib = |bytes: f64| format!("{:.2} MiB", bytes / MIB);
    let predicted = trim.predicted_bytes.map(|bytes| bytes as f64);
    let actual = trim.actual_bytes as f64;
    let (before, after) = (mib(trim.rss_bytes_before as f64), mib(trim.rss_bytes_after as f64));
    let why = trim.not_predicted.as_deref().unwrap_or_default();
    let shown = predicted.map_or_else(|| format!("not available: {why}"), mib);
    let difference = predicted.map(|predicted| format!("difference      {}", mib(actual - predicted)));
    let gains = [format!("RSS {before} → {after}"), format!("predicted gain  {shown}")];
    let answer = trim.call.as_ref().map_or_else(|| format!("the JVM's answer: {}", trim.answer), called);
    gains
        .into_iter()
        .chain([format!("actual gain     {}", mib(actual))])
        .chain(difference)
        .chain([answer])
        .collect()
}

fn called(call: &TrimCall) -> String {
    let ms = |ns: u64| format!("{:.1} ms", ns as f64 / 1e6);
    let took =
        call.took_ns.map_or("has not returned yet".to_owned(), |ns| format!("returned after {}", ms(ns)));
    format!(
        "{} in thread {}: {took}, the thread was stopped for {}",
        call.function,
        call.thread,
        ms(call.stopped_ns)
    )
}

/// The answer is text of another process: no control characters, and not too long.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn an_answer_is_one_line_that_commands_no_terminal() {
        assert_eq!(one_line("Trim native heap:\n RSS\u{1b}[2J 5"), "Trim native heap: RSS\u{FFFD}[2J 5");
    }
}
