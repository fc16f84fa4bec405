//! What releases remark on options, as alerts.

use assay_findings::{Alert, Alerts, Rule};
use assay_jdk::options::prevents;
use assay_model::{FlagsOfRelease, FlagsReport, OptionRemark, RemarkOnOption, Severity};

/// The alerts of a result; `lines` are those of the options in its file.
pub fn of(report: &FlagsReport, lines: &[u64]) -> Alerts {
    let rules = OptionRemark::ALL.iter().filter_map(|remark| rule(*remark)).collect();
    let alerts = report.releases.iter().flat_map(|of| of.remarks.iter().map(move |remark| (of, remark)));
    Alerts {
        version: env!("CARGO_PKG_VERSION"),
        command: "assay flags",
        rules,
        alerts: alerts.filter_map(|(of, remark)| alert(report, lines, of, remark)).collect(),
    }
}

/// A kind of remark as a rule; absent for those that say nothing of an option.
fn rule(remark: OptionRemark) -> Option<Rule> {
    let title = title(remark)?;
    Some(Rule {
        id: id(remark),
        severity: severity(remark),
        title: title.to_owned(),
        help: vec![help(remark).to_owned()],
    })
}

fn alert(report: &FlagsReport, lines: &[u64], of: &FlagsOfRelease, remark: &RemarkOnOption) -> Option<Alert> {
    title(remark.remark)?;
    let option = report.options.get(remark.option)?;
    let instead = remark.instead.as_ref().map_or_else(String::new, |instead| format!(" → {instead}"));
    let owner = report.pid.map_or_else(String::new, |pid| format!(" of JVM {pid}"));
    Some(Alert {
        rule: id(remark.remark),
        severity: severity(remark.remark),
        message: format!("JDK {}: {option}: {}{instead}", of.release, remark.why),
        subject: format!("{option}{owner} on JDK {}", of.release),
        file: report.file.clone().map(|file| (file, lines.get(remark.option).copied())),
    })
}

/// With the prefix the id names a rule: `default` alone would not.
fn id(remark: OptionRemark) -> String {
    format!("option-{}", remark.word())
}

fn severity(remark: OptionRemark) -> Severity {
    match remark {
        _ if prevents(remark) => Severity::Error,
        OptionRemark::Ignored | OptionRemark::Deprecated => Severity::Warning,
        _ => Severity::Note,
    }
}

const fn title(remark: OptionRemark) -> Option<&'static str> {
    Some(match remark {
        OptionRemark::Unrecognized => "The release has no such option",
        OptionRemark::Locked => "The option is locked",
        OptionRemark::Conflict => "The option conflicts with another",
        OptionRemark::Malformed => "The option is malformed",
        OptionRemark::OutOfRange => "The value is out of range",
        OptionRemark::OtherJvm => "The option is one of OpenJ9",
        OptionRemark::Refused => "The JVM refused the option",
        OptionRemark::Ignored => "The option is ignored",
        OptionRemark::Deprecated => "The option is deprecated",
        OptionRemark::Changed => "The JVM gives the option another value",
        OptionRemark::NoEffect => "The option has no effect",
        OptionRemark::Overridden => "A later option overrides this one",
        OptionRemark::AlreadyDefault => "The option repeats the default",
        OptionRemark::OtherRelease | OptionRemark::NotJudged | OptionRemark::Other => return None,
    })
}

fn help(remark: OptionRemark) -> &'static str {
    match remark {
        _ if prevents(remark) => {
            "No JVM of this release starts with the option. Remove it, or give it to other releases alone."
        }
        OptionRemark::Ignored => "The JVM warns at its start and does nothing with the option. Remove it.",
        OptionRemark::Deprecated => {
            "The JVM warns at its start: a later release will not have the option. Plan to replace it."
        }
        OptionRemark::Changed => {
            "The JVM starts, with another value than the one that was asked for. Ask for that value."
        }
        OptionRemark::NoEffect => "The option belongs to a collector that is not in use. Remove it.",
        _ => "The option changes nothing. Remove it.",
    }
}
