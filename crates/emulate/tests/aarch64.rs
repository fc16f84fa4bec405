//! AArch64 guests whose only program is known to the instruction. It is a handful of words, so that no cross-compiler is needed.

use assay_emulate::{COUNTS_FILE, EmulatedCounts, Emulator, Geometry, GuestImage, IMAGE_FILE};
use assay_model::EmulatedProcessor;
use assay_testkit::{checkout, skip};
use std::process::Command;

/// A million rounds of two instructions, a thousand of four exclusive pairs, five hundred of nine LSE atomics beside four instructions that are
/// none, and one system call.
const KNOWN: [u32; 52] = [
    0x10000681, // adr x1, #208
    0xf900003f, // str xzr, [x1]
    0xf900043f, // str xzr, [x1, #8]
    0x14000001, // b 4
    0xd2e8203f, // mark 1
    0x14000001, // b 6
    0xd2a001e2, // mov x2, #983040
    0xf2884802, // movk x2, #16960
    0xf1000442, // subs x2, x2, #1
    0x54ffffe1, // b.ne 8
    0x52807d02, // mov w2, #1000
    0xc85f7c23, // ldxr x3, [x1]
    0xc8047c23, // stxr w4, x3, [x1]
    0x885ffc23, // ldaxr w3, [x1]
    0x8804fc23, // stlxr w4, w3, [x1]
    0x085f7c23, // ldxrb w3, [x1]
    0x08047c23, // stxrb w4, w3, [x1]
    0xc87f9423, // ldaxp x3, x5, [x1]
    0xc8249423, // stlxp w4, x3, x5, [x1]
    0x71000442, // subs w2, w2, #1
    0x54fffee1, // b.ne 11
    0x52803e82, // mov w2, #500
    0xf8220023, // ldadd x2, x3, [x1]
    0xb8e20023, // ldaddal w2, w3, [x1]
    0xf822003f, // stadd x2, [x1]
    0xf8a38024, // swpa x3, x4, [x1]
    0xc8a37c24, // cas x3, x4, [x1]
    0x88e3fc24, // casal w3, w4, [x1]
    0x48247c26, // casp x4, x5, x6, x7, [x1]
    0xf8633024, // ldsetl x3, x4, [x1]
    0x38236024, // ldumaxb w3, w4, [x1]
    0xc8dffc23, // ldar x3, [x1]
    0xc89ffc23, // stlr x3, [x1]
    0xf8626823, // ldr x3, [x1, x2]
    0xa9401023, // ldp x3, x4, [x1]
    0x71000442, // subs w2, w2, #1
    0x54fffe41, // b.ne 22
    0xd2801588, // mov x8, #172
    0xd4000001, // svc #0
    0x14000001, // b 40
    0xd2e8205f, // mark 2
    0x14000001, // b 42
    0x529bd5a0, // mov w0, #57005
    0x72bfdc20, // movk w0, #65249, lsl #16
    0x52832d21, // mov w1, #6505
    0x72a50241, // movk w1, #10258, lsl #16
    0x529fdb82, // mov w2, #65244
    0x72a86422, // movk w2, #17185, lsl #16
    0xd28011c8, // mov x8, #142
    0xd4000001, // svc #0
    0x14000000, // b 50
    0xd503201f, // nop
];

/// Two processes that send each other a byte a thousand times, through two pipes.
const PING_PONG: [u32; 66] = [
    0x10000854, // adr x20, #264
    0xaa1403e0, // mov x0, x20
    0xd2800001, // mov x1, #0
    0xd2800768, // mov x8, #59
    0xd4000001, // svc #0
    0x91002280, // add x0, x20, #8
    0xd2800001, // mov x1, #0
    0xd2800768, // mov x8, #59
    0xd4000001, // svc #0
    0x14000001, // b 10
    0xd2e8203f, // mark 1
    0x14000001, // b 12
    0xd2800220, // mov x0, #17
    0xd2800001, // mov x1, #0
    0xd2800002, // mov x2, #0
    0xd2800003, // mov x3, #0
    0xd2800004, // mov x4, #0
    0xd2801b88, // mov x8, #220
    0xd4000001, // svc #0
    0x52807d13, // mov w19, #1000
    0xb40003c0, // cbz x0, 50
    0xb9400680, // ldr w0, [x20, #4]
    0xaa1403e1, // mov x1, x20
    0xd2800022, // mov x2, #1
    0xd2800808, // mov x8, #64
    0xd4000001, // svc #0
    0xb9400a80, // ldr w0, [x20, #8]
    0x91004281, // add x1, x20, #16
    0xd2800022, // mov x2, #1
    0xd28007e8, // mov x8, #63
    0xd4000001, // svc #0
    0x71000673, // subs w19, w19, #1
    0x54fffea1, // b.ne 21
    0x92800000, // mov x0, #-1
    0xd2800001, // mov x1, #0
    0xd2800002, // mov x2, #0
    0xd2800003, // mov x3, #0
    0xd2802088, // mov x8, #260
    0xd4000001, // svc #0
    0x14000001, // b 40
    0xd2e8205f, // mark 2
    0x14000001, // b 42
    0x529bd5a0, // mov w0, #57005
    0x72bfdc20, // movk w0, #65249, lsl #16
    0x52832d21, // mov w1, #6505
    0x72a50241, // movk w1, #10258, lsl #16
    0x529fdb82, // mov w2, #65244
    0x72a86422, // movk w2, #17185, lsl #16
    0xd28011c8, // mov x8, #142
    0xd4000001, // svc #0
    0xb9400280, // ldr w0, [x20]
    0x91004281, // add x1, x20, #16
    0xd2800022, // mov x2, #1
    0xd28007e8, // mov x8, #63
    0xd4000001, // svc #0
    0xb9400e80, // ldr w0, [x20, #12]
    0xaa1403e1, // mov x1, x20
    0xd2800022, // mov x2, #1
    0xd2800808, // mov x8, #64
    0xd4000001, // svc #0
    0x71000673, // subs w19, w19, #1
    0x54fffea1, // b.ne 50
    0xd2800000, // mov x0, #0
    0xd2800ba8, // mov x8, #93
    0xd4000001, // svc #0
    0xd503201f, // nop
];

