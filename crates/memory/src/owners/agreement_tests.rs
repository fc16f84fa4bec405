//! Inferred owners against the tags of native memory tracking, which were hidden from the search.

use super::rules::of_tag;
use crate::jvm::Jvm;
use crate::options::ReadOptions;
use crate::snapshot::{Snapshot, take};
use assay_allocators::BlockState;
use assay_linux::{CachedMemory, LiveProcess, MemorySource, ProcRoot};
use assay_testkit::{each_java, skip, start_java};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How the bytes of tracked blocks were attributed.
#[derive(Default)]
struct Agreement {
    bytes: u64,
    agreed_bytes: u64,
    /// Chunks of arenas, in neither sum: their tag does not name the arena's owner, so that nothing can agree with it.
    chunk_bytes: u64,
    owned_chunk_bytes: u64,
    /// By tag, area and entry that were inferred: bytes and blocks.
    told: BTreeMap<(String, String), (u64, u64)>,
}

fn agreement(source: &dyn MemorySource) -> Agreement {
    let options = ReadOptions { ignore_nmt: true, ..ReadOptions::default() };
    let memory = CachedMemory::new(source);
    let Snapshot { entries, jvm, survey, claims, .. } = take(&memory, Jvm::find(&memory), &options, &[]);
    let nmt = &jvm.as_ref().expect("a JVM").nmt;
    let mut agreement = Agreement::default();
    for (i, block) in (0..).zip(&survey.blocks).filter(|(_, b)| b.state == BlockState::Used) {
        let mut bytes = vec![0; usize::try_from(block.bytes.min(1 << 20)).expect("small")];
        if source.read(block.address, &mut bytes).is_err() {
            continue;
        }
        let Some(header) = nmt.header_of(source, block.address, &bytes, block.bytes) else { continue };
        let tag = nmt.tags[usize::from(header.tag)].clone();
        let key = claims.owners.get(i).map(|entry| entries.key(entry));
        let told =
            key.map_or("nobody".to_owned(), |key| format!("{}/{}", key.area.title(), key.below.join("/")));
        if tag == "Arena Chunk" {
            agreement.chunk_bytes += header.asked_bytes;
            agreement.owned_chunk_bytes += if key.is_some() { header.asked_bytes } else { 0 };
            continue;
        }
        let agreed = key.is_some_and(|key| key.area == of_tag(&tag).0);
        agreement.bytes += header.asked_bytes;
        agreement.agreed_bytes += if agreed { header.asked_bytes } else { 0 };
        let mark = if agreed { ' ' } else { '!' };
        let entry = agreement.told.entry((format!("{mark} {tag}"), told)).or_default();
        entry.0 += header.asked_bytes;
        entry.1 += 1;
    }
    agreement
}

impl Agreement {
    fn share(&self) -> f64 {
        self.agreed_bytes as f64 / self.bytes as f64
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{:.2} % of {} bytes agree; {} of {} bytes in chunks of arenas have an owner\n",
            100.0 * self.share(),
            self.bytes,
            self.owned_chunk_bytes,
            self.chunk_bytes
        );
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_by_key(|(_, (bytes, _))| std::cmp::Reverse(*bytes));
        for ((tag, told), (bytes, blocks)) in told.into_iter().take(60) {
            let _ = writeln!(text, "{bytes:>12} {blocks:>8} {tag:<28} {told}");
        }
        text
    }
}

#[test]
fn owners_agree_with_the_tags_that_were_hidden() {
    let mut ran = false;
    for (feature, java) in each_java(64) {
        ran = true;
        let jvm = start_java(&java, &["-XX:NativeMemoryTracking=summary", "-Xmx128m"], &[], "Waiting");
        jvm.freeze();
        let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let agreement = agreement(&source);
        println!("JDK {feature}: {}", agreement.text());
        assert!(0.97 <= agreement.share(), "JDK {feature}: {}", agreement.text());
    }
    if !ran {
        skip!("no 64-bit JDK 17 or 25");
    }
}

/// For a server of your own, started with `-XX:NativeMemoryTracking=summary`:
/// `ASSAY_TEST_PID=1234 cargo test -p assay-memory --lib agreement -- --nocapture`
#[test]
fn owners_of_a_given_process_agree_with_its_tags() {
    let Some(pid) = std::env::var("ASSAY_TEST_PID").ok().and_then(|pid| pid.parse().ok()) else {
        skip!("no process given: ASSAY_TEST_PID")
    };
    let source = LiveProcess::open(&ProcRoot::default(), pid).expect("a process that can be read");
    let agreement = agreement(&source);
    println!("{}", agreement.text());
    assert!(0.97 <= agreement.share());
}
