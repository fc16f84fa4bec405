//! Activities of a thread, by the numbers that the programs use for them.

use assay_model::KernelActivity;

/// Kinds; `KINDS` of `bpf/threads.bpf.c`.
pub(crate) const KINDS: usize = 16;
/// The number of user mode.
pub(crate) const USER: usize = 0;
/// Those of what is not a system call.
pub(crate) const FAULTS: usize = 6;
pub(crate) const SOFTIRQ: usize = 10;
pub(crate) const INTERRUPTS: usize = 11;

/// The activities behind the numbers from 1 on, in the order of the enum in `bpf/threads.bpf.c`.
pub(crate) const ACTIVITIES: [KernelActivity; 14] = [
    KernelActivity::NetworkSend,
    KernelActivity::NetworkReceive,
    KernelActivity::NetworkConnections,
    KernelActivity::Futex,
    KernelActivity::Polling,
    KernelActivity::PageFaults,
    KernelActivity::MemoryMappings,
    KernelActivity::Files,
    KernelActivity::Scheduling,
    KernelActivity::Softirq,
    KernelActivity::Interrupts,
    KernelActivity::Timers,
    KernelActivity::Tasks,
    KernelActivity::OtherCalls,
];

/// The number of an activity; that of other calls where the programs do not know it.
pub(crate) fn kind_of(activity: KernelActivity) -> u8 {
    let place = ACTIVITIES.iter().position(|of| *of == activity).unwrap_or(ACTIVITIES.len() - 1);
    place as u8 + 1
}

/// The activities with their numbers.
pub(crate) fn numbered() -> impl Iterator<Item = (usize, KernelActivity)> {
    ACTIVITIES.iter().enumerate().map(|(place, activity)| (place + 1, *activity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_programs() {
        let source = include_str!("../../bpf/threads.bpf.c");
        let (_, rest) = source.split_once("enum {\n\tUSER,\n").expect("the enum");
        let (list, _) = rest.split_once("\tKINDS = 16").expect("its end");
        let names: Vec<&str> = list.lines().map(|line| line.trim().trim_end_matches(',')).collect();
        let written: Vec<String> =
            ACTIVITIES.iter().map(|activity| format!("{activity:?}").to_lowercase()).collect();
        let read: Vec<String> = names.iter().map(|name| name.replace('_', "").to_lowercase()).collect();
        assert_eq!(read, written);
        for (number, activity) in [
            (FAULTS, KernelActivity::PageFaults),
            (SOFTIRQ, KernelActivity::Softirq),
            (INTERRUPTS, KernelActivity::Interrupts),
        ] {
            assert_eq!(usize::from(kind_of(activity)), number);
        }
    }
}
