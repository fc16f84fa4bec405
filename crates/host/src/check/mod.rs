//! The check: the rules' verdicts on a snapshot. Pure functions of it.

mod compare;
mod judges;
mod rule;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use compare::compare;
pub(crate) use rule::{PID, rules};

use assay_model::{
    Change, Finding, HostJvm, HostReport, HostRule, HostRuling, HostSnapshot, HostVerdict, KnownFrom, schema,
};
use rule::{About, Rule, Test};
use view::{Judged, Judgement, View, chosen};
use words::thousands;

/// A rule's recommendation as the keys of a level of a study, TOML; `None` where no setting expresses it.
pub fn advice(rule: HostRule) -> Option<String> {
    let of_rule = rules().iter().find(|of| of.id == rule)?;
    of_rule.level.as_ref().map(toml::Table::to_string)
}

/// A rule of `assay host` in words, as its file says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleInWords {
    /// What should be so.
    pub title: &'static str,
    /// What is read.
    pub reads: &'static [String],
    /// The cost where it is not so.
    pub effect: &'static str,
    /// Where that is known from, and who says so.
    pub known_from: (KnownFrom, &'static str),
    /// What changes it.
    pub command: &'static str,
    /// What helps instead.
    pub alternatives: &'static [String],
    /// What takes that back.
    pub undo: Option<&'static str>,
}

/// A rule in words; `None` of a rule that this version does not know.
pub fn in_words(rule: HostRule) -> Option<RuleInWords> {
    let rule = rules().iter().find(|of| of.id == rule)?;
    Some(RuleInWords {
        title: &rule.title,
        reads: &rule.reads,
        effect: &rule.effect,
        known_from: (rule.evidence, &rule.source),
        command: &rule.command,
        alternatives: &rule.alternatives,
        undo: rule.undo.as_deref(),
    })
}

/// The rules' verdicts on a snapshot: the most costly first, mere folklore last.
pub fn check(snapshot: &HostSnapshot) -> HostReport {
    let mut rulings: Vec<HostRuling> = rules().iter().flat_map(|rule| rulings_of(rule, snapshot)).collect();
    rulings.sort_by_key(|ruling| (ruling.verdict, ruling.finding.rank()));
    HostReport {
        schema: schema::HOST_CHECK.to_owned(),
        provenance: snapshot.provenance.clone(),
        taken_at: snapshot.taken_at.clone(),
        rulings,
        jvms: snapshot.jvms.len(),
        not_readable: snapshot.not_readable,
        problems: snapshot.problems.clone(),
    }
}

fn rulings_of(rule: &Rule, snapshot: &HostSnapshot) -> Vec<HostRuling> {
    match rule.about {
        About::Machine => vec![ruling(rule, snapshot, None)],
        About::Jvm => snapshot.jvms.iter().map(|jvm| ruling(rule, snapshot, Some(jvm))).collect(),
    }
}

fn ruling(rule: &Rule, snapshot: &HostSnapshot, jvm: Option<&HostJvm>) -> HostRuling {
    let view = View::new(snapshot, rule, jvm);
    let Judged { verdict, value, why } = judge(&view).unwrap_or_else(|judged| judged);
    let filled = |text: &String| match &value {
        Some(value) => text.replace("{value}", value),
        None => text.clone(),
    };
    let change = (verdict == HostVerdict::Bad).then(|| Change {
        command: rule.command.clone(),
        alternatives: rule.alternatives.clone(),
        persistent: rule.persistent.clone(),
        undo: rule.undo.as_ref().map(filled),
        risk: rule.risk.clone(),
        ..Change::default()
    });
    let finding = Finding {
        known_from: rule.evidence,
        source: Some(rule.source.clone()),
        effect: Some(rule.effect.clone()),
        change,
        ..Finding::measured(rule.id, rule.severity, rule.title.clone(), why)
    };
    HostRuling {
        finding,
        fault: (verdict == HostVerdict::Bad).then(|| fault(&view, value.as_deref().unwrap_or_default())),
        pid: jvm.map(|jvm| jvm.pid),
        program: jvm.map(|jvm| jvm.program.clone()),
        verdict,
        value,
        conflicts: rule.conflicts.clone(),
        reads: rule.reads.clone(),
    }
}

/// What is wrong, with the value that was found.
fn fault(view: &View<'_>, value: &str) -> String {
    let hours = view.uptime_s().map(|seconds| seconds / 3600.0);
    let since = hours.map_or_else(String::new, |hours| {
        if hours < 48.0 { format!(", {hours:.0} hours") } else { format!(", {:.0} days", hours / 24.0) }
    });
    view.rule.fault.replace("{value}", &thousands(value)).replace("{since}", &since)
}

fn judge(view: &View<'_>) -> Judgement {
    match &view.rule.test {
        Some(test) => by_file(view, test),
        None => judges::judge(view),
    }
}

/// A value that its file alone decides.
fn by_file(view: &View<'_>, test: &Test) -> Judgement {
    let path = &view.rule.reads[0];
    let one_of = |value: &str, good: &[String]| {
        Judged::bad_if(!good.iter().any(|word| word == value), value, format!("good: {}", good.join(", ")))
    };
    Ok(match test {
        Test::AtLeast(least) => {
            let number = view.number(path)?;
            Judged::bad_if(number < *least, number, format!("good: at least {least}"))
        }
        Test::Is(good) => one_of(view.text(path)?.trim(), good),
        Test::Chosen(good) => {
            let text = view.text(path)?;
            let chosen =
                chosen(text).ok_or_else(|| Judged::unknown(format!("no choice in {:?}", text.trim())))?;
            one_of(chosen, good)
        }
    })
}
