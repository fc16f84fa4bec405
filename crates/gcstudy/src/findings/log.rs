//! Rules on the log itself: what is missing in it.

use super::rule::{Found, Rule, With};
use assay_model::{GcReport, GcSource, RuleId, Severity};

pub(super) static RULES: &[&Rule] = &[
    &MESSAGES_DROPPED,
    &LINES_NOT_UNDERSTOOD,
    &LOG_BREAKS_OFF,
    &LOG_CONTRADICTS_ITSELF,
    &JVM_RESTARTED,
    &LOG_LACKS_FIGURES,
];

static MESSAGES_DROPPED: Rule = Rule {
    id: RuleId::of("messages-dropped"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Messages that the log reports as dropped.",
    cause: "The buffer of asynchronous logging was full.",
    fix: "Make the buffer larger: `-XX:AsyncLogBufferSize`.",
    alternatives: &["Let threads wait while the disk is slow: `-Xlog:async:stall` (JDK 25)."],
    judge: dropped,
};

fn dropped(report: &GcReport) -> Option<Found> {
    let dropped: u64 = report.sources.iter().map(|source| source.messages_dropped).sum();
    (dropped > 0).then(|| {
        let evidence = format!("{dropped} messages");
        let claim = "The JVM dropped messages of its log: counts and sums are too low.";
        MESSAGES_DROPPED
            .finding(claim, evidence)
            .change(
                "Make the buffer larger: raise -XX:AsyncLogBufferSize (2 MiB by default)",
                "A whole log. Costs some memory",
            )
            .or("Let threads wait while the disk is slow: -Xlog:async:stall (JDK 25)")
    })
}

static LINES_NOT_UNDERSTOOD: Rule = Rule {
    id: RuleId::of("lines-not-understood"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "Lines that were not recognized, of all, and the most frequent one.",
    cause: "Another program wrote into the log, or a format that this version does not know.",
    fix: "Report the quoted line: figures may lack the content of such lines.",
    alternatives: &[],
    judge: unrecognized,
};

fn unrecognized(report: &GcReport) -> Option<Found> {
    let unrecognized = &report.not_understood;
    let first = unrecognized.shapes.first()?;
    let lines: u64 = report.sources.iter().map(|source| source.lines).sum();
    let evidence = format!("{} of {lines} lines; most often: {}", unrecognized.lines, first.quote);
    let claim = "Some lines were not understood: figures may lack what they say.";
    Some(LINES_NOT_UNDERSTOOD.finding(claim, evidence).at(unrecognized.shapes.iter().take(5).map(|s| s.at)))
}

static LOG_BREAKS_OFF: Rule = Rule {
    id: RuleId::of("log-breaks-off"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The file that ends within a line.",
    cause: "The JVM was killed, the disk was full, or the log is still being written.",
    fix: "Nothing, where that is known.",
    alternatives: &[],
    judge: torn,
};

fn torn(report: &GcReport) -> Option<Found> {
    let torn = report.sources.iter().enumerate().find(|(_, source)| source.is_torn && source.lines > 0);
    torn.map(|(index, source)| {
        let claim = "The log breaks off within a line: the JVM was killed, the disk was full, or it is still being written.";
        LOG_BREAKS_OFF.finding(claim, source.name.clone()).at([(index, source.lines)])
    })
}

static LOG_CONTRADICTS_ITSELF: Rule = Rule {
    id: RuleId::of("log-contradicts-itself"),
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "A figure that the log contains about itself, and the one that was read.",
    cause: "The log is not whole, or was misread.",
    fix: "Read all parts of a rotated log.",
    alternatives: &["Report it, where the log is whole."],
    judge: unlike,
};

fn unlike(report: &GcReport) -> Option<Found> {
    let differs = |held: &&assay_model::GcReconciliation| held.rounding < (held.logged - held.read).abs();
    let first = report.reconciliations.iter().find(differs)?;
    let count = report.reconciliations.iter().filter(differs).count();
    let evidence =
        format!("{}: {} in the log, {} read; {count} such figures", first.what, first.logged, first.read);
    let claim =
        "The log's own sums differ from those of the events read: the log is incomplete, or was misread.";
    Some(LOG_CONTRADICTS_ITSELF.finding(claim, evidence).at([first.at]))
}

static JVM_RESTARTED: Rule = Rule {
    id: RuleId::of("jvm-restarted"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "How many JVMs wrote the log, and where each begins.",
    cause: "The JVM was restarted. Rates do not span that.",
    fix: "Change nothing.",
    alternatives: &["Write one log for each start (`%t` in the file's name)."],
    judge: restarted,
};

fn restarted(report: &GcReport) -> Option<Found> {
    let starts = report.jvms.get(1..).filter(|later| !later.is_empty())?;
    let evidence = format!("{} JVMs wrote it", report.jvms.len());
    let claim = "The JVM was restarted within the log. No rate spans that.";
    Some(JVM_RESTARTED.finding(claim, evidence).at(starts.iter().take(5).map(|jvm| (jvm.source, jvm.line))))
}

static LOG_LACKS_FIGURES: Rule = Rule {
    id: RuleId::of("log-lacks-figures"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "Figures that the log lacks: times, heap sizes, safepoints, CPU times, settings.",
    cause: "The JVM was started with fewer log tags than these figures need.",
    fix: "Start the JVM with the `-Xlog` line that the finding gives.",
    alternatives: &[],
    judge: lacking,
};

fn lacking(report: &GcReport) -> Option<Found> {
    if report.pauses.count == 0 {
        return None;
    }
    if report.sources.iter().any(GcSource::has_long_collections_alone) {
        let found = LOG_LACKS_FIGURES.finding(
            "The log lacks what some figures need.",
            "not in the log: short collections, about which the server writes nothing (no share of time, no \
                rates)",
        );
        let step = "Have the JVM write a log of its own: -Xlog:gc*:file=gc.log";
        return Some(found.change(step, "All figures. Costs a few lines of log for each collection"));
    }
    let lacks = [
        (report.span_s.is_none(), "times (no throughput, no rates, no trend)"),
        (
            report.freed_bytes.is_none() && report.allocated_bytes.is_none(),
            "the heap before and after (no rates, no live set)",
        ),
        (
            report.time_to_safepoint.count == 0,
            "safepoints (no time to reach them, no stops for other things)",
        ),
        (report.cpu.is_none(), "CPU times of collections"),
        (
            report.jvms.last().is_none_or(|jvm| jvm.heap_bytes_max.is_none()),
            "the JVM's settings (no advice on heap and references)",
        ),
    ];
    let missing: Vec<&str> = lacks.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
    if missing.is_empty() {
        return None;
    }
    let dialect = report.sources.iter().rev().find_map(|source| source.dialect.as_deref());
    let claim = "The log lacks what some figures need.";
    let evidence = format!("not in the log: {}", missing.join("; "));
    let mut found = LOG_LACKS_FIGURES.finding(claim, evidence);
    let options = match dialect {
        Some("jdk8") => {
            "-XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:+PrintGCTimeStamps -XX:+PrintGCApplicationStoppedTime \
             -XX:+PrintGCCause -Xloggc:gc.log"
        }
        Some("j9") => {
            found.evidence.push("no option makes verbose GC of J9 say more".to_owned());
            return Some(found);
        }
        _ => {
            "-Xlog:gc*,gc+heap=debug,gc+heap+coops=debug,pagesize,safepoint:file=gc.log:time,uptime,level,tags"
        }
    };
    let step = format!("Start the JVM with {options}");
    Some(found.change(step, "All figures. Costs a few lines of log for each collection"))
}
