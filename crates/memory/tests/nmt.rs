//! Native memory tracking without jcmd: of the blocks that a frozen JVM counts, those that pointers name better are in other
//! entries, and the rest in those of their tags. That blocks and bytes equal the counters tag by tag is held by
//! `owners/tags_tests.rs`.

use assay_hotspot::Hotspot;
use assay_linux::{LiveProcess, ProcRoot};
use assay_memory::{ReadOptions, read};
use assay_model::FigureSource;
use assay_testkit::{each_release, find_java, skip, start_java};

#[test]
fn entries_of_tags_hold_no_more_blocks_than_the_jvm_counts_and_headers_are_a_entry() {
    let mut ran = false;
    for feature in [17, 21, 25] {
        let Some(java) = find_java(feature, 64) else { continue };
        ran = true;
        let jvm = start_java(&java, &["-XX:NativeMemoryTracking=summary", "-Xmx128m"], &[], "Waiting");
        jvm.freeze();
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let hotspot = Hotspot::open(&source).expect("readable").expect("a JVM");
        let counted: u64 = hotspot.nmt().counters.iter().map(|c| c.malloc_count).sum();
        // Blocks by tag, and the chunks of arenas, whose tag does not name their owner.
        let found: u64 =
            report.entries.iter().filter(|l| l.source == FigureSource::Nmt).filter_map(|l| l.count).sum();
        println!("JDK {feature}: {found} blocks in entries of tags, {counted} counted");
        assert!(0 < found && found <= counted, "{found} {counted}");
        let headers = report.entries.iter().find(|l| l.path.last().is_some_and(|name| name == "NMT headers"));
        assert!(
            headers.is_some_and(|l| l.resident_bytes <= 18 * counted && 16 * counted / 2 < l.resident_bytes)
        );
    }
    if !ran {
        skip!("no 64-bit JDK 17, 21 or 25");
    }
}

/// Chunks of compilers' arenas idle in a pool that is the JVM's internal memory, and are none of it.
#[test]
fn internal_memory_is_what_the_jvm_counts_as_such_on_each_release() {
    /// Tags of memory that nothing else says more of.
    const INTERNAL: [&str; 3] = ["Internal", "Test", "Unknown"];
    /// Around a block: header, footer, rounding.
    const AROUND_BYTES: u64 = 48;
    /// Blocks without a tag to which internal ones lead.
    const UNTAGGED_BYTES: u64 = 256 << 10;
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        // Compilers have just been at work.
        let options = ["-XX:NativeMemoryTracking=summary", "-Xmx128m", "-Xcomp"];
        let jvm = start_java(&java, &options, &[], "Waiting");
        jvm.freeze();
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let nmt = Hotspot::open(&source).expect("readable").expect("a JVM").nmt();
        let of_tags = nmt.counters.iter().filter(|counters| INTERNAL.contains(&counters.tag.as_str()));
        let (counted, blocks) = of_tags.fold((0, 0), |(bytes, blocks), counters| {
            (bytes + counters.malloc_bytes, blocks + counters.malloc_count)
        });
        let of = |area: &str, name: &str| -> u64 {
            let is_it = |path: &[String]| path[0] == area && path[1] == name;
            report
                .entries
                .iter()
                .filter(|entry| is_it(&entry.path))
                .filter_map(|entry| entry.size_bytes)
                .sum()
        };
        let told = of("JVM internal", "internal");
        let idle = of("JIT compiler arenas", "idle chunk pool");
        println!("JDK {feature}: {told} internal, {counted} counted in {blocks} blocks; {idle} idle");
        assert!(0 < counted, "JDK {feature}: {:?}", nmt.tags);
        assert!(
            told <= counted + blocks * AROUND_BYTES + UNTAGGED_BYTES,
            "JDK {feature}: {:#?}",
            report.entries
        );
    }
}
