//! Classes and their loaders.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, ending, ends, is_under, of_area, percent, under};
use assay_jdk::Release;
use assay_jdk::release::OptionState;
use assay_model::{Area, Change, MemoryEntry, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&CLASS_LOADERS_OF_ONE_NAME, &METASPACE_WASTE, &CDS_ARCHIVE_PRIVATE];

/// Older releases make a loader for each reflective accessor that was called 15 times.
const REFLECTION_LOADER: &str = "DelegatingClassLoader";
/// A program calls a few accessors as often anyway.
const LOADERS: Threshold = Threshold::count("loaders", 50);
/// Some waste is the price of fast allocation: loaders take chunks of 1 KiB to 4 MiB.
const WASTE: Threshold = Threshold::percent("waste", 20.0);
const FEWER_LOADERS: &str = "Load classes with fewer class loaders: each takes its own chunks";

/// The default since JDK 17 moves the archive in every JVM: worth a word where it is a large part of a small process.
const ARCHIVE: Threshold = Threshold::percent("archive", 10.0);

static CLASS_LOADERS_OF_ONE_NAME: Rule = Rule {
    id: RuleId::of("class-loaders-of-one-name"),
    severity: Severity::Warning,
    thresholds: &[LOADERS],
    evidence: "The number of class loaders that serve one reflective accessor each (from {loaders} on), and \
        the memory of their classes.",
    cause: "Up to JDK 17, each accessor becomes a class with its own loader after 15 calls. The loader's \
        metaspace chunks are mostly empty.",
    fix: "Keep accessors out of bytecode: `-Dsun.reflect.inflationThreshold=2147483647`.",
    alternatives: &["Use a newer JDK, which needs no such loaders."],
    judge: Judge::of(reflection_loaders).about(is_of_reflection),
};

fn is_of_reflection(path: &[String]) -> bool {
    Area::of_path(path) == Some(Area::ClassMetadata)
        && loader_of(path).is_some_and(|name| name.contains(REFLECTION_LOADER))
}

/// Loaders of reflective accessors. Many loaders of any other name are not a finding: an OSGi server has one for each bundle, and
/// whether they are a leak shows only when their number grows.
fn reflection_loaders(report: &MemoryReport) -> Option<Found> {
    let entries = report.entries.iter().filter(|entry| is_of_reflection(&entry.path));
    let (held, count) = entries.fold((0u64, 0), |(held, count), entry| {
        (held.saturating_add(entry.bytes_of_memory()), count.max(entry.count.unwrap_or(0)))
    });
    if count < LOADERS.whole() || !matters(report, held) {
        return None;
    }
    let since = Release::first_where(|release| !release.jvm.has_reflection_loaders).feature;
    let found = finding(
        &CLASS_LOADERS_OF_ONE_NAME,
        format!("{count} class loaders each serve one reflective accessor"),
        format!("their classes have {} resident, {} of RSS", bytes(held), percent(held, report.rss_bytes)),
        "Keep accessors out of bytecode: -Dsun.reflect.inflationThreshold=2147483647".to_owned(),
        Some(held),
    );
    Some(found.or(format!("Use JDK {since}, which needs no loader for a reflective accessor")))
}

/// The loader's name, below `used`.
pub(crate) fn loader(entry: &MemoryEntry) -> Option<&str> {
    loader_of(&entry.path)
}

fn loader_of(path: &[String]) -> Option<&str> {
    let mut parts = path.iter().skip(1);
    parts.find(|part| *part == "used")?;
    parts.next().map(String::as_str)
}

static METASPACE_WASTE: Rule = Rule {
    id: RuleId::of("metaspace-waste"),
    severity: Severity::Warning,
    thresholds: &[WASTE],
    evidence: "Free chunks and unused ends of loaders' chunks, from {waste} of metaspace's resident bytes on.",
    cause: "Each class loader takes its own chunks. Before JDK 16, those of dead loaders stay committed.",
    fix: "Use a JDK that returns metaspace. If it does, set `-XX:MetaspaceReclaimPolicy=aggressive` if the \
        release has it.",
    alternatives: &["Load classes with fewer class loaders."],
    judge: Judge::of(metaspace_waste).about(is_waste),
};

