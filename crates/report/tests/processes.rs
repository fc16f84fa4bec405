//! A run of several processes: roles side by side, their GC logs, and the faults that the study asked for.

use crate::gc_sample;
use crate::rendered::{html, markdown, terminal as terminal_of};
use crate::sample;
use assay_model::{
    Audit, Check, Estimate, FaultAction, FaultRecord, ProcessGc, StoredRun, ValidityCheck, metric,
};

/// The demo with a proxy that collects nothing and two roles that do.
fn with_roles() -> StoredRun {
    let mut run = sample::demo_run();
    let ids = [
        ("process_cpu_ms_per_request/proxy", 0.02),
        ("process_cpu_ms_per_request/stock", 0.25),
        ("process_cpu_ms_per_request/server", 0.5),
        (metric::ALL_CPU_MS_PER_REQUEST, 0.77),
        ("process_gc_cpu_percent/stock", 15.5),
        ("process_gc_cpu_percent/server", 2.5),
        (metric::ALL_GC_CPU_PERCENT, 4.5),
    ];
    for variant in &mut run.summary.as_mut().expect("the sample has it").variants {
        for (id, value) in ids {
            let estimate = Estimate { estimate: value, low: None, high: None };
            variant.metrics.insert(id.to_owned(), estimate);
        }
    }
    run
}

#[test]
fn roles_stand_side_by_side_the_server_first_and_all_last() {
    let run = with_roles();
    let text = markdown(&run);
    let (_, table) = text.split_once("Processes side by side").expect("the table");
    let variant = &run.plan.variants[0];
    let level = &variant.levels["reference mode"];
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let of_first: Vec<&Vec<&str>> = rows.iter().filter(|row| row[1] == level.as_str()).collect();
    let roles: Vec<&str> = of_first.iter().map(|row| row[2]).collect();
    assert_eq!(roles, ["server", "proxy", "stock", "all"]);
    assert!(of_first[0][3].starts_with("0.5") && of_first[3][3].starts_with("0.77"), "{of_first:?}");
    assert_eq!(of_first[1].get(4), Some(&"-"), "a proxy collects nothing: {of_first:?}");
    assert!(of_first[2][4].starts_with("15.5"), "{of_first:?}");
    let page = html(&run);
    let results = page.split("Processes side by side").next().expect("what stands before");
    assert!(!results.contains("CPU time per request: stock"), "no column of a role among the results");
    let terminal = terminal_of(&run, 160, false);
    let lines = terminal.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let lines: Vec<_> = lines.filter(|words| words.contains(&"0.250")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|words| words.contains(&"stock")), "{terminal}");
    assert!(!html(&sample::demo_run()).contains("Processes side by side"));
}

#[test]
fn gc_logs_of_jvms_beside_the_server_stand_by_process() {
    let mut run = sample::demo_run();
    let variant = run.trials[0].trial.variant.clone();
    run.trials[0].gc_report = Some(gc_sample::g1());
    assert!(!html(&run).contains("<th scope=\"col\">Process</th>"), "one JVM alone needs no name");
    let beside = ProcessGc { role: "stock-2".to_owned(), report: gc_sample::g1() };
    run.trials[0].gc_beside = vec![beside];
    let text = markdown(&run);
    for row in [format!("| {variant} | server | "), format!("| {variant} | stock-2 | ")] {
        assert!(text.matches(row.as_str()).count() > 1, "figures and findings of {row}: {text}");
    }
}

#[test]
fn faults_are_shown_with_what_came_of_them_and_what_their_windows_saw() {
    let mut run = sample::demo_run();
    let window = &mut run.trials[0].trial.windows[0];
    let at = |s: f64| Some(window.start_monotonic_ns + (s * 1e9) as u64);
    let killed = FaultRecord {
        role: "stock-2".to_owned(),
        pid: Some(77),
        action: FaultAction::Kill,
        planned_s: 1.5,
        done_monotonic_ns: at(1.51),
        over_monotonic_ns: None,
        ended: vec!["was ended by signal 9".to_owned()],
        oom_kills: None,
        ready_after_s: Some(0.75),
        new_pid: Some(99),
        failed: None,
    };
    let limited = FaultRecord {
        role: "cache".to_owned(),
        pid: None,
        action: FaultAction::Limit { for_s: 1.0, cpus: None, memory_bytes: Some(64 << 20) },
        ended: vec!["cache was ended by signal 9".to_owned()],
        oom_kills: Some(1),
        ..killed.clone()
    };
    let stopped = FaultRecord {
        action: FaultAction::Stop { for_s: 2.0 },
        done_monotonic_ns: at(3.0),
        over_monotonic_ns: at(5.0),
        ended: Vec::new(),
        ready_after_s: None,
        new_pid: None,
        ..killed.clone()
    };
    window.faults = vec![killed, stopped, limited];
    (window.errors, window.requests) = (12, 900);
    let evidence = "2 failed".to_owned();
    window.checks.push(ValidityCheck { check: Check::Errors, passed: Some(false), evidence });
    run.trials[0].trial.audit = Some(Audit { passed: true, detail: "answered 200".to_owned() });
    let text = markdown(&run);
    assert!(text.contains("Faults, as they were done; the audit held at the end of 1 of 1 trials"), "{text}");
    for cell in [
        "stock-2 (PID 77)",
        "| KILL |",
        "| STOP for 2 s |",
        "was ended by signal 9",
        "| limit of 64 MiB of memory for 1 s | cache was ended by signal 9; the kernel's OOM killer ended 1 process at the limit of memory |",
        "| 0.750 |",
        "12 of 900",
    ] {
        assert!(text.contains(cell), "{cell}: {text}");
    }
    assert!(html(&run).contains("<h3>Faults</h3>"));
    let variant = &run.trials[0].trial.variant;
    let terminal = terminal_of(&run, 200, false).replace("\n  ", " ");
    assert!(terminal.contains("- After faults: the audit held at the end of 1 of 1 trials\n"), "{terminal}");
    let line = format!(
        "- {variant}: KILL of stock-2 in 1 window; ready again after 0.750 s; 12 of 900 requests failed"
    );
    assert!(terminal.contains(&line), "{terminal}");
    let line = format!(
        "- {variant}: limit of 64 MiB of memory for 1 s of cache in 1 window; 1 process ended by the kernel's OOM killer; ready again"
    );
    assert!(terminal.contains(&line), "{terminal}");
    assert!(terminal.contains("Windows that count, but") && terminal.contains("errors"), "{terminal}");
    assert!(!html(&sample::demo_run()).contains("<h3>Faults</h3>"));
    run.trials[0].trial.audit.as_mut().expect("an audit").passed = false;
    assert!(terminal_of(&run, 200, false).contains("held at the end of 0 of 1 trials"));
}
