//! Classes and their loaders.

use super::weight::{finding, matters};
use super::words::{bytes, ending, entries_of, of_area, percent, under};
use assay_jdk::Release;
use assay_jdk::release::OptionState;
use assay_model::{Area, Finding, MemoryEntry, MemoryReport, MemoryRule};

/// Older releases make a loader for each reflective accessor that was called 15 times.
const REFLECTION_LOADER: &str = "DelegatingClassLoader";
/// A program calls a few accessors as often anyway.
const REFLECTION_LOADERS_MIN: u64 = 50;
/// Some waste is the price of fast allocation: loaders take chunks of 1 KiB to 4 MiB.
const METASPACE_WASTE_SHARE_MIN: u64 = 5;
const FEWER_LOADERS: &str = "Load classes with fewer class loaders, each of which takes chunks of its own";

/// The default since JDK 17 moves the archive in every JVM: worth a word where it is a large part of a small process.
const ARCHIVE_SHARE_MIN: u64 = 10;

/// Loaders of reflective accessors. Many loaders of any other name are no finding: an OSGi server has one for each bundle, and
/// whether they are a leak shows only when their number grows.
pub(super) fn reflection_loaders(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let is_one = |entry: &&MemoryEntry| loader(entry).is_some_and(|name| name.contains(REFLECTION_LOADER));
    let entries = entries_of(report, Area::ClassMetadata).filter(is_one);
    let (held, count) = entries.fold((0u64, 0), |(held, count), entry| {
        (held.saturating_add(entry.resident_bytes), count.max(entry.count.unwrap_or(0)))
    });
    if count < REFLECTION_LOADERS_MIN || !matters(report, held) {
        return None;
    }
    let since = Release::first_where(|release| !release.jvm.has_reflection_loaders).feature;
    let found = finding(
        MemoryRule::ClassLoadersOfOneName,
        format!("{count} class loaders each serve one reflective accessor"),
        format!("their classes have {} resident, {} of RSS", bytes(held), percent(held, report.rss_bytes)),
        "Keep accessors out of bytecode: -Dsun.reflect.inflationThreshold=2147483647".to_owned(),
        Some(held),
    );
    Some(found.or(format!("Use JDK {since}, which needs no loader for a reflective accessor")))
}

/// The loader's name, below `used`.
pub(crate) fn loader(entry: &MemoryEntry) -> Option<&str> {
    let mut parts = entry.path.iter().skip(1);
    parts.find(|part| *part == "used")?;
    parts.next().map(String::as_str)
}

/// Resident metaspace that holds no classes.
pub(super) fn metaspace_waste(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let free = ending(report, Area::ClassMetadata, "free chunks");
    let tails = ending(report, Area::ClassMetadata, "unused tails");
    let waste = free.saturating_add(tails);
    let title = Area::ClassMetadata.title();
    let space = under(report, &[title, "non-class"]).saturating_add(under(report, &[title, "class space"]));
    if waste < space / METASPACE_WASTE_SHARE_MIN || !matters(report, waste) {
        return None;
    }
    let feature = report.jvm.as_ref().and_then(|jvm| jvm.feature);
    let setting = match feature.map(Release::of) {
        Some(release) if !release.jvm.gives_metaspace_back => {
            let since = Release::first_where(|release| release.jvm.gives_metaspace_back).feature;
            Some(format!("Use JDK {since}, which gives free metaspace back"))
        }
        Some(release) if tails < free && release.option("MetaspaceReclaimPolicy") == OptionState::Product => {
            Some("Set -XX:MetaspaceReclaimPolicy=aggressive".to_owned())
        }
        _ => None,
    };
    let has_setting = setting.is_some();
    let found = finding(
        MemoryRule::MetaspaceWaste,
        format!("{} of metaspace is resident without holding classes", bytes(waste)),
        format!(
            "free chunks {}, unused tails of loaders' chunks {}, {} of metaspace's resident bytes",
            bytes(free),
            bytes(tails),
            percent(waste, space)
        ),
        setting.unwrap_or_else(|| FEWER_LOADERS.to_owned()),
        Some(waste),
    );
    Some(if has_setting { found.or(FEWER_LOADERS) } else { found })
}

/// Pages of the class-data archive that could be shared and are not.
pub(super) fn private_archive(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let title = Area::ClassMetadata.title();
    let private = under(report, &[title, "CDS archive", "private"]);
    let shared = under(report, &[title, "CDS archive", "shared"]);
    if private <= shared || private < report.rss_bytes / ARCHIVE_SHARE_MIN || !matters(report, private) {
        return None;
    }
    let found = finding(
        MemoryRule::CdsArchivePrivate,
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
