//! Marks: instructions that do nothing, and that the plug-in knows.

/// Meaning of a mark. The numbers are those of `plugin/count.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Counting begins.
    Begin,
    /// Counting ends.
    End,
    /// The thread that runs this generates the load.
    Client,
}

/// Executes a mark: `nopl 0x414153NN(%rax)`, between jumps, so that it stands in a block of its own. On a processor that nobody looks
/// into it does nothing.
pub(crate) fn set(mark: Mark) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::asm;
        #[expect(
            unsafe_code,
            reason = "an instruction that the compiler never makes; it reads and changes nothing"
        )]
        // SAFETY: a no-operation and two jumps to the next instruction.
        unsafe {
            match mark {
                Mark::Begin => {
                    asm!("jmp 2f", "2: .byte 0x0f, 0x1f, 0x80, 1, 0x53, 0x41, 0x41", "jmp 3f", "3:");
                }
                Mark::End => asm!("jmp 2f", "2: .byte 0x0f, 0x1f, 0x80, 2, 0x53, 0x41, 0x41", "jmp 3f", "3:"),
                Mark::Client => {
                    asm!("jmp 2f", "2: .byte 0x0f, 0x1f, 0x80, 3, 0x53, 0x41, 0x41", "jmp 3f", "3:");
                }
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = mark;
}
