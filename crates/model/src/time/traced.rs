//! CPU time traced by programs in the kernel (BPF): every interval of it by what the thread was in.

use super::{KernelActivity, ThreadRole};
use crate::Certainty;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU time of threads by what they were in, each event timed by the kernel's clock. Threads that did not run in this time are not in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TimeTraced {
    /// Threads that ran.
    pub threads: u64,
    /// Times that a thread had no record since there were too many: what it did is missing.
    pub lost: u64,
    /// CPU time that was traced.
    pub cpu_ns: u64,
    /// `cpu_ns` divided by the CPU time of the process; about 1 when nothing was missed. Above 1 by what the hypervisor took
    /// ([`MachineTime::steal_ns`](crate::MachineTime::steal_ns)) where the process's clock leaves that out.
    pub coverage: Option<f64>,
    /// Of `cpu_ns`, user mode: what is in none of `kernel`.
    pub user_ns: u64,
    /// Of `cpu_ns`, in the kernel: Σ of `kernel`.
    pub kernel_ns: u64,
    /// `kernel_ns` divided by the kernel time that samples of the same interval give, 0 to 1 and a little more; absent without samples. What
    /// is less than 1 was in the kernel without being named here.
    pub kernel_coverage: Option<f64>,
    /// Time in the kernel of each system call beyond what the programs see of it: by samples of the same interval where they are enough, else
    /// measured at the start in a loop of Assay's own.
    pub crossing_call_ns: f64,
    /// The same of each page fault, by the loop; absent where it could not be measured.
    pub crossing_fault_ns: Option<f64>,
    /// The same of each interrupt, by samples; absent without enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing_interrupt_ns: Option<f64>,
    /// Time in the kernel of each involuntary switch beyond what the programs see of it, by samples; absent without enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption_ns: Option<f64>,
    /// The samples that `crossing_call_ns` comes from; absent where it comes from the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing_call_samples: Option<u64>,
    /// CPU time that reading the records took in Assay.
    pub reading_cpu_ns: u64,
    /// By role, the most CPU time first.
    pub roles: Vec<TracedRole>,
    /// What the kernel did, for all roles together, the most CPU time first.
    pub kernel: Vec<TracedPart>,
    /// System calls by name, the most CPU time first; those that have not returned yet are in the activities alone.
    pub calls: Vec<TracedCall>,
    /// Soft interrupts by kind, the most CPU time first.
    pub softirqs: Vec<TracedSoftirq>,
    /// Waits for a processor by length, the shortest first.
    pub run_delays: Vec<TracedDelays>,
}

/// What the threads of one role were in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TracedRole {
    /// The role; absent for threads that no sample has.
    pub role: Option<ThreadRole>,
    /// CPU time.
    pub cpu_ns: u64,
    /// Of it, user mode.
    pub user_ns: u64,
    /// Of it, in the kernel.
    pub kernel_ns: u64,
    /// What the kernel did, the most CPU time first; adds up to `kernel_ns`.
    pub parts: Vec<TracedPart>,
    /// System calls.
    pub calls: u64,
    /// Page faults of user mode.
    pub faults_user: u64,
    /// Page faults in the middle of system calls; their time is that of the call.
    pub faults_kernel: u64,
    /// CPU time of the latter, where the kernel says when they end.
    pub faults_kernel_ns: Option<u64>,
    /// Times that a thread got a processor.
    pub times_scheduled: u64,
    /// Time ready to run, but waiting for a processor.
    pub run_delay_ns: u64,
    /// Times that a thread gave its processor up to wait for something.
    pub voluntary_switches: u64,
    /// Times that the kernel took the processor away.
    pub involuntary_switches: u64,
}

/// One activity of the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracedPart {
    /// What it did.
    pub activity: KernelActivity,
    /// Known where each was timed; inferred for entering and leaving, and for preemption.
    pub basis: Certainty,
    /// How often: system calls, faults, interrupts.
    pub count: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// Times that a thread waited in it.
    pub waits: u64,
    /// Time that threads waited in it, without the time that they were ready to run.
    pub blocked_ns: u64,
}

/// One system call, of the whole process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedCall {
    /// Its name, or its number where that is not known.
    pub name: String,
    /// How often it returned.
    pub count: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// Times that a thread waited in it.
    pub waits: u64,
    /// Time that threads waited in it, without the time that they were ready to run.
    pub blocked_ns: u64,
}

/// One kind of soft interrupt, as far as it ran on the time of the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedSoftirq {
    /// The kernel's name of it: `NET_RX`, `TIMER`.
    pub name: String,
    /// How often.
    pub count: u64,
    /// CPU time.
    pub cpu_ns: u64,
}

/// Waits for a processor of about one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedDelays {
    /// They were shorter than this, and not shorter than that of the row before.
    pub below_us: u64,
    /// How many.
    pub count: u64,
}
