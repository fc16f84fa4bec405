//! Limits: how much room is left.

use crate::check::view::{Judged, Judgement, View};

const LIMITS: &str = "/proc/{pid}/limits";
const STATUS: &str = "/proc/{pid}/status";

/// Bad where more than 80 % is taken.
fn room(taken: u64, most: u64, what: &str) -> Judged {
    Judged::bad_if(most / 5 * 4 < taken, most, format!("{taken} {what}; good: below 80 %"))
}

/// The soft limit of a line of `/proc/PID/limits`; `None` where it is unlimited.
fn soft_limit(view: &View<'_>, name: &str) -> Result<Option<u64>, Judged> {
    let line = view.text(LIMITS)?.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|line| line.split_whitespace().next());
    match word {
        Some("unlimited") => Ok(None),
        word => {
            let number = word.and_then(|word| word.parse().ok());
            number.map(Some).ok_or_else(|| Judged::unknown(format!("{LIMITS} has no {name}")))
        }
    }
}

pub(super) fn mappings(view: &View<'_>) -> Judgement {
    let most = view.number("/proc/sys/vm/max_map_count")?;
    let mappings = view.jvm()?.mappings.ok_or_else(|| Judged::unknown("its mappings could not be read"))?;
    Ok(room(mappings, most, "mappings"))
}

pub(super) fn open_files(view: &View<'_>) -> Judgement {
    let Some(most) = soft_limit(view, "Max open files")? else {
        return Ok(Judged::good("unlimited", "the soft limit"));
    };
    let open =
        view.jvm()?.open_files.ok_or_else(|| Judged::unknown("its open files could not be counted"))?;
    Ok(room(open, most, "files are open"))
}

pub(super) fn open_files_of_machine(view: &View<'_>) -> Judgement {
    let text = view.text("/proc/sys/fs/file-nr")?;
    let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [open, _, most] = numbers[..] else {
        return Err(Judged::unknown(format!("{:?} is not three numbers", text.trim())));
    };
    Ok(room(open, most, "files are open"))
}

pub(super) fn threads_of_machine(view: &View<'_>) -> Judgement {
    let most = view.number("/proc/sys/kernel/threads-max")?.min(view.number("/proc/sys/kernel/pid_max")?);
    // Behind the slash of the fourth word: tasks that exist.
    let tasks = view.text("/proc/loadavg")?.split_whitespace().nth(3).and_then(|word| word.split_once('/'));
    let tasks = tasks.and_then(|(_, all)| all.parse().ok());
    Ok(room(tasks.ok_or_else(|| Judged::unknown("/proc/loadavg has another form"))?, most, "threads"))
}

pub(super) fn threads_of_group(view: &View<'_>) -> Judgement {
    let group = view.group()?;
    match (group.threads, group.threads_max) {
        (Some(threads), Some(most)) => Ok(room(threads, most, "threads")),
        _ => Err(Judged::not_applicable("its control group has no limit of threads")),
    }
}

pub(super) fn processes_of_user(view: &View<'_>) -> Judgement {
    let Some(most) = soft_limit(view, "Max processes")? else {
        return Ok(Judged::good("unlimited", "the soft limit"));
    };
    let threads = view.keyed_or_unknown(STATUS, "Threads")?;
    Ok(room(threads, most, "threads in this JVM alone"))
}
