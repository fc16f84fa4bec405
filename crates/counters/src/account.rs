//! What threads used, added up by role and name.

use crate::role::pool_of;
use crate::split::{Clocks, kernel_share};
use crate::tracks::{Named, OTHER_NAMES, Tracks};
use crate::used::Used;
use assay_model::{RoleTime, ThreadRole, ThreadTime, TimeGroup, TimeSums};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Groups that are listed; smaller ones are one group for each role.
const GROUPS_MAX: usize = 1000;
/// Threads that are listed.
const THREADS_MAX: usize = 100;

/// Role, whether that is inferred, and name.
type GroupKey = (ThreadRole, bool, String);
type Sums = BTreeMap<GroupKey, Used>;

/// CPU time of a process, and by how much it may differ from that of its threads because both were not read at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    pub(crate) cpu_ns: u64,
    pub(crate) reading_ns: u64,
}

/// Threads added up.
#[derive(Debug)]
pub(crate) struct TimeAccount {
    pub(crate) cpu_ns: u64,
    /// Of it, what ended threads used after the kernel last brought their figures up to date: inferred.
    pub(crate) ends_ns: u64,
    pub(crate) threads_ended: u64,
    pub(crate) roles: Vec<RoleTime>,
    pub(crate) groups: Vec<TimeGroup>,
    pub(crate) threads: Vec<ThreadTime>,
}

impl TimeAccount {
    /// Of these threads, of a process that used `process`. `counts_block_io`: whether the kernel does.
    pub(crate) fn of(tracks: &Tracks, process: Total, clocks: Clocks, counts_block_io: bool) -> TimeAccount {
        let mut sums: Sums = BTreeMap::new();
        let mut threads = Vec::new();
        let mut threads_ended = 0;
        let mut add = |Named { role, name, is_inferred }: Named, used: &Used| {
            sums.entry((role, is_inferred, pool_of(&name))).or_default().add(used);
        };
        for (track, named) in tracks.seen() {
            let used = track.used();
            threads_ended += u64::from(track.has_ended);
            threads.push(ThreadTime {
                tid: track.tid(),
                name: named.name.clone(),
                role: named.role,
                is_role_inferred: named.is_inferred,
                cpu_ns: used.cpu_ns,
                kernel_share: kernel_share(used.sampled, clocks),
                run_delay_ns: used.run_delay_ns,
                voluntary_switches: used.voluntary_switches,
                has_ended: track.has_ended,
            });
            add(named, &used);
        }
        tracks.unseen().for_each(|(used, named)| add(named, used));
        let ends_ns = share_out(&mut sums, process);
        threads.retain(|thread| thread.cpu_ns != 0);
        threads.sort_by_key(|thread| (Reverse(thread.cpu_ns), thread.tid));
        threads.truncate(THREADS_MAX);
        let finish = |used: &Used| finish(used, clocks, counts_block_io);
        let mut by_role: BTreeMap<ThreadRole, (Used, u64)> = BTreeMap::new();
        for ((role, is_inferred, _), used) in &sums {
            let (sum, inferred_ns) = by_role.entry(*role).or_default();
            sum.add(used);
            *inferred_ns += if *is_inferred { used.cpu_ns } else { 0 };
        }
        let role = |(role, (used, inferred_ns)): (&ThreadRole, &(Used, u64))| RoleTime {
            role: *role,
            inferred_ns: *inferred_ns,
            sums: finish(used),
        };
        let mut roles: Vec<RoleTime> = by_role.iter().map(role).collect();
        roles.sort_by_key(|role| Reverse(role.sums.cpu_ns));
        let place = |role| roles.iter().position(|of| of.role == role);
        let group = |((role, is_role_inferred, name), used): (&GroupKey, &Used)| TimeGroup {
            role: *role,
            name: name.clone(),
            is_role_inferred: *is_role_inferred,
            sums: finish(used),
        };
        let mut groups: Vec<TimeGroup> = folded(sums).iter().map(group).collect();
        groups.sort_by_key(|group| (place(group.role), Reverse(group.sums.cpu_ns)));
        let cpu_ns = roles.iter().fold(0u64, |sum, role| sum.saturating_add(role.sums.cpu_ns));
        TimeAccount { cpu_ns, ends_ns, threads_ended, roles, groups, threads }
    }
}

/// Gives ended threads what the process's total has beyond the sum, by how much each may have used just before its end; says how much that
/// is. Differences explained by the moments of reading are left.
fn share_out(sums: &mut Sums, process: Total) -> u64 {
    let (cpu_ns, room_ns) = sums.values().fold((0u64, 0u64), |(cpu, room), used| {
        (cpu.saturating_add(used.cpu_ns), room.saturating_add(used.room_ns))
    });
    let missing_ns = process.cpu_ns.saturating_sub(cpu_ns);
    if missing_ns <= process.reading_ns || room_ns == 0 {
        return 0;
    }
    let part = (missing_ns as f64 / room_ns as f64).min(1.0);
    let mut shared_ns = 0;
    for used in sums.values_mut() {
        let ns = (used.room_ns as f64 * part) as u64;
        used.cpu_ns = used.cpu_ns.saturating_add(ns);
        shared_ns += ns;
    }
    shared_ns
}

/// The groups, the small ones of each role as one where there are too many.
fn folded(sums: Sums) -> Sums {
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, used)| Reverse(used.cpu_ns));
    let mut kept = Sums::new();
    for (rank, ((role, is_inferred, name), used)) in sums.into_iter().enumerate() {
        let name = if rank < GROUPS_MAX { name } else { OTHER_NAMES.to_owned() };
        kept.entry((role, is_inferred, name)).or_default().add(&used);
    }
    kept
}

fn finish(used: &Used, clocks: Clocks, counts_block_io: bool) -> TimeSums {
    let cpu_ns = used.cpu_ns;
    let share = kernel_share(used.sampled, clocks);
    let kernel_ns = share.map(|share| ((cpu_ns as f64 * share.estimate).round() as u64).min(cpu_ns));
    TimeSums {
        threads: used.threads,
        cpu_ns,
        user_ns: kernel_ns.map(|kernel| cpu_ns - kernel),
        kernel_ns,
        kernel_share: share,
        run_delay_ns: used.run_delay_ns,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        minor_faults: used.minor_faults,
        major_faults: used.major_faults,
        block_io_ns: used.block_io_ns.filter(|_| counts_block_io),
    }
}
