//! The input of a judge: the files that its rule names, and the JVM that it is about.

use super::rule::{PID, Rule};
use assay_model::{FileRead, FlagOrigin, HostFlag, HostGroup, HostJvm, HostSnapshot, HostVerdict};
use std::fmt::Display;

/// Seconds since boot.
const UPTIME: &str = "/proc/uptime";

/// A judge's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) verdict: HostVerdict,
    pub(crate) value: Option<String>,
    pub(crate) why: String,
}

/// `Err` where the judge could not come to its question: something is unknown, or does not apply.
pub(crate) type Judgement = Result<Judged, Judged>;

impl Judged {
    pub(crate) fn bad(value: impl Display, why: impl Into<String>) -> Judged {
        Judged { verdict: HostVerdict::Bad, value: Some(value.to_string()), why: why.into() }
    }

    pub(crate) fn good(value: impl Display, why: impl Into<String>) -> Judged {
        Judged { verdict: HostVerdict::Good, value: Some(value.to_string()), why: why.into() }
    }

    /// Bad or good.
    pub(crate) fn bad_if(is_bad: bool, value: impl Display, why: impl Into<String>) -> Judged {
        if is_bad { Judged::bad(value, why) } else { Judged::good(value, why) }
    }

    pub(crate) fn unknown(why: impl Into<String>) -> Judged {
        Judged { verdict: HostVerdict::Unknown, value: None, why: why.into() }
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Judged {
        Judged { verdict: HostVerdict::NotApplicable, value: None, why: why.into() }
    }
}

/// A snapshot as one rule sees it, of the machine or of one JVM.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) snapshot: &'a HostSnapshot,
    pub(crate) rule: &'a Rule,
    jvm: Option<&'a HostJvm>,
}

impl<'a> View<'a> {
    pub(crate) fn new(snapshot: &'a HostSnapshot, rule: &'a Rule, jvm: Option<&'a HostJvm>) -> View<'a> {
        View { snapshot, rule, jvm }
    }

    /// The same rule's view of a JVM, for rules about the machine that ask each.
    pub(crate) fn of_jvm(&self, jvm: &'a HostJvm) -> View<'a> {
        View { jvm: Some(jvm), ..*self }
    }

    /// The JVM that the rule is about.
    pub(crate) fn jvm(&self) -> Result<&'a HostJvm, Judged> {
        self.jvm.ok_or_else(|| Judged::not_applicable("it is about a JVM"))
    }

    /// A file's text; where the kernel does not have it, what the rule says of that.
    pub(crate) fn text(&self, path: &str) -> Result<&'a str, Judged> {
        self.optional(path)?.ok_or_else(|| Judged {
            verdict: self.rule.absent,
            value: None,
            why: format!("this kernel does not have {}", self.place(path)),
        })
    }

