//! The registers of a stopped thread, and the signal frame that restores them all without help from outside.
//!
//! Formats: `struct user_regs_struct` (`asm/ptrace.h`), `struct rt_sigframe` and `struct sigcontext` (`asm/sigframe.h`, `asm/sigcontext.h`),
//! the extended state in a frame (`struct _fpx_sw_bytes`), and `rt_sigreturn(2)`, which reads all of it back.

use crate::ptrace::RegisterSet;
use std::io;

/// Words of `struct user_regs_struct`.
const WORDS: usize = 27;
/// Extended state of one thread; with tiles (AMX) it is 11 KiB.
const EXTENDED_BYTES_MAX: usize = 64 << 10;
/// `struct _xstate` up to its first extended component: legacy state and header.
const HEADER_END: usize = 576;
/// The program's own words at the end of the legacy state. A register set has the mask of known components in the first of them.
const SOFTWARE: usize = 464;
/// The header's mask of the components that are not in their initial state.
const COMPONENTS: usize = 512;
/// Tiles, which a thread has only if it asked for them. A frame with room for more than the thread has is refused.
const DYNAMIC: u64 = 0x3 << 17;
const MAGIC_1: u32 = 0x4650_5853;
const MAGIC_2: u32 = 0x4650_5845;

/// Bytes below the stack pointer that a function may use without moving it.
const RED_ZONE_BYTES: u64 = 128;
/// `struct rt_sigframe`: the address to return to, `ucontext`, `siginfo`.
const FRAME_BYTES: u64 = 8 + 304 + 128;
/// Offset of `sigcontext` in the frame, behind the address and the head of `ucontext`.
const CONTEXT: usize = 8 + 40;
/// An unknown mode of the alternate stack: the kernel then leaves it as it is.
const ALTERNATE_STACK_AS_IT_IS: u32 = 0x7fff_ffff;
/// `UC_FP_XSTATE`, `UC_SIGCONTEXT_SS`, `UC_STRICT_RESTORE_SS`.
const CONTEXT_FLAGS: u64 = 7;
/// The direction flag, which a function finds clear.
const DIRECTION: u64 = 1 << 10;

const R10: usize = 7;
const R9: usize = 8;
const R8: usize = 9;
const RAX: usize = 10;
const RCX: usize = 11;
const RDX: usize = 12;
const RSI: usize = 13;
const RDI: usize = 14;
const ORIG_RAX: usize = 15;
const RIP: usize = 16;
const CS: usize = 17;
const FLAGS: usize = 18;
const RSP: usize = 19;
const SS: usize = 20;
/// Registers of the first arguments of a function, in their order.
const ARGUMENTS: [usize; 6] = [RDI, RSI, RDX, RCX, R8, R9];
/// Where `sigcontext` has each general register: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags.
const IN_CONTEXT: [usize; 18] = [R8, R9, R10, 6, 3, 2, 1, 0, RDI, RSI, 4, 5, RDX, RAX, RCX, RSP, RIP, FLAGS];

/// A value for the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallArgument<'a> {
    /// As it is.
    Word(u64),
    /// The address of these bytes, which are put on the thread's stack.
    Bytes(&'a [u8]),
}

/// All registers of a stopped thread.
pub(super) struct Registers {
    general: [u64; WORDS],
    extended: Vec<u8>,
    blocked_signals: u64,
}

/// Memory to write, and the registers with which the thread goes on in the function.
pub(super) struct Prepared {
    pub address: u64,
    pub bytes: Vec<u8>,
    pub general: Vec<u8>,
}

