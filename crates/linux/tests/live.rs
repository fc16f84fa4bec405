//! What is read from the kernel of the machine that runs the tests, held against independent accounts of the same.

use assay_linux::{ProcRoot, ProcessTree, Resource, SysRoot, monotonic_ns, process_cpu, ticks_per_s};
use assay_testkit::skip;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A child that burns CPU time in threads that end, says so, and then waits for its input to end.
const BURN: &str = r"
import sys, threading, time
def burn():
    end = time.thread_time() + 0.3
    while time.thread_time() < end: pass
for _ in range(3):
    thread = threading.Thread(target=burn); thread.start(); thread.join()
sys.stdout.write('x'); sys.stdout.flush()
sys.stdin.read()
";

fn burned() -> Option<Child> {
    let mut child = Command::new("python3")
        .args(["-c", BURN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("the child burns and says so");
    Some(child)
}

fn sleeper() -> Child {
    Command::new("sleep").arg("1000").process_group(0).spawn().expect("sleep runs")
}

fn end(mut child: Child) {
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[test]
fn threads_that_have_ended_still_count() {
    let Some(child) = burned() else { skip!("no python3") };
    let proc = ProcRoot::default();
    let cpu = process_cpu(child.id()).expect("a live child");
    let leader = proc.read_thread_schedstat(child.id(), child.id()).expect("readable");
    end(child);
    // Three threads burned 0.3 s each, and are gone.
    assert!(900_000_000 <= cpu.total_ns, "{cpu:?}");
    let Some(leader) = leader else { skip!("this kernel has no schedstat") };
    assert!(leader.run_ns + 900_000_000 <= cpu.total_ns, "{leader:?} {cpu:?}");
}

#[test]
fn a_child_s_clock_agrees_with_what_wait4_says() {
    let Some(mut child) = burned() else { skip!("no python3") };
    let pid = child.id();
    let before_exit = process_cpu(pid).expect("a live child");
    drop(child.stdin.take());
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    #[expect(unsafe_code, reason = "the oracle: the standard library's wait does not give the usage")]
    // SAFETY: writes to `usage` only, and any bytes are a valid `rusage`.
    let usage = unsafe {
        assert_eq!(libc::wait4(pid as i32, std::ptr::null_mut(), 0, usage.as_mut_ptr()), pid as i32);
        usage.assume_init()
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let (user_ns, system_ns) = (ns(usage.ru_utime), ns(usage.ru_stime));
    let at_exit_ns = user_ns + system_ns;
    // What the interpreter does between the reading and its end is the only difference; rusage cuts microseconds off.
    assert!(before_exit.total_ns <= at_exit_ns + 2000, "{before_exit:?} {at_exit_ns}");
    assert!(at_exit_ns - before_exit.total_ns.min(at_exit_ns) < 300_000_000, "{before_exit:?} {at_exit_ns}");
    let ticks_ns = (before_exit.user_ticks + before_exit.system_ticks) * (1_000_000_000 / ticks_per_s());
    // Each of the two is cut off to a tick.
    assert!(before_exit.total_ns.abs_diff(ticks_ns) < 3 * 1_000_000_000 / ticks_per_s(), "{before_exit:?}");
}

#[test]
fn a_process_that_is_gone_is_absent_and_not_zero() {
    let mut child = sleeper();
    let proc = ProcRoot::default();
    let identity = proc.identity_of(child.id()).expect("a live child");
    assert!(proc.is_running(identity).expect("readable"));
    child.kill().expect("our child");
    child.wait().expect("our child");
    assert!(process_cpu(child.id()).expect_err("no such process").is_absent());
    assert!(!proc.is_running(identity).expect("nothing there"));
}

#[test]
fn a_zombie_does_not_run_and_has_no_mappings() {
    let mut child = sleeper();
    let proc = ProcRoot::default();
    let identity = proc.identity_of(child.id()).expect("a live child");
    child.kill().expect("our child");
    while !proc.read_process_stat(child.id()).expect("not waited for").has_ended() {
        std::thread::yield_now();
    }
    assert!(!proc.is_running(identity).expect("readable"));
    assert_eq!(proc.open_smaps(child.id()).expect("readable").count(), 0);
    assert!(proc.read_smaps_rollup(child.id()).expect("absent").is_none());
    // What it used can still be read.
    assert!(0 < process_cpu(child.id()).expect("not waited for").total_ns);
    child.wait().expect("our child");
}

#[test]
fn process_zero_is_nobody_and_not_this_process() {
    assert!(process_cpu(0).is_err());
}

#[test]
fn the_mappings_of_a_stopped_child_sum_to_its_rollup() {
    let Some(child) = burned() else { skip!("no python3") };
    kill_process(Pid::from_child(&child), Signal::STOP).expect("our child");
    let proc = ProcRoot::default();
    while proc.read_process_stat(child.id()).is_ok_and(|stat| stat.state != 'T' && !stat.has_ended()) {
        std::thread::yield_now();
    }
    let mappings: Vec<_> =
        proc.open_smaps(child.id()).expect("readable").collect::<Result<_, _>>().expect("as documented");
    let rollup = proc.read_smaps_rollup(child.id()).expect("readable");
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("readable");
    end(child);
    // `maps` writes the headers alone: another file of the kernel that tells where mappings begin.
    assert_eq!(mappings.len(), maps.lines().count());
    for (mapping, line) in mappings.iter().zip(maps.lines()) {
        assert!(
            line.starts_with(&format!("{:x}-{:x} ", mapping.addresses.start, mapping.addresses.end)),
            "{line}"
        );
        assert!(line.trim_end().ends_with(mapping.name.trim_end()), "{line}");
    }
    let Some(rollup) = rollup else { skip!("this kernel has no smaps_rollup") };
    assert_eq!(mappings.iter().map(|m| m.rss_bytes).sum::<u64>(), rollup.rss_bytes);
    assert_eq!(mappings.iter().map(|m| m.swap_bytes).sum::<Option<u64>>(), rollup.swap_bytes);
    let parts = |m: &assay_linux::Mapping| {
        m.private_bytes.zip(m.shared_bytes).map(|(private, shared)| private + shared)
    };
    assert_eq!(mappings.iter().map(parts).sum::<Option<u64>>(), Some(rollup.rss_bytes));
}

#[test]
fn the_page_map_counts_what_was_touched() {
    // 64 fresh pages, of which 20 are written to.
    let page_bytes = rustix::param::page_size();
    let mut memory = vec![0u8; 66 * page_bytes];
    let start = (memory.as_ptr() as usize).next_multiple_of(page_bytes);
    let first = start - memory.as_ptr() as usize;
    for page in 0..20 {
        memory[first + page * page_bytes] = 1;
    }
    let pid = std::process::id();
    let mut read = vec![0; page_bytes];
    let proc = ProcRoot::default();
    let present =
        proc.read_present_bytes(pid, start as u64..(start + 20 * page_bytes) as u64).expect("our own");
    proc.read_memory(pid, start as u64, &mut read).expect("our own");
    assert_eq!(present, 20 * page_bytes as u64);
    assert_eq!(read, &memory[first..first + page_bytes]);
}

#[test]
fn a_tree_has_descendants_of_every_generation_once_and_keeps_the_orphan_that_it_saw() {
    let script = "sh -c 'sleep 600 & echo $!; read line' ; read line";
    let mut first = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let stranger = sleeper();
    let mut out = BufReader::new(first.stdout.take().expect("a pipe"));
    let mut sleep = String::new();
    out.read_line(&mut sleep).expect("its number");
    let sleep: u32 = sleep.trim().parse().expect("a number");
    let proc = ProcRoot::default();
    // Named twice, and one of them as a descendant too.
    let roots = [first.id(), first.id(), sleep].map(|pid| proc.identity_of(pid).expect("it runs"));
    let mut tree = ProcessTree::of(roots);
    let pids = |tree: &mut ProcessTree| -> Vec<u32> {
        tree.read(&proc).expect("readable").iter().map(|process| process.pid).collect()
    };
    let all = pids(&mut tree);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all.contains(&first.id()) && all.contains(&sleep) && !all.contains(&stranger.id()), "{all:?}");
    assert_eq!(pids(&mut ProcessTree::of([roots[0]])), all, "from the first alone");
    // Its parent ends, and it stays.
    first.stdin.as_mut().expect("a pipe").write_all(b"x\n").expect("it reads");
    while pids(&mut tree).len() > 2 {
        std::thread::yield_now();
    }
    assert!(pids(&mut tree).contains(&sleep));
    Command::new("kill").arg(sleep.to_string()).status().expect("kill runs");
    end(first);
    while tree.read(&proc).expect("readable").iter().any(|process| !process.has_ended()) {
        std::thread::yield_now();
    }
    end(stranger);
}

#[test]
fn this_machine_s_files_are_as_documented() {
    let (proc, sys) = (ProcRoot::default(), SysRoot::default());
    let cpu = proc.read_machine_cpu().expect("/proc/stat");
    assert_eq!(cpu.each.len(), usize::try_from(online_cpus()).expect("a count"));
    let memory = proc.read_meminfo().expect("/proc/meminfo");
    assert!(memory.available_bytes <= memory.total_bytes && memory.total_bytes.is_some());
    for resource in [Resource::Cpu, Resource::Memory, Resource::Io] {
        proc.read_pressure(resource).expect("absent or as documented");
    }
    let groups = proc.read_cgroups(&sys, None).expect("as documented");
    groups.read_limits().expect("absent or as documented");
    groups.read_throttling().expect("absent or as documented");
    sys.read_transparent_huge_pages().expect("absent or as documented");
    sys.read_cpu_governor().expect("absent or as documented");
    assert_eq!(proc.read_kernel_release().expect("readable"), kernel_release());
    assert_eq!(proc.read_boot_id().expect("readable").len(), 36);
    let status = proc.read_process_status(std::process::id()).expect("readable");
    assert!(status.rss_bytes.is_some() && status.rss_bytes <= status.rss_bytes_max, "{status:?}");
    assert!(monotonic_ns() <= monotonic_ns());
}

fn online_cpus() -> i64 {
    let output = Command::new("getconf").arg("_NPROCESSORS_ONLN").output().expect("getconf runs");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

fn kernel_release() -> String {
    let output = Command::new("uname").arg("-r").output().expect("uname runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
