//! Addresses of a made-up `perf_event_open`, and page faults of a program whose pages are known.

use super::*;
use assay_testkit::FakeTree;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;

#[derive(Debug, Clone)]
struct Fake {
    /// Which unit there is.
    unit: Unit,
    /// What opening another gives, or opening for a processor.
    otherwise: Errno,
    cpu: Option<Errno>,
    /// What samples of this thread give for an address; `None`: nothing is sampled.
    own: Option<u64>,
    records: Vec<AddressRecord>,
}

#[derive(Debug)]
struct Recorded(VecDeque<AddressRecord>);

impl Addresses for Recorded {
    fn next(&mut self) -> Option<AddressRecord> {
        self.0.pop_front()
    }
}

impl AddressEvents for Fake {
    fn open(&self, unit: Unit, cpu: Option<u32>) -> io::Result<Box<dyn Addresses>> {
        if unit != self.unit {
            return Err(self.otherwise.into());
        }
        match (cpu, self.cpu) {
            (Some(_), Some(error)) => Err(error.into()),
            (Some(_), None) => Ok(Box::new(Recorded(self.records.clone().into()))),
            (None, _) => {
                let own =
                    self.own.map(|address| AddressRecord::Access { pid: 1, tid: 1, address, is_store: true });
                Ok(Box::new(Recorded(own.into_iter().collect())))
            }
        }
    }
}

fn machine() -> (FakeTree, ProcRoot) {
    let tree = FakeTree::with(&[
        ("proc/sys/kernel/perf_event_paranoid", "2\n"),
        ("proc/stat", "cpu  1 0 5 90 0 0 1 0 0 0\ncpu0 1 0 5 90 0 0 1 0 0 0\n"),
    ]);
    let proc = ProcRoot::at(tree.path().join("proc"));
    (tree, proc)
}

#[test]
fn a_unit_that_is_not_there_or_knows_no_addresses_gives_no_lines_and_says_what_would() {
    let (_tree, proc) = machine();
    let none = Fake { unit: Unit::Ibs, otherwise: Errno::NOENT, cpu: None, own: None, records: Vec::new() };
    let cases = [
        (Fake { unit: Unit::PageFaults, ..none.clone() }, "does not count addresses", "bare metal"),
        (
            Fake { unit: Unit::PageFaults, otherwise: Errno::ACCESS, ..none.clone() },
            "paranoid is 2",
            "CAP_PERFMON",
        ),
        (Fake { unit: Unit::PebsStores, own: None, ..none.clone() }, "of 0 samples", "whose processor"),
        (
            Fake { unit: Unit::PebsStores, own: Some(8), ..none },
            "0 have an address in them",
            "whose processor",
        ),
    ];
    for (fake, why, enable) in cases {
        let said = AddressGauge::of_data_with(&fake, &proc, 7).expect_err("refused");
        assert!(said.why.contains(why) && said.enable.contains(enable), "{fake:?}: {said:?}");
    }
}

#[test]
fn lost_samples_are_counted_and_other_processes_left_out() {
    let (_tree, proc) = machine();
    let access = |pid, tid, address| AddressRecord::Access { pid, tid, address, is_store: true };
    let records = vec![
        access(7, 8, 0x1000),
        access(9, 9, 0x1008),
        AddressRecord::Lost(5),
        access(7, 10, 0x1010),
        AddressRecord::Nothing,
    ];
    let mut gauge = AddressGauge {
        proc,
        pid: 7,
        unit: Unit::Ibs,
        rings: vec![Box::new(Recorded(records.into()))],
        accesses: Vec::new(),
        lost: 0,
    };
    gauge.look();
    let mut problems = Vec::new();
    let data = gauge.data(&mut problems);
    assert_eq!((data.samples, data.lost, data.lines.len()), (2, 5, 1));
    assert!(data.lines[0].is_false_sharing && data.lines[0].place == DataPlace::Unknown);
    assert_eq!(problems.len(), 1, "the process cannot be read: where the line is stays unknown");
}

#[test]
fn page_faults_are_found_where_a_program_touches_its_pages() {
    let proc = ProcRoot::default();
    let Ok(mut gauge) = AddressGauge::of_faults(&proc, std::process::id()) else {
        assay_testkit::skip!("the machine does not let sample page faults")
    };
    // New pages of anonymous memory: 64 MiB are 16,384 faults, of which one in 97 is sampled.
    let mut pages = vec![0u8; 64 << 20];
    pages.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    gauge.look();
    let mut problems = Vec::new();
    let faults = gauge.faults(&mut problems);
    std::hint::black_box(&pages);
    assert_eq!(problems, []);
    assert!(100 <= faults.samples, "{faults:?}");
    assert_eq!(faults.places[0].place, DataPlace::Native, "{faults:?}");
}
