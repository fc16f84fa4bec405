//! `assay heap modes`: which reference mode each heap size gets on this host, and what a process or a log has.

mod host;
mod jvm;
mod ratios;
mod read;
mod verify;

use crate::arguments::ModesArguments;
use crate::failure::{Failure, Kind};
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use crate::stop;
use assay_heap::modes::{WantedHeap, advise};
use assay_jdk::modes::{DecidingOptions, HeapSetting, default_sizes, thresholds};
use assay_jdk::{Collector, InstalledJvms, JvmWish};
use assay_model::{HeapModes, JvmFacts, ModeCell, ModeOfLog, ModeThreshold, Problem, schema};
use assay_text::redact;
use jvm::Jvm;
use std::cell::LazyCell;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Collectors of a HotSpot that are supported products; Epsilon is shown when an option chooses it.
const COLLECTORS: [Collector; 5] =
    [Collector::Serial, Collector::Parallel, Collector::G1, Collector::Z, Collector::Shenandoah];
/// The map shows a heap of this size where none is asked for: the largest that is zero-based.
const MAP_HEAP_BYTES: u64 = 30 << 30;

/// A JVM with a collector.
struct Column<'a> {
    jvm: &'a Jvm,
    setting: HeapSetting,
}

/// Does what was asked for.
pub fn modes(arguments: &ModesArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let options = words(arguments.options.as_deref())?;
    let stop = stop::flag_on_signal()?;
    let mut report = HeapModes {
        schema: schema::HEAP_MODES.to_owned(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..HeapModes::default()
    };
    read::read(arguments, &mut report)?;
    if is_about_this_host(arguments) {
        about_this_host(arguments, &options, &stop, &mut report)?;
    }
    if stop.load(Ordering::SeqCst) {
        let message = "stopped; every JVM that was started is ended".to_owned();
        return Err(Failure { kind: Kind::Interrupted, message });
    }
    // They were needed whole to start the JVMs.
    report.cells.iter_mut().for_each(|cell| cell.options = redact::words(&cell.options));
    show_as_asked(&report, &arguments.format, arguments.html.as_deref())?;
    outcome(arguments, &report)
}

/// After everything was shown: whether that is what was asked for.
fn outcome(arguments: &ModesArguments, report: &HeapModes) -> Result<ExitCode, Failure> {
    let has_mode = |read: &ModeOfLog| read.mode.is_some() || read.j9_is_compressed.is_some();
    if !report.read.is_empty() && !report.read.iter().any(has_mode) {
        let told = report.problems.iter().map(|p| format!("\n  {}: {}", p.about, p.text));
        let message = format!("no mode could be read{}", told.collect::<String>());
        return Err(Failure::input(message));
    }
    if arguments.verify && report.cells.iter().all(|cell| cell.verified_mode.is_none()) {
        let why = report.cells.iter().find_map(|cell| cell.not_verified_because.as_deref());
        let message = format!("no heap size could be verified: {}", why.unwrap_or("there is none"));
        // Of a JVM that starts with its defaults, the options are the most likely cause.
        return Err(match &arguments.options {
            Some(options) => {
                Failure::input(format!("{message}\n  the JVMs were started with {}", redact::text(options)))
            }
            None => Failure::environment(message),
        });
    }
    let number = |is: fn(&ModeCell) -> bool| report.cells.iter().filter(|cell| is(cell)).count();
    let sizes = |number: usize| if number == 1 { "heap size gets" } else { "heap sizes get" };
    let (modes, bases) = (number(ModeCell::has_other_mode), number(ModeCell::has_other_base));
    if modes != 0 {
        say!("{modes} {} another mode than was computed", sizes(modes));
    }
    if bases != 0 {
        say!("{bases} {} the mode that was computed, but another base address", sizes(bases));
    }
    Ok(if modes + bases == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Only processes and logs are asked for when nothing else is said.
fn is_about_this_host(arguments: &ModesArguments) -> bool {
    let reads = !arguments.pid.is_empty() || !arguments.log.is_empty();
    let asks = !arguments.java.is_empty()
        || !arguments.max_heap.is_empty()
        || arguments.options.is_some()
        || arguments.verify
        || arguments.want.is_some();
    asks || !reads
}

fn about_this_host(
    arguments: &ModesArguments,
    options: &[String],
    stop: &AtomicBool,
    report: &mut HeapModes,
) -> Result<(), Failure> {
    let deciding = DecidingOptions::of(options.iter().map(String::as_str));
    let shown_heap = arguments.want.or(arguments.max_heap.first().copied()).unwrap_or(MAP_HEAP_BYTES);
    let mut jvms = Vec::new();
    for facts in find(arguments, &mut report.problems)? {
        let stopped = host::stopped_jvm(&facts, options, shown_heap, stop);
        let (stopped, problem) = stopped.map_or_else(|p| (None, Some(p)), |jvm| (Some(jvm), None));
        report.problems.extend(problem);
        let space = host::space(facts.bits, stopped.as_ref());
        // The first JVM of 64 bits stands for the host.
        if let Some(jvm) = stopped.filter(|_| report.address_map.is_empty() && facts.bits == 64) {
            report.address_map = jvm.map(&space, deciding.heap_base_min_address);
            report.address_map_java = Some(facts.home.clone());
        }
        jvms.push(Jvm { facts, space });
    }
    report.problems.extend(host::unusual(arguments.want));
    let columns: Vec<Column<'_>> = jvms.iter().flat_map(|jvm| columns(jvm, &deciding)).collect();
    for column in &columns {
        column.add_to(report, arguments, options);
    }
    if arguments.verify {
        verify::verify(report, &jvms, options, stop);
    }
    if let (Some(want), Some(column)) = (arguments.want, for_advice(&columns)) {
        let (setting, space) = (&column.setting, &column.jvm.space);
        let ratios = ratios::ratios(arguments.dump.as_deref(), setting.feature, &mut report.problems)?;
        report.advice = advise(&WantedHeap { max_heap_bytes: want, setting, space, ratios });
    }
    Ok(())
}

/// The JVMs to ask about.
fn find(arguments: &ModesArguments, problems: &mut Vec<Problem>) -> Result<Vec<JvmFacts>, Failure> {
    let cache = assay_study::cache_of(Path::new("."));
    if !arguments.java.is_empty() {
        let jvms = LazyCell::new(|| InstalledJvms::find(&cache));
        return arguments.java.iter().map(|java| named(java, &jvms)).collect();
    }
    let (found, not_read) = assay_jdk::find_jvms(&cache);
    problems.extend(not_read);
    if found.is_empty() {
        return Err(Failure::environment(
            "no JVM was found here; --java names one, and workloads/jvm/fetch 21 provides one",
        ));
    }
    Ok(found)
}

/// A JVM by its release, or by its home or `java`.
fn named(
    java: &Path,
    jvms: &LazyCell<InstalledJvms, impl FnOnce() -> InstalledJvms>,
) -> Result<JvmFacts, Failure> {
    let release = java.to_str().filter(|word| word.parse::<u32>().is_ok() && !java.exists());
    match release {
        Some(_) => jvms.choose(JvmWish { jvm: release, ..JvmWish::default() }).map_err(Failure::environment),
        None => assay_jdk::jvm_at(java).map_err(|p| Failure::input(format!("{}: {}", p.about, p.text))),
    }
}

fn columns<'a>(jvm: &'a Jvm, deciding: &DecidingOptions) -> Vec<Column<'a>> {
    let collectors = deciding.collector.map_or(COLLECTORS.to_vec(), |chosen| vec![chosen]);
    // A 32-bit JVM has neither of the two concurrent ones on most processors; it says so itself when it is started.
    let collectors = collectors.into_iter().filter(|c| jvm.facts.bits == 64 || *c != Collector::Z);
    collectors
        .map(|collector| {
            let JvmFacts { feature, bits, .. } = jvm.facts;
            let update = assay_jdk::update_of(&jvm.facts.version);
            Column {
                jvm,
                setting: HeapSetting { feature, update, bits, collector, options: deciding.clone() },
            }
        })
        .collect()
}

/// Advice is given for the newest 64-bit JVM and the collector that it takes by itself on a server, G1, if no option
/// chooses one.
fn for_advice<'a, 'b>(columns: &'b [Column<'a>]) -> Option<&'b Column<'a>> {
    let is_g1 = |column: &Column<'_>| column.setting.collector == Collector::G1;
    columns.iter().max_by_key(|c| (c.setting.bits, c.setting.feature, is_g1(c)))
}

