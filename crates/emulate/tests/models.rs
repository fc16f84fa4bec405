//! The plug-in's models, natively, against simulations so simple that they can be read, and against counts known beforehand.

use assay_testkit::{SplitMix, skip};
use std::collections::VecDeque;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Numbers of branches' kinds in `plugin/model.h`.
const IF: u32 = 1;
const JUMP: u32 = 2;
const CALL: u32 = 3;
const JUMP_INDIRECT: u32 = 4;
const CALL_INDIRECT: u32 = 5;
const RETURN: u32 = 6;

/// The program that drives the models, compiled; none without a compiler.
struct Replay(tempfile::TempDir);

impl Replay {
    fn build() -> Option<Replay> {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
        let mut cc = Command::new("cc");
        cc.args([
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsanitize=undefined",
            "-fno-sanitize-recover",
            "-o",
        ]);
        cc.arg(folder.path().join("replay")).args(
            ["replay.c", "model.c", "arch.c", "arch_x86_64.c", "arch_aarch64.c"]
                .map(|name| sources.join(name)),
        );
        assert!(cc.status().ok()?.success(), "the models compile without warnings");
        Some(Replay(folder))
    }

    fn run(&self, arguments: &[&str], input: &str) -> String {
        let mut replay = Command::new(self.0.path().join("replay"));
        let mut child =
            replay.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("a text")
    }

    fn numbers(&self, arguments: &[&str], input: &str) -> Vec<u64> {
        self.run(arguments, input).split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }

    fn misses(&self, entries: u64, ways: u64, numbers: impl IntoIterator<Item = u64>) -> u64 {
        let text: String = numbers.into_iter().map(|n| format!("{n}\n")).collect();
        self.numbers(&["sets", &entries.to_string(), &ways.to_string()], &text)[0]
    }

    /// BTB misses and mispredictions of branches: kind, where, next, target, taken.
    fn branches(&self, predictor: [&str; 2], branches: &[(u32, u64, u64, u64, bool)]) -> (u64, u64) {
        let mut text = String::new();
        for (kind, at, next, target, taken) in branches {
            writeln!(text, "{kind} {at} {next} {target} {}", u8::from(*taken)).expect("a line");
        }
        let got = self.numbers(&["branches", predictor[0], predictor[1], "512", "4"], &text);
        (got[0], got[1])
    }
}

/// A cache as it is explained: each set a list, what was used last in front, what falls off its end is given up.
fn simulated(entries: u64, ways: u64, numbers: &[u64]) -> u64 {
    let sets = entries / ways;
    let mut lists = vec![VecDeque::new(); sets as usize];
    let mut misses = 0;
    for number in numbers {
        let list: &mut VecDeque<u64> = &mut lists[(number % sets) as usize];
        match list.iter().position(|held| held == number) {
            Some(at) => drop(list.remove(at)),
            None => misses += 1,
        }
        list.push_front(*number);
        list.truncate(ways as usize);
    }
    misses
}

#[test]
fn a_cache_misses_what_a_list_for_each_set_misses() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    let mut random = SplitMix(19);
    for (entries, ways) in [(512, 4), (64, 4), (64, 64), (16_384, 4), (8, 1), (72, 72)] {
        // Near numbers come back often, far ones seldom.
        let numbers: Vec<u64> = (0..20_000)
            .map(|_| {
                let span = [entries / 2 + 1, entries * 2, entries * 16][(random.bits() % 3) as usize];
                random.bits() % span
            })
            .collect();
        assert_eq!(
            replay.misses(entries, ways, numbers.iter().copied()),
            simulated(entries, ways, &numbers),
            "{entries} {ways}"
        );
    }
}

#[test]
fn strides_miss_as_often_as_one_can_work_out() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    // 16 KiB, 4 ways, lines of 32 bytes: 128 sets of 4.
    let rounds = |lines: u64, stride: u64| (0..100).flat_map(move |_| (0..lines).map(move |i| i * stride));
    assert_eq!(replay.misses(512, 4, rounds(512, 1)), 512, "what fits is missed once");
    assert_eq!(
        replay.misses(512, 4, rounds(513, 1)),
        513 + 99 * 5,
        "one line more: its set of five loses all of them each round"
    );
    assert_eq!(replay.misses(512, 4, rounds(4, 128)), 4, "four lines of one set fit");
    assert_eq!(replay.misses(512, 4, rounds(5, 128)), 500, "the fifth drives each out before it comes back");
}

