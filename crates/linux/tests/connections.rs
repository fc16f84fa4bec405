//! What connections cost in the kernel: the figures of a control group against what else the group and its sockets say.

use crate::target;
use crate::target::Target;
use assay_linux::{ProcRoot, SysRoot};
use assay_model::CgroupMemory;
use assay_testkit::{MemoryGroup, skip};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

const CONNECTIONS: u64 = 2000;
/// Bytes that wait in each connection for a server that does not read them.
const UNREAD_BYTES: usize = 3000;
/// Version 1: the limit of socket buffers.
const TCP_LIMIT_V1: &str = "memory.kmem.tcp.limit_in_bytes";
/// At most so much apart, of a hundred.
const APART_PERCENT_MAX: u64 = 1;

/// Files for all connections; `false` where so many are not allowed.
fn may_have_files() -> bool {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let is_enough = limit.maximum.is_none_or(|files| CONNECTIONS + 100 < files);
    is_enough && setrlimit(Resource::Nofile, limit).is_ok()
}

/// What a socket's buffers are charged: what waits to be read and to be sent, and the rest of their pages.
#[expect(unsafe_code, reason = "the oracle: no safe library asks a socket for its memory")]
fn buffers_bytes(socket: &TcpStream) -> u64 {
    let mut parts = [0_u32; 9];
    let mut bytes = size_of_val(&parts) as libc::socklen_t;
    let (level, name) = (libc::SOL_SOCKET, libc::SO_MEMINFO);
    // SAFETY: the kernel writes at most so many bytes to the numbers.
    let done =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, parts.as_mut_ptr().cast(), &mut bytes) };
    assert_eq!(done, 0);
    let [received, _, _, _, reserved, to_send, ..] = parts;
    u64::from(received) + u64::from(reserved) + u64::from(to_send)
}

/// A server that accepts as many connections as its first one asks for, or says what their buffers are charged.
#[test]
fn serves() {
    let Some((_, group)) = target::asked_for() else { return };
    assert!(may_have_files());
    fs::write(Path::new(&group).join("cgroup.procs"), std::process::id().to_string()).expect("a group");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let mut held = Vec::with_capacity(CONNECTIONS as usize);
    target::tell("port", listener.local_addr().expect("bound").port().into());
    println!("target ready");
    std::io::stdout().flush().expect("a pipe");
    let (mut asker, _) = listener.accept().expect("the test");
    let mut wanted = [0; 8];
    while asker.read_exact(&mut wanted).is_ok() {
        held.extend((0..u64::from_le_bytes(wanted)).map(|_| listener.accept().expect("the test").0));
        let charged: u64 = held.iter().map(buffers_bytes).sum();
        asker.write_all(&charged.to_le_bytes()).expect("the test");
    }
}

fn asked(server: &mut TcpStream, accepted: u64) {
    server.write_all(&accepted.to_le_bytes()).expect("our child");
}

fn answered(server: &mut TcpStream) -> u64 {
    let mut answer = [0; 8];
    server.read_exact(&mut answer).expect("our child");
    u64::from_le_bytes(answer)
}

/// The charge of a group that its processes' memory and files do not explain, from the kernel's files alone.
fn kernel_and_rest_bytes(group: &Path) -> u64 {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok();
    let number = |text: String| text.trim().parse::<u64>().expect("a number");
    let stat = read("memory.stat").expect("of every group");
    let parts: BTreeMap<_, _> = stat.lines().filter_map(|line| line.split_once(' ')).collect();
    let (charge, others) = match read("memory.current") {
        Some(charge) => (charge, ["anon", "file", "sock"].as_slice()),
        None => (read("memory.usage_in_bytes").expect("version 1"), ["total_rss", "total_cache"].as_slice()),
    };
    let others: u64 = others.iter().map(|part| parts[part].parse::<u64>().expect("a number")).sum();
    number(charge).saturating_sub(others)
}

