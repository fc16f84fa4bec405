//! A guest with a program whose instructions are known.

use assay_emulate::{COUNTS_FILE, EmulatedCounts, Emulator, Geometry, IMAGE_FILE};
use assay_model::EmulatedProcessor;
use assay_testkit::{checkout, skip};
use std::path::Path;
use std::process::Command;

/// A million rounds of two instructions between the marks, a store and a load in each of a thousand further ones, a hundred with two atomic
/// instructions, a string instruction, and one system call. No library.
const KNOWN: &str = r#"
#define MARK(n) __asm__ volatile("jmp 1f\n1: .byte 0x0f,0x1f,0x80," n ",0x53,0x41,0x41\n jmp 1f\n1:" ::: "memory")
static long word;
static char text[4096], copy[4096];
void _start(void) {
    for (int i = 0; i < 4096; i += 1024) copy[i] = text[i] = 1; /* their pages are there */
    word = 1;
    MARK("1");
    __asm__ volatile("mov $1000000,%%ecx\n1: dec %%ecx\n jnz 1b" ::: "ecx");
    __asm__ volatile("mov $1000,%%ecx\n1: mov %%rcx,%0\n mov %0,%%rax\n dec %%ecx\n jnz 1b" : "+m"(word) :: "rax", "ecx");
    __asm__ volatile("mov $100,%%ecx\n1: lock addq $1,%0\n xchg %%rax,%0\n dec %%ecx\n jnz 1b" : "+m"(word) :: "rax", "ecx");
    __asm__ volatile("mov %0,%%rsi\n mov %1,%%rdi\n mov $512,%%ecx\n rep movsq" :: "i"(text), "i"(copy) : "rsi", "rdi", "rcx", "memory");
    __asm__ volatile("mov $39,%%eax\n syscall" ::: "rax", "rcx", "r11", "memory");
    MARK("2");
    __asm__ volatile("mov $60,%eax\n xor %edi,%edi\n syscall");
}
"#;

/// What stands between the marks: 1 + 2 x 1,000,000; 1 + 4 x 1,000; 1 + 4 x 100; the string instruction and the three before it; two for the system
/// call; and the jump in front of the second mark.
const INSTRUCTIONS: u64 = 1 + 2 * 1_000_000 + 1 + 4 * 1_000 + 1 + 4 * 100 + 4 + 2 + 1;

fn program(folder: &Path) -> Option<std::path::PathBuf> {
    let (source, program) = (folder.join("known.c"), folder.join("known"));
    std::fs::write(&source, KNOWN).expect("a source");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-nostdlib", "-static", "-fno-stack-protector", "-fno-pie", "-no-pie", "-o"])
        .arg(&program)
        .arg(&source);
    assert!(cc.status().ok()?.success());
    Some(program)
}

#[test]
fn instructions_of_a_known_program_are_counted_exactly() {
    let emulator = match Emulator::find(&checkout().join(".assay"), EmulatedProcessor::PentiumIii) {
        Ok(emulator) => emulator,
        Err(why) => skip!("{why}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = program(folder.path()) else { skip!("no C compiler") };
    let mut image = emulator.image(&["/known"]).unwrap();
    image.add(&program, Path::new("/known")).unwrap();
    let mut file = std::fs::File::create(folder.path().join(IMAGE_FILE)).unwrap();
    image.write(&mut file).unwrap();
    let command = emulator.command(&Geometry::of(EmulatedProcessor::PentiumIii), 256, 1);
    let (first, arguments) = command.argv.split_first().unwrap();
    let output =
        Command::new(first).args(arguments).envs(&command.env).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let counts = EmulatedCounts::read(&folder.path().join(COUNTS_FILE)).unwrap();
    let user = counts.server.user;
    assert_eq!(counts.server.tasks, 1);
    assert_eq!(user.instructions, INSTRUCTIONS);
    assert_eq!((user.loads, user.stores), (1_000 + 200 + 512, 1_000 + 200 + 512));
    assert_eq!((user.atomic_instructions, user.exclusive_loads, user.exclusive_stores), (200, 0, 0));
    assert_eq!(user.syscalls, 1);
    // Three loops and the jump; the system call is not a branch.
    assert_eq!((user.branches, user.branches_taken), (1_000_000 + 1_000 + 100 + 1, 999_999 + 999 + 99 + 1));
    // Each loop ends once where it was not expected to.
    assert_eq!(user.branches_mispredicted, 3);
    // The copied 4 KiB are 128 lines to read and as many to write, and one line holds the word.
    assert!((256..=258).contains(&user.l1d_misses), "{}", user.l1d_misses);
    assert!(counts.server.kernel.instructions > 0, "the system call is the kernel's work");
    assert_eq!(counts.client.tasks, 0, "nobody said that it is the client");
}
