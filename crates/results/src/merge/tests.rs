//! Parts of a run of six blocks, with known values, put together and refused.

use super::*;
use assay_model::{Design, HostFacts, HostsVerdict, JvmFacts, Provenance, schema};
use assay_testkit::planned;

const CPU: &str = "cpu_ms_per_request";
const BLOCKS: u32 = 12;

fn jvm(version: &str, home: &str) -> JvmFacts {
    JvmFacts { home: home.into(), version: version.into(), feature: 21, vendor: None, bits: 64 }
}

fn host(boot: &str) -> HostFacts {
    HostFacts {
        schema: schema::HOST.into(),
        provenance: planned::provenance(),
        transparent_huge_pages: None,
        cpu_governor: None,
        hypervisor: None,
        cgroup_cpu_limit: None,
        cgroup_memory_limit_bytes: None,
        swap_bytes: None,
        cpu_pressure_some_percent: None,
        boot_id: Some(boot.into()),
        allowed_processors: Some("0-1".into()),
        kernel_settings: BTreeMap::new(),
        jvms: vec![],
        problems: vec![],
    }
}

fn plan(blocks: &[u32]) -> Plan {
    let variants = vec![planned::variant("old", None), planned::variant("new", Some("old"))];
    let with_jvm =
        |variant: assay_model::Variant| assay_model::Variant { jvm: Some(jvm("21.0.1", "/a")), ..variant };
    let plan = planned::plan(variants.into_iter().map(with_jvm).collect());
    let trial = |(block, number, variant): (u32, u32, &str)| PlannedTrial {
        number,
        variant: variant.into(),
        block,
        seed: 1,
    };
    let trials = blocks.iter().flat_map(|block| [(*block, 2 * block - 1, "old"), (*block, 2 * block, "new")]);
    Plan {
        design: Design::Fresh,
        blocks: BLOCKS,
        part: blocks.to_vec(),
        trials: trials.map(trial).collect(),
        ..plan
    }
}

/// Writes the part of a host: the old variant takes 1 ms and a little more from block to block, the new one `ratio` times as much.
fn write(folder: &Path, plan: &Plan, boot: &str, ratio: f64) {
    let dir = RunDir::open(folder, false, 0, Redactor::default()).expect("a folder");
    for planned in &plan.trials {
        let noise = f64::from(planned.block * 7 % 5) * 0.001;
        let value = if planned.variant == "old" { 1.0 } else { ratio + noise };
        let trial = Trial {
            block: planned.block,
            number: planned.number,
            windows: vec![planned::window(planned.block, CPU, value)],
            ..planned::trial(&planned.variant, CPU, &[])
        };
        let name = dir.make_trial_folder(planned.number, &planned.variant).expect("a folder");
        dir.write_json(&format!("{name}/{}", file::TRIAL), &trial).expect("written");
        std::fs::write(folder.join(&name).join(file::SERVER_LOG), &planned.variant).expect("written");
    }
    dir.write_text(file::STUDY, "name = \"s\"\n").expect("written");
    dir.write_json(file::HOST, &host(boot)).expect("written");
    dir.write_json(file::PLAN, plan).expect("written");
}

/// Three parts of four blocks each; the ratio on each.
fn three(folder: &Path, ratios: [f64; 3]) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    for (number, ratio) in ratios.into_iter().enumerate() {
        let path = folder.join(format!("part{number}"));
        // Dealt out in turn.
        let blocks: Vec<u32> = (1..=BLOCKS).filter(|block| *block as usize % 3 == number).collect();
        write(&path, &plan(&blocks), &format!("boot{number}"), ratio);
        parts.push(path);
    }
    parts
}

#[track_caller]
fn refused(parts: &[PathBuf], out: &Path) -> String {
    let error = merge(parts, out, false).expect_err("no parts of one run").to_string();
    assert!(!out.join(file::PLAN).exists(), "nothing that looks like a run is left");
    error
}