#[test]
fn local_histories_learn_patterns_of_up_to_five_and_forward_branches_are_first_thought_not_taken() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    let backwards = |period: u64, n: u64| -> Vec<_> {
        (0..n).map(|i| (IF, 1000, 1002, 900, i % period != period - 1)).collect()
    };
    // A loop of four: three times taken, then not. What four outcomes do not tell apart is learned within a few rounds.
    let (btb, wrong) = replay.branches(["local", "0"], &backwards(4, 4000));
    assert_eq!(btb, 1);
    assert!(wrong <= 2, "a period of four is learned: {wrong}");
    let (_, wrong) = replay.branches(["local", "0"], &backwards(10, 4000));
    assert_eq!(wrong, 400, "the end of a loop of ten is not foreseen with four outcomes");
    let never: Vec<_> = (0..100).map(|_| (IF, 1000, 1002, 2000, false)).collect();
    assert_eq!(
        replay.branches(["local", "0"], &never),
        (100, 0),
        "not taken: it never enters the BTB, and is foretold so"
    );
    let (_, wrong) = replay.branches(["gshare", "12"], &backwards(10, 4000));
    assert!(wrong < 100, "a long history foresees the end of a loop of ten: {wrong}");
}

#[test]
fn sixteen_calls_deep_all_returns_are_foretold_and_the_seventeenth_is_not() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    let nest = |depth: u64| -> Vec<_> {
        let calls = (0..depth).map(|i| (CALL, i * 100, i * 100 + 5, (i + 1) * 100, true));
        let returns = (0..depth).rev().map(|i| (RETURN, i * 100 + 150, i * 100 + 151, i * 100 + 5, true));
        calls.chain(returns).collect()
    };
    assert_eq!(replay.branches(["local", "0"], &nest(16)).1, 0);
    assert_eq!(replay.branches(["local", "0"], &nest(17)).1, 1);
    // An indirect call that goes elsewhere each second time is foretold wrongly each time but never where it stays.
    let there = |i: u64| if i.is_multiple_of(2) { 500 } else { 700 };
    let wandering: Vec<_> = (0..100).map(|i| (CALL_INDIRECT, 10, 12, there(i), true)).collect();
    assert_eq!(replay.branches(["local", "0"], &wandering), (1, 100));
    let steady: Vec<_> = (0..100).map(|_| (JUMP_INDIRECT, 10, 12, 500, true)).collect();
    assert_eq!(replay.branches(["local", "0"], &steady), (1, 1));
}

#[test]
fn branches_of_x86_are_told_from_all_else_with_their_targets() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    // Bytes and what they are, from the Intel manual's volume 2.
    let known: [(&str, u32, u64, u32); 22] = [
        ("75fe", IF, 1000, 0),        // jnz to itself
        ("0f84f6ffffff", IF, 996, 0), // jz, 32 bits
        ("e3f0", IF, 986, 0),         // jrcxz
        ("2e7402", IF, 1005, 0),      // with a hint
        ("eb10", JUMP, 1018, 0),
        ("e900010000", JUMP, 1261, 0),
        ("f2e8fbffffff", CALL, 1001, 0),   // bnd call
        ("ffd0", CALL_INDIRECT, 0, 0),     // call rax
        ("41ff5308", CALL_INDIRECT, 0, 0), // call [r11+8]
        ("3effe0", JUMP_INDIRECT, 0, 0),   // notrack jmp rax
        ("ff2500000000", JUMP_INDIRECT, 0, 0),
        ("c3", RETURN, 0, 0),
        ("f3c3", RETURN, 0, 0), // rep ret: it does not repeat
        ("c20800", RETURN, 0, 0),
        ("ffc0", 0, 0, 0),     // inc eax
        ("ff30", 0, 0, 0),     // push [rax]
        ("0f05", 0, 0, 0),     // syscall
        ("48cf", 0, 0, 0),     // iretq
        ("f3a4", 0, 0, 1),     // rep movsb
        ("f348ab", 0, 0, 1),   // rep stosq
        ("a4", 0, 0, 0),       // movsb, once
        ("f30f6f00", 0, 0, 0), // movdqu: the prefix is a part of it
    ];
    let expected = known.map(|(hex, kind, target, repeats)| (hex, format!("{kind} {target} {repeats} 0 ")));
    check_decoded(&replay, "x86_64", &expected.each_ref().map(|(hex, begins)| (*hex, begins.as_str())));
}

