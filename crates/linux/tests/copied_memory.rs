//! A copy of a process's memory stays as the process was, whatever that does afterwards.

use crate::target;
use crate::target::{ALTERNATING_BYTES, MIB, Target};
use assay_linux::{CopiedMemory, CopyRoom, LiveProcess, MemorySource, PageMap, ProcRoot};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{Read, Write};
use std::ops::Range;

const WHOLE_BYTES: usize = 40 * MIB;
const BEFORE: u8 = 1;
const AFTER: u8 = 2;

/// A program with two regions: of the first every other page is resident, and the second is large. On request it
/// fills both anew and stops.
#[test]
fn changing_child() {
    if target::asked_for().is_none() {
        return;
    }
    let page = rustix::param::page_size();
    // A page more: so much memory begins behind a header, and its first whole page is looked for.
    let (mut scattered, mut whole) = (vec![0_u8; ALTERNATING_BYTES + page], vec![0_u8; WHOLE_BYTES + page]);
    let first_page = |bytes: &[u8]| bytes.as_ptr().align_offset(page);
    let at = first_page(&scattered);
    let told = [
        ("scattered", scattered.as_ptr() as usize + at),
        ("whole", whole.as_ptr() as usize + first_page(&whole)),
    ];
    let mut fill = |value: u8| {
        scattered[at..].chunks_mut(page).step_by(2).for_each(|page| page.fill(value));
        whole.fill(value);
    };
    fill(BEFORE);
    told.iter().for_each(|(key, address)| target::tell(key, *address));
    println!("target ready");
    std::io::stdin().read_exact(&mut [0]).expect("a byte");
    fill(AFTER);
    kill_process(getpid(), Signal::STOP).expect("itself");
    std::io::stdin().read_exact(&mut [0]).expect("a byte");
}

fn regions(target: &Target) -> [Range<u64>; 2] {
    let region = |name: &str, bytes: usize| target.told[name]..target.told[name] + bytes as u64;
    let mut regions = [region("scattered", ALTERNATING_BYTES), region("whole", WHOLE_BYTES)];
    regions.sort_by_key(|region| region.start);
    regions
}

fn change(target: &mut Target) {
    target.child.stdin.as_mut().expect("a pipe").write_all(b"x").expect("our child");
    target.wait_for_state('T');
}

/// The first byte of each resident page, of those before and behind an address.
fn first_bytes(memory: &dyn MemorySource, region: &Range<u64>) -> Vec<u8> {
    let pages = memory.pages();
    let parts = pages.resident_in(region.clone());
    parts.flat_map(|part| part.step_by(pages.page_bytes() as usize)).filter_map(|at| memory.u8(at)).collect()
}

fn resident(pages: &PageMap, regions: &[Range<u64>]) -> u64 {
    regions.iter().map(|region| pages.resident_bytes_in(region.clone())).sum()
}

#[test]
fn what_was_copied_stays_and_what_was_not_is_read_as_it_is_now() {
    let mut target = Target::start_test("copied_memory::changing_child", "changing", "");
    let regions = regions(&target);
    let process = LiveProcess::open(&ProcRoot::default(), target.pid()).expect("our child");
    let bytes = resident(process.pages(), &regions);
    assert!((ALTERNATING_BYTES / 2 + WHOLE_BYTES) as u64 <= bytes, "{bytes}");
    let copied = CopiedMemory::copy(process, &regions, CopyRoom::of(bytes, bytes));
    assert_eq!((copied.copied_bytes(), copied.left_out_bytes()), (bytes, 0));
    change(&mut target);
    for region in &regions {
        let seen = first_bytes(&copied, region);
        assert!(!seen.is_empty() && seen.iter().all(|byte| *byte == BEFORE), "{seen:?}");
        assert_eq!(first_bytes(copied.process(), region), vec![AFTER; seen.len()], "the process itself");
    }
    let mut across = vec![0; 9 * MIB];
    let whole = target.told["whole"];
    copied.read(whole + 100, &mut across).expect("over several batches");
    assert!(across.iter().step_by(4096).all(|byte| *byte <= BEFORE));
    assert_eq!(copied.u64(u64::MAX - 3), None);
}

#[test]
fn what_finds_no_room_is_counted_and_read_later() {
    let mut target = Target::start_test("copied_memory::changing_child", "changing", "");
    let regions = regions(&target);
    let process = LiveProcess::open(&ProcRoot::default(), target.pid()).expect("our child");
    let bytes = resident(process.pages(), &regions);
    let room_bytes = 10 * MIB as u64;
    let copied = CopiedMemory::copy(process, &regions, CopyRoom::of(room_bytes, 0));
    assert_eq!((copied.copied_bytes(), copied.left_out_bytes()), (room_bytes, bytes - room_bytes));
    change(&mut target);
    let seen: Vec<u8> = regions.iter().flat_map(|region| first_bytes(&copied, region)).collect();
    let pages = |value: u8| seen.iter().filter(|byte| **byte == value).count() as u64 * 4096;
    assert_eq!((pages(BEFORE), pages(AFTER)), (room_bytes, bytes - room_bytes));
    assert!(!copied.holds(&regions[1]));
}
