//! Addresses of data, from the bytes that a kernel writes for AMD's and Intel's units.

use super::super::fake_kernel::{UnitState, access, account, lost};
use assay_counters::kernel::{AddressRecord, Unit};
use assay_counters::{SideGauges, Sides, findings};
use assay_model::{DataPlace, LineUser, TimeReport};
use assay_testkit::skip;
use rustix::io::Errno;

/// The account of a process of which a unit wrote these bytes.
fn with_bytes(bytes: &[u8], is_intel: bool) -> TimeReport {
    account(|kernel| {
        kernel.units.bytes = bytes.to_vec();
        let ibs = if is_intel { UnitState::Refused(Errno::NOENT) } else { UnitState::Right };
        kernel.sample_data(ibs, UnitState::Right);
    })
}

#[test]
fn the_bytes_of_a_sample_are_read_as_the_kernel_writes_them() {
    let of = |is_store| AddressRecord::Access { pid: 7, tid: 8, address: 0x7f00_1234, is_store };
    let (load, store) = (access(7, 8, 0x7f00_1234, false), access(7, 8, 0x7f00_1234, true));
    assert_eq!(AddressRecord::of_bytes(&load, Unit::Ibs), of(false));
    assert_eq!(AddressRecord::of_bytes(&store, Unit::Ibs), of(true));
    // Intel's event counts nothing but stores.
    assert_eq!(AddressRecord::of_bytes(&store, Unit::PebsStores), of(true));
    assert_eq!(AddressRecord::of_bytes(&lost(5), Unit::Ibs), AddressRecord::Lost(5));
    for length in 0..store.len() {
        assert_eq!(AddressRecord::of_bytes(&store[..length], Unit::Ibs), AddressRecord::Nothing, "{length}");
    }
}

#[test]
fn lost_samples_are_counted_and_other_processes_left_out() {
    let bytes =
        [access(7, 8, 0x1000, true), access(9, 9, 0x1008, true), lost(5), access(7, 10, 0x1010, true)];
    let report = with_bytes(&bytes.concat(), false);
    let data = report.data_accesses.expect("a unit");
    assert_eq!((data.samples, data.lost, data.lines.len()), (2, 5, 1));
    assert!(data.lines[0].is_false_sharing && data.lines[0].place == DataPlace::Unknown);
    assert!(!report.problems.is_empty(), "the process cannot be read: where the line is stays unknown");
}

/// Two threads add to a counter each, 40 samples of either: in one line of the caches, or in a line for each.
fn two_counters(apart: u64) -> Vec<u8> {
    let mine = |tid, address| [access(7, tid, address, false), access(7, tid, address, true)].concat();
    let turn = [mine(7, 0x7f00_1240), mine(8, 0x7f00_1240 + apart), access(9, 9, 0x7f00_1240, true)].concat();
    turn.repeat(20)
}

#[test]
fn false_sharing_is_found_by_samples_of_amd_and_of_intel() {
    for (is_intel, source, samples) in [(false, "ibs_op", 80), (true, "cpu/mem-stores", 80)] {
        let report = with_bytes(&two_counters(8), is_intel);
        let data = report.data_accesses.as_ref().expect("a unit");
        assert_eq!((&*data.source, data.samples, data.lines.len()), (source, samples, 1));
        let line = &data.lines[0];
        assert!(line.is_false_sharing && line.address == 0x7f00_1240, "{line:?}");
        let user = |user: &LineUser| (user.tid, user.samples, user.words.clone());
        assert_eq!(line.threads.iter().map(user).collect::<Vec<_>>(), [(7, 40, vec![0]), (8, 40, vec![1])]);
        let found = findings(&report);
        let finding = found.iter().find(|finding| finding.rule == "false-sharing").expect("found");
        assert!(finding.evidence_line().contains("80"), "{finding:?}");
    }
}

#[test]
fn data_in_lines_of_their_own_or_in_the_same_word_is_no_false_sharing() {
    for apart in [64, 4] {
        let report = with_bytes(&two_counters(apart), false);
        assert!(findings(&report).iter().all(|finding| finding.rule != "false-sharing"), "{apart}");
    }
    // Data that is only read may lie in one line.
    let reads = [access(7, 7, 0x1000, false), access(7, 8, 0x1008, false)].concat().repeat(20);
    assert_eq!(with_bytes(&reads, false).data_accesses.expect("a unit").lines, []);
}

#[test]
fn page_faults_are_found_where_a_program_touches_its_pages() {
    let asked = Sides { samples: true, counters: false };
    let mut gauges = SideGauges::start(std::process::id(), asked);
    // New pages of anonymous memory: 64 MiB are 16,384 faults, of which one in 97 is sampled.
    let mut pages = vec![0u8; 64 << 20];
    pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    gauges.read();
    let mut report = account(|kernel| kernel.units.faults = UnitState::Refused(Errno::NOENT));
    let before = report.problems.clone();
    gauges.add_to(&mut report);
    std::hint::black_box(&pages);
    let Some(faults) = &report.fault_places else { skip!("the machine does not let sample page faults") };
    assert_eq!(report.problems, before);
    // Tests beside this one begin to trace, which touches pages (`bpf/unseen.rs`) and frees them: their place is unknown then.
    let native = faults.places.iter().find(|found| found.place == DataPlace::Native);
    assert!(native.is_some_and(|native| 150 <= native.samples), "{faults:?}");
}