/// Instructions at address 1000, by their bytes, and how the line begins that the decoder says of them.
fn check_decoded(replay: &Replay, architecture: &str, known: &[(&str, &str)]) {
    let text: String = known.iter().map(|(hex, _)| format!("1000 {hex}\n")).collect();
    let got = replay.run(&["decode", architecture], &text);
    for ((hex, begins), line) in known.iter().zip(got.lines()) {
        assert!(line.starts_with(begins), "{hex}: {line}, not {begins}");
    }
    assert_eq!(got.lines().count(), known.len());
}

#[test]
fn atomics_and_marks_of_x86_64_are_told_from_all_else() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    // Kind, target, repeats, atomic, mark, pushes, switches, system call, TLB.
    let known = [
        ("f0480fc108", "0 0 0 3 0 0 0 0 0"),     // lock xadd [rax], rcx
        ("f00fb111", "0 0 0 3 0 0 0 0 0"),       // lock cmpxchg [rcx], edx
        ("0fb111", "0 0 0 0 0 0 0 0 0"),         // without the lock
        ("488708", "0 0 0 3 0 0 0 0 0"),         // xchg [rax], rcx
        ("4887c8", "0 0 0 0 0 0 0 0 0"),         // xchg rax, rcx
        ("0f188001534141", "0 0 0 0 0 0 0 0 0"), // a prefetch
        ("0f1f8001534141", "0 0 0 0 1 0 0 0 0"), // the marks
        ("0f1f8003534141", "0 0 0 0 3 0 0 0 0"),
        ("0f1f8004534141", "0 0 0 0 0 0 0 0 0"), // none of this number
        ("4155", "0 0 0 0 0 1 0 0 0"),           // push r13
        ("488ba6180c0000", "0 0 0 0 0 0 1 0 0"), // mov rsp, [rsi+0xc18]
        ("0f05", "0 0 0 0 0 0 0 1 0"),           // syscall
        ("0f22d8", "0 0 0 0 0 0 0 0 1"),         // mov cr3, rax
    ];
    check_decoded(&replay, "x86_64", &known);
}

