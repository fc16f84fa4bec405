//! Recordings give back what was copied, and nothing that is read as one panics.

use super::*;
use crate::target::{ALTERNATING_BYTES, Target};
use crate::{LiveProcess, ProcRoot};
use proptest::prelude::*;

const BYTES_MAX: u64 = 256 << 20;

fn mapping(addresses: Range<u64>) -> Mapping {
    Mapping { addresses, permissions: *b"rw-p", device: "00:00".to_owned(), ..Mapping::default() }
}

fn small() -> Recording {
    let code = Mapping { inode: 7, name: "/lib/x.so".to_owned(), ..mapping(0x9000..0xb000) };
    let thread = ThreadFacts { tid: 5, tid_inside: 1, name: "main".to_owned(), stack_pointer: Some(0x1234) };
    let made = Recording::of_nothing(8)
        .with_mapping(mapping(0x4000..0x6000), &[1, 2, 3, 4, 5, 6, 7, 8])
        .and_then(|r| r.with_mapping(code, &[9; 0x2000]))
        .and_then(|r| r.with_mapping(mapping(0x6000..0x7000), &[4]))
        .expect("three mappings");
    let file = MappedFile { key: FileKey::of(&made.mappings[2]), bytes: b"elf".to_vec() };
    Recording { files: vec![file], ..made.with_threads(vec![thread]) }
}

fn written(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.write(&mut bytes).expect("memory takes all");
    bytes
}

fn plain(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.write_plain(&mut bytes).expect("memory takes all");
    bytes
}

/// Uses all of it, as a reader of memory would.
fn use_all(recording: &Recording) {
    for range in recording.recorded_ranges().collect::<Vec<_>>() {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        recording.read(range.start, &mut bytes).expect("recorded");
        assert!(recording.read(range.end - 1, &mut [0; 2]).is_err());
    }
    for mapping in recording.mappings() {
        let _ = (mapping.size_bytes(), recording.pages().resident_bytes_in(mapping.addresses.clone()));
        let _ = (recording.word(mapping.addresses.start), recording.c_string(mapping.addresses.end - 1, 100));
    }
}

#[test]
fn a_live_process_reads_the_same_from_its_recording() {
    let target = Target::start("memory");
    target.stop();
    let live = LiveProcess::open(&ProcRoot::default(), target.pid()).expect("our child");
    let recording = Recording::capture(&live, |m| m.name != "[vsyscall]", BYTES_MAX).expect("small");
    let file = written(&recording);
    println!("{} bytes of memory take {} bytes", recording.recorded_bytes(), file.len());
    let again = Recording::read(file.as_slice(), BYTES_MAX).expect("just written");
    assert_eq!(again, recording);
    assert_eq!(again.recorded_bytes(), live.rss_bytes());
    assert_eq!((again.mappings(), again.pages()), (live.mappings(), live.pages()));
    assert_eq!((again.pid(), again.word_bytes()), (live.pid(), live.word_bytes()));
    let at = target.told["alternating"];
    for address in (at..at + ALTERNATING_BYTES as u64).step_by(1000) {
        assert_eq!(again.u64(address), live.u64(address), "{address:x}");
    }
    assert!(matches!(Recording::capture(&live, |_| true, 1 << 20), Err(RecordingError::TooLarge { .. })));
    assert!(matches!(Recording::read(file.as_slice(), 1 << 20), Err(RecordingError::TooLarge { .. })));
}

#[test]
fn mapped_files_are_embedded_or_opened_on_request_if_they_are_the_very_ones() {
    let live = LiveProcess::open(&ProcRoot::default(), std::process::id()).expect("this process");
    let library = live.mappings().iter().find(|m| m.name.ends_with(".so.6")).expect("a library").clone();
    let text = |file: io::Result<File>| {
        let mut bytes = Vec::new();
        file.and_then(|mut f| f.read_to_end(&mut bytes)).expect("a file");
        bytes
    };
    let theirs = std::fs::read(&library.name).expect("a library");
    let paths = Recording::capture(&live, |_| false, 0).expect("no bytes");
    assert!(paths.open_mapped_file(&library).is_err() && !paths.paths_are_of_this_machine());
    let asked = OpeningFiles(&paths);
    assert!(text(asked.open_mapped_file(&library)) == theirs && asked.paths_are_of_this_machine());
    assert_eq!(paths.read(live.pages().runs()[0].addresses.start, &mut [0]), Err(ReadError::Absent));
    let elsewhere = Mapping { inode: library.inode + 1, ..library.clone() };
    assert!(asked.open_mapped_file(&elsewhere).is_err());
    let is_library = |m: &Mapping| m.inode == library.inode;
    let embedded = paths.clone().with_files(&live, is_library, BYTES_MAX).expect("a library");
    let again = Recording::read(written(&embedded).as_slice(), BYTES_MAX).expect("just written");
    assert!(text(again.open_mapped_file(&library)) == theirs);
    assert!(text(OpeningFiles(&again).open_mapped_file(&library)) == theirs);
    assert!(matches!(paths.with_files(&live, is_library, 5), Err(RecordingError::TooLarge { .. })));
}

