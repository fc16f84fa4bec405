//! What threads used, added up by role and name.

use crate::role::pool_of;
use crate::split::{Clocks, Ticked, kernel_share};
use crate::tracks::{Track, Tracks, Used};
use assay_model::{RoleTime, ThreadRole, ThreadTime, TimeGroup, TimeSums};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Groups that are listed; what is smaller is one group for each role.
const GROUPS_MAX: usize = 1000;
const OTHER_NAMES: &str = "other names";
/// Threads that are listed.
const THREADS_MAX: usize = 100;

/// Threads added up.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) cpu_ns: u64,
    pub(crate) threads_ended: u64,
    pub(crate) roles: Vec<RoleTime>,
    pub(crate) groups: Vec<TimeGroup>,
    pub(crate) threads: Vec<ThreadTime>,
}

impl Account {
    /// Of these threads. `counts_block_io`: whether the kernel does.
    pub(crate) fn of(tracks: &Tracks, clocks: Clocks, counts_block_io: bool) -> Account {
        let mut sums: BTreeMap<(ThreadRole, String), Sum> = BTreeMap::new();
        let mut threads = Vec::new();
        let mut threads_ended = 0;
        for track in tracks.all() {
            let used = track.used();
            let (role, name) = named(track);
            sums.entry((role, pool_of(name))).or_default().add(&used);
            threads_ended += u64::from(track.has_ended);
            threads.push(ThreadTime {
                tid: track.tid(),
                name: name.to_owned(),
                role,
                cpu_ns: used.ticked.cpu_ns,
                run_delay_ns: used.run_delay_ns,
                has_ended: track.has_ended,
            });
        }
        threads.retain(|thread| thread.cpu_ns != 0);
        threads.sort_by_key(|thread| (Reverse(thread.cpu_ns), thread.tid));
        threads.truncate(THREADS_MAX);
        let mut by_role: BTreeMap<ThreadRole, Sum> = BTreeMap::new();
        for ((role, _), sum) in &sums {
            by_role.entry(*role).or_default().merge(sum);
        }
        let finish = |sum: &Sum| sum.finish(clocks, counts_block_io);
        let mut roles: Vec<RoleTime> =
            by_role.iter().map(|(role, sum)| RoleTime { role: *role, sums: finish(sum) }).collect();
        roles.sort_by_key(|role| Reverse(role.sums.cpu_ns));
        let place = |role| roles.iter().position(|of| of.role == role);
        let group = |((role, name), sum): (&(ThreadRole, String), &Sum)| TimeGroup {
            role: *role,
            name: name.clone(),
            sums: finish(sum),
        };
        let mut groups: Vec<TimeGroup> = folded(sums).iter().map(group).collect();
        groups.sort_by_key(|group| (place(group.role), Reverse(group.sums.cpu_ns)));
        let cpu_ns = roles.iter().fold(0u64, |sum, role| sum.saturating_add(role.sums.cpu_ns));
        Account { cpu_ns, threads_ended, roles, groups, threads }
    }
}

/// The groups, the small ones of each role as one where there are too many.
fn folded(sums: BTreeMap<(ThreadRole, String), Sum>) -> BTreeMap<(ThreadRole, String), Sum> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| Reverse(sum.used.ticked.cpu_ns));
    let mut kept = BTreeMap::new();
    for (rank, ((role, name), sum)) in sums.into_iter().enumerate() {
        let name = if rank < GROUPS_MAX { name } else { OTHER_NAMES.to_owned() };
        kept.entry((role, name)).or_insert_with(Sum::default).merge(&sum);
    }
    kept
}

fn named(track: &Track) -> (ThreadRole, &str) {
    match &track.label {
        Some(label) => (label.role, &label.name),
        None => (ThreadRole::Unknown, track.kernel_name()),
    }
}

#[derive(Debug, Default)]
struct Sum {
    threads: u64,
    used: Used,
}

impl Sum {
    fn add(&mut self, used: &Used) {
        self.merge(&Sum { threads: 1, used: *used });
    }

    fn merge(&mut self, other: &Sum) {
        let is_first = self.threads == 0;
        // One thread without a figure makes that of all unknown.
        let both = |a: Option<u64>, b: Option<u64>| if is_first { b } else { Some(a?.saturating_add(b?)) };
        let (sum, used) = (&mut self.used, &other.used);
        let (all, one) = (&mut sum.ticked, &used.ticked);
        all.user_ticks = all.user_ticks.saturating_add(one.user_ticks);
        all.system_ticks = all.system_ticks.saturating_add(one.system_ticks);
        all.cpu_ns = all.cpu_ns.saturating_add(one.cpu_ns);
        all.cut += one.cut;
        sum.run_delay_ns = both(sum.run_delay_ns, used.run_delay_ns);
        sum.voluntary_switches = both(sum.voluntary_switches, used.voluntary_switches);
        sum.involuntary_switches = both(sum.involuntary_switches, used.involuntary_switches);
        sum.block_io_ns = both(sum.block_io_ns, used.block_io_ns);
        sum.minor_faults = sum.minor_faults.saturating_add(used.minor_faults);
        sum.major_faults = sum.major_faults.saturating_add(used.major_faults);
        self.threads += other.threads;
    }

    fn finish(&self, clocks: Clocks, counts_block_io: bool) -> TimeSums {
        let Ticked { cpu_ns, .. } = self.used.ticked;
        let share = kernel_share(self.used.ticked, clocks);
        let kernel_ns = share.map(|share| ((cpu_ns as f64 * share.estimate).round() as u64).min(cpu_ns));
        TimeSums {
            threads: self.threads,
            cpu_ns,
            user_ns: kernel_ns.map(|kernel| cpu_ns - kernel),
            kernel_ns,
            kernel_share: share,
            run_delay_ns: self.used.run_delay_ns,
            voluntary_switches: self.used.voluntary_switches,
            involuntary_switches: self.used.involuntary_switches,
            minor_faults: self.used.minor_faults,
            major_faults: self.used.major_faults,
            block_io_ns: self.used.block_io_ns.filter(|_| counts_block_io),
        }
    }
}