#[test]
fn instructions_of_aarch64_are_told_by_their_words() {
    let Some(replay) = Replay::build() else { skip!("no C compiler") };
    // As LLVM's assembler encodes them.
    let known = [
        ("02000014", "2 1008 0 0 0"),      // b .+8
        ("fcffff17", "2 984 0 0 0"),       // b .-16
        ("00040094", "3 5096 0 0 0"),      // bl .+4096
        ("c1ffff54", "1 992 0 0 0"),       // b.ne .-8
        ("630000b4", "1 1012 0 0 0"),      // cbz x3, .+12
        ("e3ffff35", "1 996 0 0 0"),       // cbnz w3, .-4
        ("830040b6", "1 1016 0 0 0"),      // tbz x3, #40, .+16
        ("a3ff0f37", "1 988 0 0 0"),       // tbnz w3, #1, .-12
        ("60001fd6", "4 0 0 0 0"),         // br x3
        ("60003fd6", "5 0 0 0 0"),         // blr x3
        ("c0035fd6", "6 0 0 0 0"),         // ret
        ("ff0b5fd6", "6 0 0 0 0"),         // retaa
        ("e0039fd6", "0 0 0 0 0"),         // eret
        ("010000d4", "0 0 0 0 0 0 0 1 0"), // svc #0
        ("020000d4", "0 0 0 0 0 0 0 0 0"), // hvc #0
        ("fd7bbea9", "0 0 0 0 0 1 0 0 0"), // stp x29, x30, [sp, #-32]!
        ("fd7b02a9", "0 0 0 0 0 0 0 0 0"), // stp x29, x30, [sp, #32]
        ("a08308d5", "0 0 0 0 0 0 0 0 1"), // tlbi vale1is, x0
        ("20750bd5", "0 0 0 0 0 0 0 0 0"), // ic ivau, x0
        ("1e0140f9", "0 0 0 0 0 0 0 0 0"), // ldr x30, [x8], which is the kernel's alone
        ("3f20e8d2", "0 0 0 0 1"),         // mark 1
        ("7f20e8d2", "0 0 0 0 3"),         // mark 3
        ("9f20e8d2", "0 0 0 0 0"),         // no mark has this number
        ("1f20e8d2", "0 0 0 0 0"),         // nor this one
        ("2120e8d2", "0 0 0 0 0"),         // movz x1, #0x4101, lsl #48
        ("017c5f88", "0 0 0 1 0 0"),       // ldxr w1, [x0]
        ("017c5f08", "0 0 0 1 0 0"),       // ldxrb w1, [x0]
        ("01fc5f48", "0 0 0 1 0 0"),       // ldaxrh w1, [x0]
        ("01087f88", "0 0 0 1 0 0"),       // ldxp w1, w2, [x0]
        ("01887fc8", "0 0 0 1 0 0"),       // ldaxp x1, x2, [x0]
        ("017c0388", "0 0 0 2 0 0"),       // stxr w3, w1, [x0]
        ("01fc0308", "0 0 0 2 0 0"),       // stlxrb w3, w1, [x0]
        ("017c0348", "0 0 0 2 0 0"),       // stxrh w3, w1, [x0]
        ("01082388", "0 0 0 2 0 0"),       // stxp w3, w1, w2, [x0]
        ("018823c8", "0 0 0 2 0 0"),       // stlxp w3, x1, x2, [x0]
        ("020021f8", "0 0 0 3 0 0"),       // ldadd x1, x2, [x0]
        ("0210e1b8", "0 0 0 3 0 0"),       // ldclral w1, w2, [x0]
        ("02202138", "0 0 0 3 0 0"),       // ldeorb w1, w2, [x0]
        ("1f3021f8", "0 0 0 3 0 0"),       // stset x1, [x0]
        ("0240a1f8", "0 0 0 3 0 0"),       // ldsmaxa x1, x2, [x0]
        ("025061f8", "0 0 0 3 0 0"),       // ldsminl x1, x2, [x0]
        ("02602178", "0 0 0 3 0 0"),       // ldumaxh w1, w2, [x0]
        ("027021f8", "0 0 0 3 0 0"),       // ldumin x1, x2, [x0]
        ("028021f8", "0 0 0 3 0 0"),       // swp x1, x2, [x0]
        ("0280e138", "0 0 0 3 0 0"),       // swpalb w1, w2, [x0]
        ("027ca1c8", "0 0 0 3 0 0"),       // cas x1, x2, [x0]
        ("02fce108", "0 0 0 3 0 0"),       // casalb w1, w2, [x0]
        ("047c2208", "0 0 0 3 0 0"),       // casp w2, w3, w4, w5, [x0]
        ("04fc6248", "0 0 0 3 0 0"),       // caspal x2, x3, x4, x5, [x0]
        ("01fcdfc8", "0 0 0 0 0 0"),       // ldar x1, [x0]
        ("01fc9fc8", "0 0 0 0 0 0"),       // stlr x1, [x0]
        ("017cdfc8", "0 0 0 0 0 0"),       // ldlar x1, [x0]
        ("017c9f08", "0 0 0 0 0 0"),       // stllrb w1, [x0]
        ("01c0bff8", "0 0 0 0 0 0"),       // ldapr x1, [x0]
        ("016862f8", "0 0 0 0 0 0"),       // ldr x1, [x0, x2]
        ("010840a9", "0 0 0 0 0 0"),       // ldp x1, x2, [x0]
        ("010800a8", "0 0 0 0 0 0"),       // stnp x1, x2, [x0]
        ("0168e23c", "0 0 0 0 0 0"),       // ldr q1, [x0, x2]
        ("0070404c", "0 0 0 0 0 0"),       // ld1 {v0.16b}, [x0]
        ("0068a1f8", "0 0 0 0 0 0"),       // prfm pldl1keep, [x0, x1]
        ("010840f8", "0 0 0 0 0 0"),       // ldtr x1, [x0]
        ("013040f8", "0 0 0 0 0 0"),       // ldur x1, [x0, #3]
        ("5f3f03d5", "0 0 0 0 0 0"),       // clrex
        ("bf3b03d5", "0 0 0 0 0 0"),       // dmb ish
    ];
    check_decoded(&replay, "aarch64", &known);
}
