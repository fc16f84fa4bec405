//! CPU time of process trees, with that of processes that ended.

use assay_linux::{ProcRoot, ProcessStat, ProcessTree, process_cpu_ns, ticks_per_s};

const NS_PER_S: u64 = 1_000_000_000;

/// CPU time of the processes of a tree, each counted once, and of those of it that ended and were waited for: their parent's count has
/// what they used. The time of a process whose end nobody waits for is lost from that end on. Of the processes in `but` only what they
/// started counts: their own time is counted elsewhere.
pub(crate) fn tree_cpu_ns(proc: &ProcRoot, tree: &mut ProcessTree, but: &[u32]) -> u64 {
    members_cpu_ns(&tree.read(proc).unwrap_or_default(), but)
}

/// The same of a tree that was just read.
pub(crate) fn members_cpu_ns(members: &[ProcessStat], but: &[u32]) -> u64 {
    let tick_ns = NS_PER_S / ticks_per_s().max(1);
    members.iter().fold(0, |sum: u64, process| {
        let of_ended_ns = process.children_ticks.saturating_mul(tick_ns);
        // One that ended since then was waited for by none when its parent was read.
        let by_ticks_ns = || process.user_ticks.saturating_add(process.system_ticks).saturating_mul(tick_ns);
        let is_counted = !but.contains(&process.pid);
        let own_ns =
            if is_counted { process_cpu_ns(process.pid).unwrap_or_else(|_| by_ticks_ns()) } else { 0 };
        sum.saturating_add(own_ns).saturating_add(of_ended_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_linux::ProcessIdentity;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// Two shells wait, one started by the other, while what the second has started works. When it has ended, and the second shell
    /// too, what it used is counted for the first.
    #[test]
    fn what_the_child_of_a_companion_s_child_uses_is_its_own_once_and_stays_when_both_have_ended() {
        let inner = "while :; do :; done & read line; kill $!; wait";
        let mut shell = Command::new("sh")
            .args(["-c", &format!("sh -c '{inner}'; read line")])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let (proc, pid) = (ProcRoot::default(), shell.id());
        let mut tree = ProcessTree::of(proc.identity_of(pid));
        let begun = std::time::Instant::now();
        let mut used_ns = 0;
        while used_ns < 100_000_000 && begun.elapsed().as_secs() < 120 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            used_ns = tree_cpu_ns(&proc, &mut tree, &[]);
        }
        let members = tree.read(&proc).expect("readable");
        assert_eq!(members.len(), 3, "{members:?}");
        let of_shell_ns = process_cpu_ns(pid).expect("it runs");
        // As if each had been named.
        let all = members.iter().map(|p| ProcessIdentity { pid: p.pid, start_ticks: p.start_ticks });
        let (before_ns, of_all_ns) =
            (tree_cpu_ns(&proc, &mut tree, &[]), tree_cpu_ns(&proc, &mut ProcessTree::of(all), &[]));
        let after_ns = tree_cpu_ns(&proc, &mut tree, &[]);
        let mut stdin = shell.stdin.take().expect("a pipe");
        stdin.write_all(b"end\n").expect("it reads");
        while tree.read(&proc).expect("readable").len() > 1 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let ended_ns = tree_cpu_ns(&proc, &mut tree, &[]);
        let but_shell_ns = tree_cpu_ns(&proc, &mut tree, &[pid]);
        drop(stdin);
        shell.wait().expect("it ends");
        assert!(of_shell_ns < 90_000_000, "the shell itself waits: {of_shell_ns} ns");
        assert!(100_000_000 <= used_ns, "{used_ns} ns");
        assert!((before_ns..=after_ns).contains(&of_all_ns), "{before_ns} {of_all_ns} {after_ns}");
        // The kernel gives the time of those that ended in ticks, those of two shells rounded down.
        assert!(
            used_ns - 50_000_000 <= but_shell_ns && but_shell_ns <= ended_ns,
            "{used_ns} {but_shell_ns} {ended_ns}"
        );
    }
}