#[test]
fn bytes_can_be_changed_where_they_are_recorded() {
    let made = small();
    assert_eq!(made.u64(0x4000), Some(0x0807_0605_0403_0201));
    let changed = made.with_bytes(0x5fff, &[7, 8]).expect("across two mappings");
    assert_eq!((changed.u8(0x5fff), changed.u8(0x6000)), (Some(7), Some(8)));
    let mut changed = changed;
    assert_eq!(changed.set_bytes(0x6fff, &[1, 2]), Err(ReadError::Absent));
    assert_eq!(changed.set_bytes(0x7000, &[1]), Err(ReadError::Unmapped));
    assert_eq!(changed.set_bytes(u64::MAX, &[1]), Err(ReadError::Unmapped));
    assert_eq!(changed.recorded_ranges().collect::<Vec<_>>(), [0x4000..0x7000, 0x9000..0xb000]);
    assert_eq!(changed.pages().resident_bytes(), 0x5000);
}

#[test]
fn mappings_that_cannot_be_are_refused() {
    for addresses in [0x5000..0x7000, 0x6000..0x6000, 0x3000..0x5000, 0x4000..0x6000, 0x1001..0x2000] {
        let added = small().with_mapping(mapping(addresses.clone()), &[]);
        assert!(added.is_err(), "{addresses:x?}");
    }
    assert!(small().with_mapping(mapping(0x1000..0x2000), &[0; 0x1001]).is_err());
    assert!(small().with_mapping(mapping(0x7000..0x9000), &[1]).is_ok());
}

#[test]
fn what_is_no_recording_says_so() {
    let good = written(&small());
    let message = |bytes: &[u8]| Recording::read(bytes, BYTES_MAX).expect_err("no recording").to_string();
    assert!(message(b"ELF is not it").contains("does not begin with ASSAYMEM"));
    let mut later = good.clone();
    later[8] = 2;
    assert!(message(&later).contains("another version"), "{}", message(&later));
    for cut in 0..good.len() {
        assert!(Recording::read(&good[..cut], BYTES_MAX).is_err(), "cut at {cut}");
    }
}

/// Heads that lie: each one alone makes the recording unreadable.
#[test]
fn heads_that_lie_are_refused() {
    let bytes = plain(&small());
    let len = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let head: serde_json::Value = serde_json::from_slice(&bytes[8..8 + len]).expect("JSON");
    let lies = [
        ("/word_bytes", serde_json::json!(5)),
        ("/page_bytes", serde_json::json!(0)),
        ("/page_bytes", serde_json::json!(2048)),
        ("/page_bytes", serde_json::json!(1u64 << 40)),
        ("/mappings/0/addresses/start", serde_json::json!(u64::MAX)),
        ("/mappings/1/addresses/start", serde_json::json!(0x5000)),
        ("/pages/0/1", serde_json::json!(0)),
        ("/pages/0/1", serde_json::json!(u64::MAX)),
        ("/ranges/0/end", serde_json::json!(1u64 << 60)),
        ("/ranges/0/end", serde_json::json!(0x9000)),
        ("/ranges/1/start", serde_json::json!(-1)),
        ("/files/0/bytes", serde_json::json!(u64::MAX)),
        ("/threads", serde_json::json!({})),
    ];
    for (place, lie) in lies {
        let mut head = head.clone();
        *head.pointer_mut(place).expect(place) = lie.clone();
        let text = serde_json::to_vec(&head).expect("JSON");
        let mut lying = (text.len() as u64).to_le_bytes().to_vec();
        lying.extend_from_slice(&text);
        lying.extend_from_slice(&bytes[8 + len..]);
        assert!(Recording::read_plain(&mut lying.as_slice(), BYTES_MAX).is_err(), "{place} {lie}");
    }
}

/// Files that once were inputs of this kind, kept; they grow by what a fuzzer finds.
#[test]
fn the_seeds_do_not_panic() {
    let folder = assay_testkit::testdata("linux/recordings");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("seeds").flatten() {
        let bytes = std::fs::read(entry.path()).expect("a seed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let read = Recording::read(bytes.as_slice(), 1 << 20);
        assert_eq!(read.is_ok(), name.starts_with("good"), "{name}: {:?}", read.err());
        if let Ok(recording) = read {
            use_all(&recording);
        }
        seen += 1;
    }
    assert!(3 <= seen, "{seen}");
}

proptest! {
    #[test]
    fn changed_recordings_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = plain(&small());
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        for end in [bytes.len(), cut.index(bytes.len())] {
            if let Ok(recording) = Recording::read_plain(&mut &bytes[..end], 1 << 20) {
                use_all(&recording);
            }
        }
    }

    #[test]
    fn changed_files_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = written(&small());
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(recording) = Recording::read(bytes.as_slice(), 1 << 20) {
            use_all(&recording);
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Recording::read(bytes.as_slice(), 1 << 20);
        let _ = Recording::read_plain(&mut bytes.as_slice(), 1 << 20);
    }
}