/// A file of a group without which the kernel does not say what connections cost.
fn missing(group: &Path) -> Option<&'static str> {
    let is_there = |file: &str| group.join(file).exists();
    let needed = ["memory.kmem.usage_in_bytes", "memory.kmem.tcp.usage_in_bytes", TCP_LIMIT_V1];
    if is_there("memory.current") { None } else { needed.into_iter().find(|file| !is_there(file)) }
}

/// What Assay reads of a group, and what the kernel's files say besides.
struct Looks {
    assay: CgroupMemory,
    kernel_and_rest_bytes: u64,
}

/// Both looks, when the kernel has added up what its processors count, every two seconds.
fn look(group: &MemoryGroup, server: u32) -> Looks {
    // Version 1: pages that processors have taken in advance go back, and do not blur the charge.
    let _ = fs::write(group.path().join("memory.force_empty"), "0");
    std::thread::sleep(Duration::from_millis(2500));
    let (proc, sys) = (ProcRoot::default(), SysRoot::default());
    let groups = proc.read_cgroups(&sys, Some(server)).expect("as documented");
    let assay = groups.read_memory(&proc, &mut Vec::new()).expect("as documented").expect("a controller");
    Looks { assay, kernel_and_rest_bytes: kernel_and_rest_bytes(group.path()) }
}

fn is_near(figure: u64, truth: u64, besides: u64) -> bool {
    figure.abs_diff(truth) <= truth * APART_PERCENT_MAX / 100 + besides
}

#[test]
fn the_kernel_s_share_of_connections_is_that_of_the_group_and_of_the_sockets() {
    let Some(group) = MemoryGroup::new("connections") else {
        skip!("no control group with memory.usage_in_bytes or memory.current can be made in /sys/fs/cgroup")
    };
    if !may_have_files() {
        skip!("fewer files than {CONNECTIONS} connections need: ulimit -n");
    }
    if let Some(file) = missing(group.path()) {
        skip!("control groups of this machine have no {file}");
    }
    // Version 1 counts socket buffers, and accepted sockets, only where buffers are limited.
    let _ = fs::write(group.path().join(TCP_LIMIT_V1), (1_u64 << 40).to_string());
    let target = Target::start_test("connections::serves", "serves", &group.path().display().to_string());
    let port = target.told["port"] as u16;
    let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("our child");
    let mut server = connect();
    asked(&mut server, 0);
    answered(&mut server);
    let before = look(&group, target.pid());
    asked(&mut server, CONNECTIONS);
    let clients: Vec<_> = (0..CONNECTIONS).map(|_| connect()).collect();
    for mut client in &clients {
        client.write_all(&[7; UNREAD_BYTES]).expect("our child");
    }
    answered(&mut server);
    asked(&mut server, 0);
    let buffers_bytes = answered(&mut server);
    let in_advance = if group.path().join("memory.force_empty").exists() {
        0
    } else {
        let processors = std::thread::available_parallelism().expect("a number").get() as u64;
        processors * 64 * rustix::param::page_size() as u64
    };
    let began = Instant::now();
    loop {
        let with = look(&group, target.pid());
        let grew = |of: fn(&CgroupMemory) -> Option<u64>| {
            of(&with.assay).expect("a figure").saturating_sub(of(&before.assay).expect("a figure"))
        };
        let kernel_bytes = grew(|memory| memory.kernel_bytes);
        let sockets_bytes = grew(|memory| memory.sockets_bytes);
        let charged_bytes = with.kernel_and_rest_bytes.saturating_sub(before.kernel_and_rest_bytes);
        println!(
            "each connection: kernel {} B, by the charge {} B; buffers {} B, by the sockets {} B",
            kernel_bytes / CONNECTIONS,
            charged_bytes / CONNECTIONS,
            sockets_bytes / CONNECTIONS,
            buffers_bytes / CONNECTIONS
        );
        let holds = is_near(kernel_bytes, charged_bytes, in_advance)
            && is_near(sockets_bytes, buffers_bytes, 0)
            && CONNECTIONS * UNREAD_BYTES as u64 <= buffers_bytes;
        if holds {
            return;
        }
        // What was counted on a busy machine is added up late.
        assert!(began.elapsed() < Duration::from_secs(60), "more than {APART_PERCENT_MAX} % apart");
    }
}
