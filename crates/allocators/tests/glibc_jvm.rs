//! Java virtual machines: the gain of a trim, and the books of their malloc, by the JVM's own diagnostic commands.

use crate::blocks_program;
use assay_allocators::{BlockState, Survey, survey};
use assay_linux::{LiveProcess, ProcRoot};
use assay_model::Allocator;
use assay_testkit::{Running, find_java, skip, start_buffers};

/// What a diagnostic command prints; `None` if this JVM does not have it.
fn jcmd(jvm: &Running, command: &str) -> Option<String> {
    let said = jvm.jcmd(&[command]);
    (!said.contains("Unknown diagnostic command")).then_some(said)
}

/// Of a JVM that stands still meanwhile: the lists of one that allocates break off.
fn survey_of(jvm: &Running) -> Survey {
    jvm.freeze();
    let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("java is alive");
    let survey = survey(&source, &[]);
    jvm.thaw();
    survey
}

fn rss_bytes(jvm: &Running) -> u64 {
    let rollup = ProcRoot::default().read_smaps_rollup(jvm.pid()).expect("java is alive");
    rollup.expect("a kernel with smaps_rollup").rss_bytes
}

#[test]
fn the_predicted_gain_is_what_the_jvm_s_own_trim_gives() {
    let mut jvms = 0;
    for (feature, options, buffers) in [
        (17, "-Xmx64m -XX:+UseSerialGC", 3000),
        (17, "-Xmx64m -XX:+UseG1GC", 8000),
        (25, "-Xmx64m -XX:+UseSerialGC", 8000),
        (25, "-Xmx64m -XX:+UseParallelGC", 3000),
    ] {
        let Some(java) = find_java(feature, 64) else { continue };
        let options: Vec<_> = options.split(' ').collect();
        let jvm = start_buffers(&java, &options, buffers);
        // The first command starts the thread that answers commands, and what the JVM compiles takes memory meanwhile.
        let _ = jcmd(&jvm, "VM.version");
        jvm.rest();
        let before = rss_bytes(&jvm);
        let survey = survey_of(&jvm);
        let predicted = survey.trim_gain_bytes.expect("glibc can be trimmed");
        if jcmd(&jvm, "System.trim_native_heap").is_none() {
            continue;
        }
        let gain = before.saturating_sub(rss_bytes(&jvm));
        println!(
            "JDK {feature} {options:?}: {predicted} predicted, {gain} given back; {:?}",
            survey.problems
        );
        assert!(
            predicted.abs_diff(gain) <= (gain / 100).max(64 << 10),
            "JDK {feature} {options:?}: {predicted} {gain}"
        );
        assert!(4 << 20 < gain, "JDK {feature} {options:?}: nothing to speak of was given back");
        assert_eq!(survey.problems, [], "JDK {feature} {options:?}");
        jvms += 1;
    }
    if jvms == 0 {
        skip!("no JVM with System.trim_native_heap");
    }
}

/// The thread that answers allocates while it does; the other arenas must agree to the byte.
#[test]
fn arenas_add_up_to_what_native_heap_info_says() {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25") };
    let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000);
    let _ = jcmd(&jvm, "VM.version");
    jvm.rest();
    let before = survey_of(&jvm);
    let Some(text) = jcmd(&jvm, "System.native_heap_info") else { skip!("no System.native_heap_info") };
    let after = survey_of(&jvm);
    let (heaps, mapped) = blocks_program::parse_malloc_info(&text);
    assert_eq!(heaps.len(), after.arenas.len());
    let seen = |survey: &Survey, index: usize| {
        let facts = &survey.arenas[index].facts;
        let is_binned =
            |b: &assay_allocators::Block| usize::from(b.arena) == index && b.state == BlockState::Binned;
        let binned = survey.blocks.iter().filter(is_binned).count() as u64;
        let rest = facts.bins_bytes.expect("bins") + facts.top_bytes.expect("a top");
        (facts.system_bytes, facts.fast_bins_bytes.expect("fast bins"), binned + 1, rest)
    };
    let mut equal = 0;
    for (index, heap) in heaps.iter().enumerate() {
        let said = (heap.system, heap.fast.1, heap.rest.0, heap.rest_bytes());
        let is_quiet =
            before.arenas.len() == after.arenas.len() && seen(&before, index) == seen(&after, index);
        println!("arena {index}: said {said:?}, seen {:?}, quiet: {is_quiet}", seen(&after, index));
        if said == seen(&after, index) {
            equal += 1;
        } else {
            assert!(!is_quiet || said.0 == seen(&after, index).0, "arena {index} differs and did not change");
        }
    }
    assert!(heaps.len() <= equal + 2 && 1 < equal, "{equal} of {} arenas agree", heaps.len());
    println!("mapped: said {mapped:?}");
}

#[test]
fn a_32_bit_jvm_is_walked_and_its_trim_predicted() {
    let Some(java) = find_java(17, 32) else { skip!("no JVM of 32 bits") };
    let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 1500);
    // As above.
    let _ = jcmd(&jvm, "VM.version");
    jvm.rest();
    let before = rss_bytes(&jvm);
    let survey = survey_of(&jvm);
    assert_eq!(survey.allocator, Some(Allocator::Glibc));
    assert_eq!(survey.problems, []);
    assert!(survey.not_walkable.is_empty(), "{:x?}", survey.not_walkable);
    assert!(2 < survey.arenas.len() && 2000 < survey.blocks.len());
    println!("{} arenas, {} blocks, {:?}", survey.arenas.len(), survey.blocks.len(), survey.trim_gain_bytes);
    // Direct buffers of 64 B to 64 KiB, of which one in twenty was kept.
    let states = |state| survey.blocks.iter().filter(|block| block.state == state).count();
    println!(
        "{:?}",
        [BlockState::Used, BlockState::Binned, BlockState::Fast, BlockState::ThreadCache].map(states)
    );
    assert!(0 < states(BlockState::ThreadCache) && 0 < states(BlockState::Binned));
    if jcmd(&jvm, "System.trim_native_heap").is_none() {
        skip!("the 32-bit JVM does not answer diagnostic commands");
    }
    let (predicted, gain) = (survey.trim_gain_bytes.expect("glibc"), before.saturating_sub(rss_bytes(&jvm)));
    println!("{predicted} predicted, {gain} given back");
    assert!(
        predicted.abs_diff(gain) <= (gain / 100).max(64 << 10),
        "{predicted} predicted, {gain} given back"
    );
}
