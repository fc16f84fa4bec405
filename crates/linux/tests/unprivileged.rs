//! What works without root: everything on processes of the same user, and a refusal that says what lacks on others.

use crate::target::{ALTERNATING_BYTES, Target, asked_for, ready_until_the_test_ends};
use assay_linux::{Freeze, FreezeError, LinuxError, LiveProcess, MemorySource, ProcRoot, ReadError};
use assay_testkit::skip;
use rustix::process::geteuid;
use std::io::Read;
use std::time::Duration;

const NOBODY: u32 = 65534;

/// Looks at two processes: one of its own user, and one of root's. Whatever is wrong ends it before it is ready.
#[test]
fn as_reader() {
    let Some((_, pids)) = asked_for() else { return };
    let (own, other) = pids.split_once(',').expect("two numbers");
    let (own, alternating) = own.split_once(':').expect("with an address");
    look_at_own(own.parse().expect("a number"), alternating.parse().expect("an address"));
    look_at_other(other.parse().expect("a number"));
    ready_until_the_test_ends();
}

fn look_at_own(pid: u32, alternating: u64) {
    let proc = ProcRoot::default();
    let frozen = Freeze::start(&proc, pid, Duration::from_secs(20)).expect("of the same user");
    let live = LiveProcess::open(&proc, pid).expect("of the same user");
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    // Also the pages of zeros are told apart, which the older way tells root only.
    for mapping in live.mappings() {
        assert_eq!(
            live.pages().resident_bytes_in(mapping.addresses.clone()),
            mapping.rss_bytes,
            "{mapping:?}"
        );
    }
    let page = live.pages().page_bytes();
    assert_eq!(live.u8(alternating + 2 * page), Some(1));
    assert_eq!(live.read(alternating + ALTERNATING_BYTES as u64 - page, &mut [0]), Err(ReadError::Absent));
    assert!(live.threads().iter().all(|t| t.stack_pointer.is_some()), "{:?}", live.threads());
    let library = live.mappings().iter().find(|m| m.name.ends_with(".so.6")).expect("a library");
    let mut start = [0; 4];
    live.open_mapped_file(library).and_then(|mut f| f.read_exact(&mut start)).expect("by its path");
    assert_eq!(&start, b"\x7fELF");
    // Deleted: only root may open it still.
    let deleted =
        live.mappings().iter().find(|m| m.is_file() && m.name.ends_with("(deleted)")).expect("a file");
    let error = live.open_mapped_file(deleted).expect_err("only root").to_string();
    assert!(error.contains("only root may open it still"), "{error}");
    assert!(frozen.is_still_frozen());
}

fn look_at_other(pid: u32) {
    let proc = ProcRoot::default();
    let error = LiveProcess::open(&proc, pid).expect_err("of root");
    assert!(matches!(error, LinuxError::Denied { .. }), "{error}");
    let error = error.to_string();
    for part in ["belongs to user 0", "this is user 65534", "without CAP_SYS_PTRACE", "sudo assay ..."] {
        assert!(error.contains(part), "{part}: {error}");
    }
    match Freeze::start(&proc, pid, Duration::from_secs(20)) {
        Err(FreezeError::Denied { denial, .. }) => {
            assert!(denial.cause.contains("belongs to user 0"), "{denial}");
        }
        other => panic!("{other:?}"),
    }
    // What needs no right is there.
    assert!(proc.read_memory_status(pid).expect("for all").rss_bytes.is_some());
    assert!(proc.read_beside_rss(pid).expect_err("of root").to_string().contains("belongs to user 0"));
}

#[test]
fn processes_of_the_same_user_are_read_and_others_refused_with_the_reason() {
    if !geteuid().is_root() {
        skip!("only root can become another user");
    }
    if ProcRoot::default().read_ptrace_scope().expect("a number").is_some_and(|scope| scope != 0) {
        skip!("Yama lets only ancestors read memory here");
    }
    let other = Target::start("waiter");
    let Some(own) = Target::start_as(NOBODY, "target::as_child", "memory", "") else {
        skip!("another user cannot start this test binary");
    };
    let pids = format!("{}:{},{}", own.pid(), own.told["alternating"], other.pid());
    Target::start_as(NOBODY, "unprivileged::as_reader", "reader", &pids).expect("as before");
}