impl Registers {
    pub(super) fn read(tid: u32) -> io::Result<Registers> {
        let bytes = crate::ptrace::registers(tid, RegisterSet::General, WORDS * 8)?;
        if bytes.len() != WORDS * 8 {
            return Err(io::Error::other("it is not a 64-bit thread"));
        }
        let mut general = [0; WORDS];
        for (word, bytes) in general.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        }
        let extended = crate::ptrace::registers(tid, RegisterSet::Extended, EXTENDED_BYTES_MAX)?;
        if extended.len() < HEADER_END {
            return Err(io::Error::other("the kernel does not show its extended registers"));
        }
        Ok(Registers { general, extended, blocked_signals: crate::ptrace::blocked_signals(tid)? })
    }

    /// The system call that the stop interrupted, if the kernel would begin it anew by itself and without a time limit.
    pub(super) fn restarted_call(&self) -> Option<u64> {
        // ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND.
        let is_restarted = matches!(self.general[RAX].cast_signed(), -514..=-512);
        is_restarted.then_some(self.general[ORIG_RAX])
    }

    /// Whether the thread runs 64-bit code.
    pub(super) fn is_64_bit(&self) -> bool {
        self.general[CS] == 0x33
    }

    /// First argument of the interrupted system call.
    pub(super) fn first_argument(&self) -> u64 {
        self.general[RDI]
    }

    /// Address of the instruction of the interrupted system call.
    pub(super) fn call_address(&self) -> u64 {
        self.general[RIP].wrapping_sub(2)
    }

    pub(super) fn stack_pointer(&self) -> u64 {
        self.general[RSP]
    }

    pub(super) fn blocked_signals(&self) -> u64 {
        self.blocked_signals
    }

    /// A frame below the stack pointer that restores all of this and makes the system call anew, and registers that call `function` before.
    pub(super) fn prepare(
        &self,
        function: u64,
        restore: u64,
        arguments: &[CallArgument<'_>],
    ) -> Option<Prepared> {
        let top = self.general[RSP].checked_sub(RED_ZONE_BYTES)?;
        let texts = arguments.iter().filter_map(|argument| match argument {
            CallArgument::Bytes(bytes) => Some(bytes.len() as u64),
            CallArgument::Word(_) => None,
        });
        let text = top.checked_sub(texts.sum())? & !15;
        let size = self.extended_bytes();
        // Behind the state lies its second mark.
        let extended = text.checked_sub(size as u64 + 4)? & !63;
        let frame = (extended.checked_sub(FRAME_BYTES)? & !15) - 8;
        let mut bytes = vec![0; usize::try_from(top - frame).ok()?];
        let mut put = |at: u64, value: &[u8]| {
            let from = usize::try_from(at - frame).unwrap_or(usize::MAX);
            let place = from.checked_add(value.len()).and_then(|end| bytes.get_mut(from..end));
            place.map(|place| place.copy_from_slice(value))
        };
        put(frame, &self.frame(restore, extended))?;
        put(extended, &self.extended_with_marks(size))?;
        let mut general = self.general;
        let mut next = text;
        for (argument, register) in arguments.iter().zip(ARGUMENTS) {
            general[register] = match argument {
                CallArgument::Word(word) => *word,
                CallArgument::Bytes(of) => {
                    put(next, of)?;
                    next += of.len() as u64;
                    next - of.len() as u64
                }
            };
        }
        general[RIP] = function;
        general[RSP] = frame;
        general[RAX] = 0;
        general[FLAGS] &= !DIRECTION;
        // None: nothing is restarted.
        general[ORIG_RAX] = u64::MAX;
        let general = general.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(Prepared { address: frame, bytes, general })
    }

    fn frame(&self, restore: u64, extended: u64) -> Vec<u8> {
        let mut frame = vec![0; FRAME_BYTES as usize];
        let mut put = |at: usize, value: &[u8]| frame[at..at + value.len()].copy_from_slice(value);
        put(0, &restore.to_le_bytes());
        put(8, &CONTEXT_FLAGS.to_le_bytes());
        put(8 + 24, &ALTERNATE_STACK_AS_IT_IS.to_le_bytes());
        for (place, register) in IN_CONTEXT.into_iter().enumerate() {
            let value = match register {
                RIP => self.call_address(),
                RAX => self.general[ORIG_RAX],
                other => self.general[other],
            };
            put(CONTEXT + 8 * place, &value.to_le_bytes());
        }
        put(CONTEXT + 144, &(self.general[CS] as u16).to_le_bytes());
        put(CONTEXT + 150, &(self.general[SS] as u16).to_le_bytes());
        put(CONTEXT + 184, &extended.to_le_bytes());
        put(CONTEXT + 256, &self.blocked_signals.to_le_bytes());
        frame
    }

    fn word_at(&self, at: usize) -> u64 {
        let bytes = self.extended.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    /// Components for which the frame has room.
    fn components(&self) -> u64 {
        self.word_at(SOFTWARE) & (!DYNAMIC | self.word_at(COMPONENTS))
    }

    /// Bytes of the state: the end of its last component.
    fn extended_bytes(&self) -> usize {
        let components = self.components();
        let ends = (2..63).filter(|of| components >> of & 1 == 1).map(end_of_component);
        ends.fold(HEADER_END, usize::max).min(self.extended.len())
    }

    fn extended_with_marks(&self, size: usize) -> Vec<u8> {
        let mut state = self.extended[..size].to_vec();
        let mut put = |at: usize, value: &[u8]| state[at..at + value.len()].copy_from_slice(value);
        let size = size as u32;
        put(SOFTWARE, &[0; 48]);
        put(SOFTWARE, &MAGIC_1.to_le_bytes());
        put(SOFTWARE + 4, &(size + 4).to_le_bytes());
        put(SOFTWARE + 8, &self.components().to_le_bytes());
        put(SOFTWARE + 16, &size.to_le_bytes());
        state.extend(MAGIC_2.to_le_bytes());
        state
    }
}

/// Where a component ends in the standard format; the processor says it.
#[cfg(target_arch = "x86_64")]
fn end_of_component(component: u32) -> usize {
    let leaf = std::arch::x86_64::__cpuid_count(0xd, component);
    leaf.ebx as usize + leaf.eax as usize
}

#[cfg(not(target_arch = "x86_64"))]
fn end_of_component(_component: u32) -> usize {
    0
}