fn is_waste(path: &[String]) -> bool {
    ["free chunks", "unused tails"].iter().any(|last| ends(path, Area::ClassMetadata, last))
}

/// Resident metaspace that holds no classes.
fn metaspace_waste(report: &MemoryReport) -> Option<Found> {
    let free = ending(report, Area::ClassMetadata, "free chunks");
    let tails = ending(report, Area::ClassMetadata, "unused tails");
    let waste = free.saturating_add(tails);
    let title = Area::ClassMetadata.title();
    let space = under(report, &[title, "non-class"]).saturating_add(under(report, &[title, "class space"]));
    if waste < WASTE.share_of(space) || !matters(report, waste) {
        return None;
    }
    let feature = report.jvm.as_ref().and_then(|jvm| jvm.feature);
    let setting = match feature.map(Release::of) {
        Some(release) if !release.jvm.gives_metaspace_back => {
            let since = Release::first_where(|release| release.jvm.gives_metaspace_back).feature;
            Some(format!("Use JDK {since}, which gives free metaspace back").into())
        }
        Some(release) if tails < free && release.option("MetaspaceReclaimPolicy") == OptionState::Product => {
            Some(Change::to_set(&["-XX:MetaspaceReclaimPolicy=aggressive"], &[], ""))
        }
        _ => None,
    };
    let has_setting = setting.is_some();
    let found = finding(
        &METASPACE_WASTE,
        format!("{} of metaspace is resident without holding classes", bytes(waste)),
        format!(
            "free chunks {}, unused tails of loaders' chunks {}, {} of metaspace's resident bytes",
            bytes(free),
            bytes(tails),
            percent(waste, space)
        ),
        setting.unwrap_or_else(|| FEWER_LOADERS.into()),
        Some(waste),
    );
    Some(if has_setting { found.or(FEWER_LOADERS) } else { found })
}

/// The path of the pages of the archive that are this process's alone.
const PRIVATE_ARCHIVE: [&str; 3] = ["class metadata", "CDS archive", "private"];

static CDS_ARCHIVE_PRIVATE: Rule = Rule {
    id: RuleId::of("cds-archive-private"),
    severity: Severity::Warning,
    thresholds: &[ARCHIVE],
    evidence: "Private and shared bytes of the class-data archive. Made if private ones prevail and are \
        {archive} of RSS or more.",
    cause: "The JVM moved the archive to a random address and so wrote to its pages, which are then no longer shared with other JVMs.",
    fix: "If several JVMs share a host, set `-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0`.",
    alternatives: &["Make an archive of the application's classes, too: `-XX:ArchiveClassesAtExit`."],
    judge: Judge::of(private_archive).about(|path| is_under(path, &PRIVATE_ARCHIVE)),
};

/// Pages of the class-data archive that could be shared and are not.
fn private_archive(report: &MemoryReport) -> Option<Found> {
    let title = Area::ClassMetadata.title();
    let private = under(report, &PRIVATE_ARCHIVE);
    let shared = under(report, &[title, "CDS archive", "shared"]);
    if private <= shared || private < ARCHIVE.share_of(report.bytes_of_memory()) || !matters(report, private)
    {
        return None;
    }
    let found = finding(
        &CDS_ARCHIVE_PRIVATE,
        format!("{} of the class-data archive belongs to this process alone", bytes(private)),
        format!(
            "private {}, shared {}, of {} class metadata; the JVM moved the archive to a random address and so wrote to its \
             pages",
            bytes(private),
            bytes(shared),
            bytes(of_area(report, Area::ClassMetadata))
        ),
        "Let the JVMs of this host share it, if there are several: -XX:+UnlockDiagnosticVMOptions \
         -XX:ArchiveRelocationMode=0"
            .to_owned(),
        None,
    );
    Some(found.or(
        "Share the application's classes too: write -XX:ArchiveClassesAtExit=app.jsa once and start with \
         -XX:SharedArchiveFile=app.jsa",
    ))
}
