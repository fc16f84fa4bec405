//! The older way of reading a page map held against the newer one.

use super::*;
use crate::LiveProcess;
use crate::MemorySource;
use crate::target::Target;

#[test]
fn both_ways_give_the_same_pages() {
    let target = Target::start("memory");
    target.stop();
    let proc = ProcRoot::default();
    let by_call = LiveProcess::open(&proc, target.pid()).expect("our child");
    assert!(by_call.pages().huge().is_some(), "the call says which pages are huge");
    let by_entries = LiveProcess::open_by(&proc, target.pid(), Method::Entries).expect("our child");
    if by_entries.problems().is_empty() {
        assert_eq!(by_call.pages().runs(), by_entries.pages().runs());
    } else {
        // Without root the pages of zeros are counted, and that is said.
        assert!(by_call.pages().resident_bytes() < by_entries.pages().resident_bytes());
        assert!(by_entries.problems()[0].text.contains("page of zeros"), "{:?}", by_entries.problems());
    }
}

#[test]
fn pages_that_are_read_beside_the_mappings_are_the_same() {
    let target = Target::start("memory");
    target.stop();
    let proc = ProcRoot::default();
    let (one_by_one, at_once) =
        (LiveProcess::open(&proc, target.pid()), LiveProcess::open_stopped(&proc, target.pid()));
    let (one_by_one, at_once) = (one_by_one.expect("our child"), at_once.expect("our child"));
    assert_eq!(one_by_one.pages(), at_once.pages());
    // Other processes that begin or cease to map the same libraries meanwhile, as every test of this program does, change the share of this
    // one, and which of its pages are its own.
    let without_shares = |mappings: &[Mapping]| -> Vec<Mapping> {
        let without =
            |of: &Mapping| Mapping { pss_bytes: None, private_bytes: None, shared_bytes: None, ..of.clone() };
        mappings.iter().map(without).collect()
    };
    assert_eq!(without_shares(one_by_one.mappings()), without_shares(at_once.mappings()));
    assert_eq!(at_once.rss_bytes(), at_once.pages().resident_bytes());
    assert!(one_by_one.pages().runs().len() > 1000, "every other page of a part is resident");
}

#[test]
fn a_huge_page_behind_more_regions_than_the_kernel_notes_at_a_time_is_found_once() {
    let target = Target::start("memory");
    target.stop();
    let proc = ProcRoot::default();
    let at = target.told["regions_then_huge"];
    let file = File::open(proc.file_of(target.pid(), "pagemap")).expect("our child");
    let part = ResidentPart { addresses: at..at + (8 << 20), resident_bytes: 8 << 20 };
    let mut found = Found::default();
    Reader::new(&proc, file, Method::Any).scan(&[part], &mut found).expect("our child");
    assert_eq!(found.runs.len(), 769);
    // A machine whose memory is in pieces gives no huge page.
    let expected = at + (6 << 20)..at + (8 << 20);
    assert!(found.huge.is_empty() || found.huge == [expected], "{:x?}", found.huge);
}

#[test]
fn present_pages_count_in_mappings_with_resident_bytes_only() {
    let run = |addresses: Range<u64>, is_file| PageRun { addresses, is_file };
    let runs = vec![run(4096..12288, true), run(12288..16384, false), run(40960..49152, false)];
    let huge = vec![4096..12288, 40960..49152];
    let present = Present { found: Found { runs, huge }, page_bytes: 4096 };
    let mapping = |addresses: Range<u64>, rss_bytes, hugetlb| Mapping {
        addresses,
        rss_bytes,
        hugetlb_bytes: Some(hugetlb),
        ..Mapping::default()
    };
    let mappings = [mapping(0..8192, 4096, 0), mapping(8192..16384, 0, 0), mapping(45056..53248, 0, 4096)];
    let Pages { resident, hugetlb, problems } = present.of(&mappings);
    assert_eq!(resident.runs(), [run(4096..8192, true)]);
    assert_eq!(resident.huge(), Some(std::slice::from_ref(&(4096..8192))));
    assert_eq!(hugetlb.runs(), [run(45056..49152, false)]);
    assert!(problems.is_empty());
}

#[test]
fn entries_without_frames_say_what_they_cannot_tell() {
    let target = Target::start("memory");
    target.stop();
    let proc = ProcRoot::default();
    let live = LiveProcess::open(&proc, target.pid()).expect("our child");
    let mut entries = Entries { flags: None, ..Entries::new(&proc) };
    let file = File::open(format!("/proc/{}/pagemap", target.pid())).expect("our child");
    let (mut runs, at) = (Vec::new(), target.told["alternating"]);
    let part = ResidentPart { addresses: at..at + (1 << 20), resident_bytes: 1 << 20 };
    entries.read(&file, &part, 4096, &mut runs).expect("our child");
    assert_eq!(PageMap::new(runs, 4096).resident_bytes(), live.pages().resident_bytes_in(at..at + (1 << 20)));
    let problems = entries.problems(std::path::Path::new("/proc/1/pagemap"), 4096);
    assert!(problems[0].text.contains("which of 524288 bytes"), "{problems:?}");
}

#[test]
fn neighbours_are_asked_for_at_once_and_gaps_are_not() {
    let mapping = |addresses: Range<u64>, rss_bytes| Mapping { addresses, rss_bytes, ..Mapping::default() };
    let mappings =
        [mapping(1..3, 1), mapping(3..5, 1), mapping(5..9, 0), mapping(9..12, 2), mapping(10..13, 1)];
    let parts: Vec<_> = neighbours(&mappings, |m| m.rss_bytes != 0)
        .into_iter()
        .map(|p| (p.addresses, p.resident_bytes))
        .collect();
    assert_eq!(parts, [(1..5, 2), (9..12, 2)]);
}

#[test]
fn stacks_with_guards_between_them_are_one_call_and_what_lies_far_away_is_another() {
    let part = |start: u64| ResidentPart { addresses: start..start + 4096, resident_bytes: 4096 };
    let guarded = (0..30_000).map(|i| part(i * 8192));
    let parts: Vec<ResidentPart> = guarded.chain([part(1 << 40), part((1 << 40) + (1 << 20))]).collect();
    assert_eq!(near(&parts).map(<[ResidentPart]>::len).collect::<Vec<_>>(), [30_000, 2]);
}

#[test]
fn what_lies_between_parts_that_are_read_together_is_left_out() {
    let target = Target::start("memory");
    target.stop();
    let at = target.told["alternating"];
    // Page 2, which is resident too, is not asked for.
    let mapping = |page: u64| Mapping {
        addresses: at + page * 4096..at + (page + 1) * 4096,
        rss_bytes: 4096,
        ..Mapping::default()
    };
    let pages = read_pages(&ProcRoot::default(), target.pid(), &[mapping(0), mapping(4)], Method::Any);
    let pages = pages.expect("our child").resident;
    let runs: Vec<_> = pages.runs().iter().map(|run| run.addresses.clone()).collect();
    assert_eq!(runs, [mapping(0).addresses, mapping(4).addresses]);
}

#[test]
fn runs_grow_only_forward() {
    let mut runs = Vec::new();
    for (addresses, is_file) in
        [(1..3, false), (3..4, false), (2..9, true), (4..6, true), (6..6, false), (8..9, true)]
    {
        push(&mut runs, addresses, is_file);
    }
    let runs: Vec<_> = runs.into_iter().map(|r| (r.addresses, r.is_file)).collect();
    assert_eq!(runs, [(1..4, false), (4..6, true), (8..9, true)]);
}