    /// A file's text; `None` where the kernel does not have it.
    pub(crate) fn optional(&self, path: &str) -> Result<Option<&'a str>, Judged> {
        assert!(self.rule.reads.iter().any(|read| read == path), "{} does not name {path}", self.rule.id);
        let place = self.place(path);
        match self.snapshot.files.get(&place) {
            Some(FileRead::Text(text)) => Ok(Some(text)),
            Some(FileRead::Absent) => Ok(None),
            Some(FileRead::Unreadable(why)) => Err(Judged::unknown(format!("cannot read {place}: {why}"))),
            None => Err(Judged::unknown(format!("{place} is not in the snapshot"))),
        }
    }

    fn place(&self, path: &str) -> String {
        self.jvm.map_or_else(|| path.to_owned(), |jvm| path.replace(PID, &jvm.pid.to_string()))
    }

    /// The files that a pattern with wildcards names, by path; empty where there is none.
    pub(crate) fn all(&self, pattern: &str) -> Result<Vec<(&'a str, &'a str)>, Judged> {
        assert!(
            self.rule.reads.iter().any(|read| read == pattern),
            "{} does not name {pattern}",
            self.rule.id
        );
        let wanted = glob::Pattern::new(pattern).expect("the rules' patterns are read in a test");
        // A wildcard does not go into folders.
        let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
        let named = self.snapshot.files.iter().filter(|(path, _)| wanted.matches_with(path, options));
        let read = named.filter_map(|(path, read)| match read {
            FileRead::Text(text) => Some(Ok((path.as_str(), text.trim()))),
            FileRead::Absent => None,
            FileRead::Unreadable(why) => Some(Err(Judged::unknown(format!("cannot read {path}: {why}")))),
        });
        read.collect()
    }

    /// The number that a file holds, its first word.
    pub(crate) fn number(&self, path: &str) -> Result<u64, Judged> {
        let text = self.text(path)?;
        let word = text.split_whitespace().next().unwrap_or_default();
        word.parse().map_err(|_| Judged::unknown(format!("{}: {word:?} is not a number", self.place(path))))
    }

    /// The number behind a key, as in `/proc/meminfo` and `/proc/PID/status`; `None` without the key.
    pub(crate) fn keyed(&self, path: &str, key: &str) -> Result<Option<u64>, Judged> {
        let text = self.text(path)?;
        let of_key = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let Some(value) = of_key else { return Ok(None) };
        let word = value.split_whitespace().next().unwrap_or_default();
        let parsed = word.parse().map(Some);
        parsed.map_err(|_| Judged::unknown(format!("{}: {key} is {word:?}, not a number", self.place(path))))
    }

    /// The same where the key has to be there.
    pub(crate) fn keyed_or_unknown(&self, path: &str, key: &str) -> Result<u64, Judged> {
        let missing = || Judged::unknown(format!("{} has no {key}", self.place(path)));
        self.keyed(path, key)?.ok_or_else(missing)
    }

    /// A flag of the JVM; `None` where its release does not have it, or nobody set it.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<&'a HostFlag>, Judged> {
        let jvm = self.jvm()?;
        let unreadable = || Judged::unknown(format!("the flags of JVM {} could not be read", jvm.pid));
        Ok(jvm.flags.as_ref().ok_or_else(unreadable)?.get(name))
    }

    pub(crate) fn is_on(&self, name: &str) -> Result<bool, Judged> {
        Ok(self.flag(name)?.is_some_and(|flag| flag.value == "true"))
    }

    /// Whether somebody set a flag on purpose.
    pub(crate) fn is_set(&self, name: &str) -> Result<bool, Judged> {
        Ok(self.flag(name)?.is_some_and(|flag| matches!(flag.set_by, FlagOrigin::User | FlagOrigin::Running)))
    }

    /// A flag that is a number.
    pub(crate) fn flag_number(&self, name: &str) -> Result<u64, Judged> {
        let number = self.flag(name)?.and_then(|flag| flag.value.parse().ok());
        number.ok_or_else(|| Judged::unknown(format!("this JVM gives no {name}")))
    }

    /// The JVM's control group.
    pub(crate) fn group(&self) -> Result<HostGroup, Judged> {
        self.jvm()?.group.ok_or_else(|| Judged::unknown("its control group could not be read"))
    }

    /// How long the machine has run, seconds, for a rule about what was counted since boot; `None` where that was not read.
    pub(crate) fn uptime_s(&self) -> Option<f64> {
        self.rule.reads.iter().any(|read| read == UPTIME).then_some(())?;
        let text = self.optional(UPTIME).ok()??;
        text.split_whitespace()
            .next()?
            .parse()
            .ok()
            .filter(|seconds: &f64| seconds.is_finite() && 0.0 < *seconds)
    }

    /// Processors that are online.
    pub(crate) fn processors(&self) -> Result<u64, Judged> {
        let online = self.text("/sys/devices/system/cpu/online")?;
        let count = list_len(online).filter(|count| *count != 0);
        count.ok_or_else(|| Judged::unknown(format!("{:?} is not a list of processors", online.trim())))
    }
}

/// How many numbers a list of the kernel names, such as `0-3,8`.
pub(crate) fn list_len(list: &str) -> Option<u64> {
    Some(ranges(list)?.iter().map(|(first, last)| last - first + 1).sum())
}

/// Whether two lists share a number.
pub(crate) fn lists_meet(one: &str, other: &str) -> Option<bool> {
    let (one, other) = (ranges(one)?, ranges(other)?);
    Some(one.iter().any(|(a, b)| other.iter().any(|(c, d)| a <= d && c <= b)))
}

fn ranges(list: &str) -> Option<Vec<(u64, u64)>> {
    let parts = list.trim().split(',').filter(|part| !part.is_empty());
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last < 1 << 32).then_some((first, last))
    };
    parts.map(range).collect()
}

/// The choice in force stands in brackets: `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// Bytes for people.
pub(crate) fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
