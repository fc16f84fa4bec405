//! What the plug-in counted between two marks.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// Largest file of counts: it has a fixed number of figures.
const BYTES_MAX: u64 = 1 << 20;

/// Counts of one party in one mode. Each is a number of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Instructions that were executed; a string instruction counts once, however often it repeats.
    pub instructions: u64,
    /// Accesses that read. On AArch64 the emulator also reads for exclusive stores and atomic instructions.
    pub loads: u64,
    /// Accesses that write.
    pub stores: u64,
    /// Near branches: conditional and unconditional jumps, calls, returns.
    pub branches: u64,
    /// Of them, taken.
    pub branches_taken: u64,
    /// Of them, those whose direction or target the model foretold wrongly.
    pub branches_mispredicted: u64,
    /// Of them, those that the model's branch target buffer did not have.
    pub btb_misses: u64,
    /// Cache lines that blocks of instructions asked the L1 instruction cache for.
    pub l1i_uses: u64,
    /// Of them, those that it did not have.
    pub l1i_misses: u64,
    /// Cache lines that accesses asked the L1 data cache for.
    pub l1d_uses: u64,
    /// Of them, those that it did not have.
    pub l1d_misses: u64,
    /// Lines that both L1 caches asked the L2 cache for.
    pub l2_uses: u64,
    /// Of them, those that it did not have.
    pub l2_misses: u64,
    /// Pages of instructions that the instruction TLB did not have.
    pub itlb_misses: u64,
    /// Pages of data that the data TLB did not have.
    pub dtlb_misses: u64,
    /// Instructions that call the kernel; in user mode only.
    pub syscalls: u64,
    /// Times that the kernel gave the processor to another task; in kernel mode only.
    pub context_switches: u64,
    /// Instructions that load and watch a place in memory (`LDXR` of Arm, and its other forms).
    #[serde(default)]
    pub exclusive_loads: u64,
    /// Instructions that store to a watched place if nobody else did (`STXR`, likewise), whether they stored or not.
    #[serde(default)]
    pub exclusive_stores: u64,
    /// Instructions that load, change and store at once: LSE of Arm (`LDADD`, `SWP`, `CAS` and their forms); of x86-64 those with `LOCK`, and
    /// exchanges with memory.
    #[serde(default)]
    pub atomic_instructions: u64,
}

/// Tasks that belong together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGroup {
    /// Tasks (threads) that ran.
    pub tasks: u64,
    /// In user mode.
    pub user: Figures,
    /// In kernel mode, interrupts included that came while they ran.
    pub kernel: Figures,
}

/// A thread of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCount {
    /// Where it first pushed something after the first mark: an address in its stack.
    pub stack: u64,
    /// Its instructions in user mode.
    pub user_instructions: u64,
}

/// Counts between two marks, by who ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmulatedCounts {
    /// Every task that ran user code and is not the client: the server.
    pub server: TaskGroup,
    /// The thread that generates the load.
    pub client: TaskGroup,
    /// Tasks without user code: threads of the kernel, and the idle task.
    pub kernel_threads: TaskGroup,
    /// The server's threads that pushed something in user mode.
    #[serde(default)]
    pub threads: Vec<ThreadCount>,
}

/// A waiting thread begins to work no further from its stack pointer than this, and stacks of other threads lie further away.
const NEAR_BYTES: u64 = 64 << 10;

impl EmulatedCounts {
    /// User instructions of the server but for those of threads whose stack pointers were these while they waited.
    pub fn user_instructions_without(&self, stacks: &[u64]) -> u64 {
        let is_near =
            |thread: &&ThreadCount| stacks.iter().any(|stack| stack.abs_diff(thread.stack) < NEAR_BYTES);
        let left_out = self.threads.iter().filter(is_near).map(|thread| thread.user_instructions);
        self.server.user.instructions.saturating_sub(left_out.sum())
    }

    /// Reads what the plug-in wrote.
    ///
    /// # Errors
    /// Why there are no counts, naming the file.
    pub fn read(path: &Path) -> Result<EmulatedCounts, String> {
        let size =
            path.metadata().map_err(|e| format!("the plug-in wrote no {}: {e}", path.display()))?.len();
        if BYTES_MAX < size {
            return Err(format!("{} has {size} bytes, too many for counts", path.display()));
        }
        let text = fs_err::read(path).map_err(|e| e.to_string())?;
        serde_json::from_slice(&text).map_err(|e| format!("{} does not hold counts: {e}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_left_out_by_their_stacks() {
        let thread = |stack, user_instructions| ThreadCount { stack, user_instructions };
        let user = Figures { instructions: 1_000, ..Figures::default() };
        let counts = EmulatedCounts {
            server: TaskGroup { tasks: 3, user, ..TaskGroup::default() },
            threads: vec![
                thread(0x7f00_0010_0000, 600),
                thread(0x7f00_0030_0000, 300),
                thread(0x7f00_0050_0000, 100),
            ],
            ..EmulatedCounts::default()
        };
        assert_eq!(counts.user_instructions_without(&[]), 1_000);
        assert_eq!(counts.user_instructions_without(&[0x7f00_0010_0800, 0x7f00_004f_ff00]), 300);
        assert_eq!(counts.user_instructions_without(&[0x7f00_0020_0000]), 1_000, "nobody's stack");
    }
}