#[test]
fn parts_are_one_run_with_the_result_of_all_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = three(folder.path(), [1.2, 1.2, 1.2]);
    let dir = merge(&parts, &folder.path().join("all"), false).expect("one run");
    let run = load_run(&dir).expect("a run directory");
    let numbers: Vec<(u32, u32)> = run.trials.iter().map(|t| (t.trial.number, t.trial.block)).collect();
    assert_eq!(numbers, (1..=2 * BLOCKS).map(|number| (number, number.div_ceil(2))).collect::<Vec<_>>());
    assert_eq!((run.plan.part.len(), run.plan.trials.len()), (0, 2 * BLOCKS as usize));
    let summary = run.summary.as_ref().expect("a result");
    let [only] = &summary.comparisons[..] else { panic!("one: {:?}", summary.comparisons) };
    assert_eq!((&*only.metric, only.blocks, only.shown), (CPU, BLOCKS, true));
    assert!((1.2..1.205).contains(&only.ratio.estimate), "{only:?}");
    let hosts = run.hosts.as_ref().expect("several hosts");
    let blocks: Vec<&[u32]> = hosts.hosts.iter().map(|host| &host.blocks[..]).collect();
    assert_eq!(blocks, [&[1, 4, 7, 10][..], &[2, 5, 8, 11], &[3, 6, 9, 12]]);
    let [across] = &hosts.across[..] else { panic!("one: {hosts:?}") };
    assert_eq!((across.ratios.len(), across.verdict), (3, HostsVerdict::NoDifferenceShown), "{across:?}");
    // The files of a trial come with it.
    let log = dir.join("trials/02-new").join(file::SERVER_LOG);
    assert_eq!(std::fs::read_to_string(log).expect("copied"), "new");
}

#[test]
fn an_answer_that_depends_on_the_host_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let parts = three(folder.path(), [1.2, 1.0, 1.2]);
    let dir = merge(&parts, &folder.path().join("all"), false).expect("one run");
    let hosts = load_run(&dir).expect("a run").hosts.expect("several hosts");
    let across = &hosts.across[0];
    assert_eq!(across.verdict, HostsVerdict::Differs, "{across:?}");
    // Ratios of 1.2, 1.0 and 1.2: deviations of their logarithms 0.105.
    let (within, between) = across.within_percent.zip(across.between_percent).expect("four blocks each");
    assert!(within < 0.3 && (10.0..12.0).contains(&between), "{across:?}");
}

#[test]
fn parts_of_one_machine_are_one_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    write(&first, &plan(&(1..=6).collect::<Vec<_>>()), "boot", 1.2);
    write(&second, &plan(&(7..=12).collect::<Vec<_>>()), "boot", 1.2);
    let dir = merge(&[second, first], &folder.path().join("all"), false).expect("one run");
    let hosts = load_run(&dir).expect("a run").hosts.expect("hosts");
    assert_eq!((hosts.hosts.len(), hosts.hosts[0].blocks.len(), hosts.across.len()), (1, 12, 0));
}

#[test]
fn missing_and_double_blocks_are_named_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut parts, out) = (three(folder.path(), [1.2; 3]), folder.path().join("all"));
    let last = parts.pop().expect("three");
    let error = refused(&parts, &out);
    assert!(error.contains("2,5,8,11") && error.contains("--blocks 2,5,8,11"), "{error}");
    let error = refused(&[&parts[..], &[last.clone(), last.clone()]].concat(), &out);
    assert!(error.contains("block 2 is in") && error.contains("part2"), "{error}");
    // A trial that was cut off is no block.
    std::fs::remove_file(last.join("trials/22-new").join(file::TRIAL)).expect("removed");
    parts.push(last);
    let error = refused(&parts, &out);
    assert!(error.contains("block 11 of 12") && error.contains("is missing"), "{error}");
    let dir = merge(&parts, &out, true).expect("without it");
    assert_eq!(load_run(&dir).expect("a run").trials.len(), 23);
    let error = merge(&parts, &out, true).expect_err("there is one").to_string();
    assert!(error.contains("already holds a run"), "{error}");
}

#[test]
fn parts_of_other_runs_are_refused_with_the_first_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, out) = (folder.path().join("a"), folder.path().join("all"));
    write(&first, &plan(&[1]), "boot", 1.2);
    let against = |name: &str, plan: &Plan| {
        let other = folder.path().join(name);
        write(&other, plan, "boot", 1.2);
        refused(&[first.clone(), other], &out)
    };
    let changed = |change: fn(&mut Plan)| {
        let mut plan = plan(&[2]);
        change(&mut plan);
        plan
    };
    let version = changed(|plan| plan.variants[1].jvm = Some(jvm("21.0.2", "/b")));
    let error = against("jvm", &version);
    assert!(error.contains("variants[1].jvm.version is \"21.0.1\" and \"21.0.2\""), "{error}");
    assert!(against("seed", &changed(|plan| plan.seed = 8)).contains("seed is 7 and 8"));
    let newer =
        changed(|plan| plan.provenance = Provenance { assay_version: "1".into(), ..planned::provenance() });
    assert!(against("program", &newer).contains("Assay 0 and 1"));
    // Another place of the same JVM, and another kernel, are no difference.
    let moved = changed(|plan| {
        plan.variants[1].jvm = Some(jvm("21.0.1", "/elsewhere"));
        plan.provenance.kernel = Some("7".into());
    });
    assert!(against("moved", &moved).contains("are missing"));
    assert!(refused(&[first.join("trials")], &out).contains("is not a run directory"));
}