impl Column<'_> {
    fn add_to(&self, report: &mut HeapModes, arguments: &ModesArguments, options: &[String]) {
        let (setting, space) = (&self.setting, &self.jvm.space);
        let sizes = match arguments.max_heap.as_slice() {
            [] => default_sizes(setting, space),
            given => given.to_vec(),
        };
        for max_heap_bytes in
            sizes.into_iter().chain(arguments.want.filter(|_| arguments.max_heap.is_empty()))
        {
            let computed = setting.mode_of(max_heap_bytes, space);
            let cell = ModeCell {
                java: self.jvm.facts.home.clone(),
                jdk: setting.feature,
                collector: setting.collector.name().to_owned(),
                max_heap_bytes,
                options: options.to_vec(),
                computed_mode: computed.mode,
                computed_base_address: computed.base_address,
                shift_bits: computed.shift_bits,
                decided_by: computed.decided_by,
                ..ModeCell::default()
            };
            if !report.cells.iter().any(|known| known.key() == cell.key()) {
                report.cells.push(cell);
            }
        }
        report.thresholds.extend(thresholds(setting, space).into_iter().map(|(mode, bytes)| ModeThreshold {
            java: self.jvm.facts.home.clone(),
            collector: setting.collector.name().to_owned(),
            alignment_bytes: setting.options.object_alignment_bytes,
            mode,
            largest_max_heap_bytes: bytes,
            is_verified: false,
        }));
    }
}

/// The options, parted as a shell parts them. The heap's size is not one of them.
fn words(options: Option<&str>) -> Result<Vec<String>, Failure> {
    let words = shell_words::split(options.unwrap_or_default())
        .map_err(|e| Failure::input(format!("the options cannot be parted: {e}")))?;
    if let [first, second, ..] = switched_on(&words).as_slice() {
        let (first, second) = (first.name(), second.name());
        return Err(Failure::input(format!(
            "two collectors among the options: -XX:+Use{first}GC and -XX:+Use{second}GC\n  a JVM takes one: leave one out"
        )));
    }
    let of_size = ["-Xmx", "-XX:MaxHeapSize=", "-mx"];
    match words.iter().find(|word| of_size.iter().any(|start| word.starts_with(start))) {
        Some(word) => {
            Err(Failure::input(format!("{word} among the options: heap sizes are given by --max-heap")))
        }
        None => Ok(words),
    }
}

/// Collectors that the options switch on and not off again; of two switches the JVM takes the last.
fn switched_on(words: &[String]) -> Vec<Collector> {
    let all = COLLECTORS.into_iter().chain([Collector::Epsilon]);
    all.filter(|collector| {
        let flag = format!("Use{}GC", collector.name());
        let mut switches = words.iter().filter_map(|word| word.strip_prefix("-XX:"));
        let last = switches.rfind(|word| word.get(1..) == Some(flag.as_str()));
        last.is_some_and(|word| word.starts_with('+'))
    })
    .collect()
}
