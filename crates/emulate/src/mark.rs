//! Marks: instructions that do nothing, and that the plug-in knows.

/// Meaning of a mark. The numbers are those of `plugin/arch.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Counting begins.
    Begin,
    /// Counting ends.
    End,
    /// The thread that runs this generates the load.
    Client,
}

/// An instruction between jumps, so that it stands in a block of its own.
#[cfg(target_arch = "x86_64")]
macro_rules! execute {
    ($number:literal) => {
        // nopl 0x414153NN(%rax)
        std::arch::asm!(
            "jmp 2f",
            concat!("2: .byte 0x0f, 0x1f, 0x80, ", $number, ", 0x53, 0x41, 0x41"),
            "jmp 3f",
            "3:"
        )
    };
}

/// An instruction between jumps, so that it stands in a block of its own.
#[cfg(target_arch = "aarch64")]
macro_rules! execute {
    ($number:literal) => {
        // movz xzr, #0x41NN, lsl #48
        std::arch::asm!("b 2f", concat!("2: .inst 0xd2e8201f + 32 * ", $number), "b 3f", "3:")
    };
}

/// Executes a mark. On a processor that nobody looks into it does nothing.
pub(crate) fn set(mark: Mark) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[expect(
        unsafe_code,
        reason = "an instruction that the compiler never makes; it reads and changes nothing"
    )]
    // SAFETY: an instruction without effect, and two jumps to the next instruction.
    unsafe {
        match mark {
            Mark::Begin => execute!("1"),
            Mark::End => execute!("2"),
            Mark::Client => execute!("3"),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = mark;
}
