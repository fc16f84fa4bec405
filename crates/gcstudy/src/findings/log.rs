//! Rules on the log itself: what is missing in it.

use super::rule::{Rule, With};
use assay_model::{Finding, GcReport, GcRule, Severity};

pub(super) const RULES: &[Rule] = &[dropped, strange, torn, unlike, restarted, lacking];

fn dropped(report: &GcReport) -> Option<Finding<GcRule>> {
    let dropped: u64 = report.sources.iter().map(|source| source.messages_dropped).sum();
    (dropped > 0).then(|| {
        let evidence = format!("{dropped} messages");
        let claim = "The JVM dropped messages of its log: counts and sums are too low.";
        Finding::measured(GcRule::MessagesDropped, Severity::Error, claim, evidence)
            .change(
                "Make the buffer larger: raise -XX:AsyncLogBufferSize (2 MiB by default)",
                "A whole log; costs some memory",
            )
            .or("Let threads wait while the disk is slow: -Xlog:async:stall (JDK 25)")
    })
}

fn strange(report: &GcReport) -> Option<Finding<GcRule>> {
    let strange = &report.not_understood;
    let first = strange.shapes.first()?;
    let lines: u64 = report.sources.iter().map(|source| source.lines).sum();
    let evidence = format!("{} of {lines} lines; most often: {}", strange.lines, first.quote);
    let claim = "Some lines were not understood: figures may lack what they say.";
    Some(
        Finding::measured(GcRule::LinesNotUnderstood, Severity::Note, claim, evidence).at(strange
            .shapes
            .iter()
            .take(5)
            .map(|s| s.at)),
    )
}

fn torn(report: &GcReport) -> Option<Finding<GcRule>> {
    let torn = report.sources.iter().enumerate().find(|(_, source)| source.is_torn && source.lines > 0);
    torn.map(|(index, source)| {
        let claim = "The log breaks off within a line: the JVM was killed, the disk was full, or it is still being written.";
        Finding::measured(GcRule::LogBreaksOff, Severity::Note, claim, source.name.clone()).at([(index, source.lines)])
    })
}

fn unlike(report: &GcReport) -> Option<Finding<GcRule>> {
    let differs = |held: &&assay_model::GcReconciliation| held.rounding < (held.logged - held.read).abs();
    let first = report.reconciliations.iter().find(differs)?;
    let count = report.reconciliations.iter().filter(differs).count();
    let evidence = format!(
        "{}: the log says {}, read were {}; {count} such figures",
        first.what, first.logged, first.read
    );
    let claim = "The log's own sums are not those of what was read from it: it is not whole, or was misread.";
    Some(Finding::measured(GcRule::LogContradictsItself, Severity::Warning, claim, evidence).at([first.at]))
}

fn restarted(report: &GcReport) -> Option<Finding<GcRule>> {
    let starts = report.jvms.get(1..).filter(|later| !later.is_empty())?;
    let evidence = format!("{} JVMs wrote it", report.jvms.len());
    let claim = "The JVM was started anew within the log; no rate runs over that.";
    Some(
        Finding::measured(GcRule::JvmRestarted, Severity::Note, claim, evidence)
            .at(starts.iter().take(5).map(|jvm| (jvm.source, jvm.line))),
    )
}

fn lacking(report: &GcReport) -> Option<Finding<GcRule>> {
    if report.pauses.count == 0 {
        return None;
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
    let mut found = Finding::measured(GcRule::LogLacksFigures, Severity::Note, claim, evidence);
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
    Some(found.change(step, "All figures; costs a few lines of log for each collection"))
}