/// A program of these words: one segment that can be written and executed, with room for data behind them.
fn elf(words: &[u32]) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    /// Of 64 + 56 bytes, and on to a place at which pairs are aligned.
    const HEADERS: u64 = 128;
    let file_bytes = HEADERS + 4 * words.len() as u64;
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let mut put = |size: usize, values: &[u64]| {
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..size]));
    };
    // An executable of AArch64, version 1; entry, program headers, no sections; flags; sizes of headers.
    put(2, &[2, 183]);
    put(4, &[1]);
    put(8, &[BASE + HEADERS, 64, 0]);
    put(4, &[0]);
    put(2, &[64, 56, 1, 64, 0, 0]);
    // To be loaded, and for everything; from the file's beginning; its bytes in the file and in memory; alignment.
    put(4, &[1, 7]);
    put(8, &[0, BASE, BASE, file_bytes, file_bytes + 64, 0x1_0000]);
    bytes.resize(HEADERS as usize, 0);
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    bytes
}

/// What was counted of a guest that runs nothing but these words; nothing where there is no emulator, and why.
fn counted(words: &[u32]) -> Result<EmulatedCounts, String> {
    let emulator = Emulator::find(&checkout().join(".assay"), EmulatedProcessor::NeoverseN1)?;
    let folder = tempfile::tempdir().expect("a folder");
    let mut image = GuestImage::new();
    image.add_bytes("/init", elf(words), true);
    let mut file = std::fs::File::create(folder.path().join(IMAGE_FILE)).expect("a file");
    image.write(&mut file).expect("an image");
    let command = emulator.command(&Geometry::of(EmulatedProcessor::NeoverseN1), 256, 1);
    let (first, arguments) = command.argv.split_first().expect("a command");
    let mut emulated = Command::new(first);
    let emulated = emulated.args(arguments).envs(&command.env).current_dir(folder.path());
    let output = emulated.output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    Ok(EmulatedCounts::read(&folder.path().join(COUNTS_FILE)).expect("counts"))
}

#[test]
fn exclusives_and_lse_atomics_of_a_known_aarch64_program_are_counted_exactly() {
    let counts = match counted(&KNOWN) {
        Ok(counts) => counts,
        Err(why) => skip!("{why}"),
    };
    let user = counts.server.user;
    assert_eq!(counts.server.tasks, 1);
    // Each loop begins with one or two words; then the system call, and the jump in front of the second mark.
    assert_eq!(user.instructions, 2 + 2 * 1_000_000 + 1 + 10 * 1_000 + 1 + 15 * 500 + 2 + 1);
    assert_eq!((user.exclusive_loads, user.exclusive_stores), (4 * 1_000, 4 * 1_000));
    assert_eq!(user.atomic_instructions, 9 * 500);
    assert_eq!(user.syscalls, 1);
    assert_eq!((user.branches, user.branches_taken), (1_000_000 + 1_000 + 500 + 1, 999_999 + 999 + 499 + 1));
    assert_eq!(user.context_switches, 0, "the kernel switches");
    assert!(counts.server.kernel.instructions > 0, "the system call is the kernel's work");
    assert_eq!(counts.client.tasks, 0, "nobody said that it is the client");
}

#[test]
fn tasks_of_an_aarch64_guest_are_told_apart_as_often_as_they_take_turns() {
    let counts = match counted(&PING_PONG) {
        Ok(counts) => counts,
        Err(why) => skip!("{why}"),
    };
    let server = counts.server;
    assert_eq!(server.tasks, 2, "the program and its child");
    // The start of the child, its loop, its end; the loop of its parent, which waits for it, and the jump in front of the second mark.
    assert_eq!(server.user.instructions, 7 + 2 * (2 + 12 * 1_000) + 3 + 6 + 1);
    assert_eq!(server.user.syscalls, 1 + 2 * 2 * 1_000 + 1 + 1);
    // Each gives the processor away once a round, and a few times more at the beginning and the end.
    assert!((2_000..2_010).contains(&server.kernel.context_switches), "{}", server.kernel.context_switches);
}
