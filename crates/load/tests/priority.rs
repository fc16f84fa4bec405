//! The generator's priority while it loads, as the kernel tells it.

use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Load, Priority, for_url};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Nice value and policy.
type Scheduling = (i32, i32);

/// Those in a `stat` file: fields 19 and 41, counted after the name in parentheses, which may contain anything (`proc(5)`).
fn scheduling_in(path: &str) -> Scheduling {
    let text = std::fs::read_to_string(path).expect("a process that runs");
    let after = &text[text.rfind(')').expect("a name in parentheses") + 1..];
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |field: usize| fields[field - 3].parse().expect("a number");
    (number(19), number(41))
}

/// What a server that is started meanwhile is given.
fn scheduling_of_child() -> Scheduling {
    struct Killed(Child);
    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let child = Killed(Command::new("sleep").arg("60").spawn().expect("sleep is on the path"));
    scheduling_in(&format!("/proc/{}/stat", child.0.id()))
}

#[test]
fn a_child_that_is_started_meanwhile_has_the_usual_priority() {
    let usual = scheduling_in("/proc/self/stat");
    let server = assay_testkit::CountingServer::start();
    let (base_url, scenario) = for_url(&server.url).expect("a URL");
    let (loads, done, stop) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let (measured, while_it_loads, after, child) = std::thread::scope(|scope| {
        let generator = scope.spawn(|| {
            let mut generator = Generator::new(GeneratorConfig::new(base_url, scenario, 4)).expect("good");
            let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 200.0 };
            let mut scheduling = Vec::new();
            let measured = generator.run(&load, Duration::from_secs(3_600), &stop, None, &mut |_| {
                scheduling.push(scheduling_in("/proc/thread-self/stat"));
                loads.store(true, Ordering::Relaxed);
            });
            done.store(true, Ordering::Relaxed);
            (measured.expect("the server listens"), scheduling, scheduling_in("/proc/thread-self/stat"))
        });
        while !loads.load(Ordering::Relaxed) && !generator.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let child = scheduling_of_child();
        let was_done = done.load(Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
        assert!(!was_done, "the child was started while the load ran");
        let (measured, while_it_loads, after) = generator.join().expect("no panic");
        (measured, while_it_loads, after, child)
    });
    assert_eq!((child, after), (usual, usual), "neither a child nor the thread afterwards");
    let all = |wanted: Scheduling| while_it_loads.iter().all(|at| *at == wanted);
    let has = match measured.priority.clone().expect("this process made the load") {
        Priority::RealTime => while_it_loads.iter().all(|(_, policy)| *policy == 1),
        Priority::Nice { nice, why } => nice <= -10 && all((nice, usual.1)) && !why.is_empty(),
        Priority::Usual { nice, why } => nice == Some(usual.0) && all(usual) && !why.is_empty(),
    };
    assert!(has, "{:?}: {while_it_loads:?}", measured.priority);
    assert!(measured.stopped && measured.requests > 0);
}
