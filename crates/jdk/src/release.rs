//! Releases of the JDK as data: `releases/17.toml` says what is so since JDK 17.
//!
//! Options, traits and rules hold from the file that states them until a later one says otherwise; what was verified, and
//! the layout pack, are of one release alone. A release without a file is taken as the nearest lower one, and what rests on
//! having examined the very release (a layout pack) is then absent.

use crate::objects::ObjectFacts;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use toml::Table;

/// What is known of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// Feature release, for example 17: that of the file, and so lower than that of a JVM whose release has none.
    pub feature: u32,
    /// What Assay lacks for it.
    pub lacks: BTreeSet<MissingSupport>,
    /// Traits of its JVM.
    pub jvm: JvmTraits,
    /// How objects are laid out.
    pub layout: LayoutRules,
    /// How the reference mode follows from heap and options.
    pub modes: ModeRules,
    /// Updates that do it otherwise.
    pub early: Option<EarlyUpdates>,
    /// Fields that the JVM adds or keeps apart: its own, or those of the nearest lower release that has them.
    pub objects: Arc<ObjectFacts>,
    /// Versions that parts of this were held against.
    pub verified: Verified,
    /// Private offsets of this very release, of its 64-bit JVM.
    pub pack: Option<Pack>,
    /// The same of its 32-bit JVM.
    pub pack_32: Option<Pack>,
    options: BTreeMap<String, OptionState>,
}

/// Whether a release has an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionState {
    /// The JVM does not start with it, or passes over it with a warning.
    Absent,
    /// It needs `-XX:+UnlockExperimentalVMOptions`.
    Experimental,
    /// It is an option like others.
    Product,
}

/// What Assay can lack for a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum MissingSupport {
    /// Offsets that the JVM does not export: without them parts of its memory are unknown.
    #[serde(rename = "layout pack")]
    LayoutPack,
    /// Tables of fields that the JVM adds to classes; those of a lower release are used.
    #[serde(rename = "object tables")]
    ObjectTables,
    /// The tables are there, but were not held against a JVM.
    #[serde(rename = "object tables verified")]
    ObjectTablesVerified,
    /// Reference modes are not computed.
    #[serde(rename = "mode rules")]
    ModeRules,
    /// Computed reference modes were not held against a JVM.
    #[serde(rename = "modes verified")]
    ModesVerified,
    /// No log of it is in `testdata/gclog`.
    #[serde(rename = "sample GC log")]
    SampleGcLog,
}

/// Traits of a JVM.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JvmTraits {
    /// `-Xlog`
    pub has_unified_logging: bool,
    /// Element type of the array of a `java.lang.String`.
    pub string_elements: StringElements,
    /// How a thread refers to its `java.lang.Thread`.
    pub thread_object: ThreadObject,
    /// Whether free metaspace is given back to the system.
    pub gives_metaspace_back: bool,
    /// Whether each reflective accessor that is called often has a class loader of its own.
    pub has_reflection_loaders: bool,
}

/// Elements of a string's array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StringElements {
    /// UTF-16 characters.
    Char,
    /// Bytes, of Latin-1 or UTF-16.
    Byte,
}

/// How a thread of the JVM refers to its Java object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadObject {
    /// Its field is the reference.
    Reference,
    /// Its field points at a word outside of the heap, which is the reference.
    Handle,
}

/// How objects are laid out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutRules {
    /// Where fields are put.
    pub fields: FieldPlacement,
    /// Where the elements of an array begin.
    pub array_elements: ArrayElements,
}

/// Where fields of a class are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldPlacement {
    /// Longs, ints, shorts, bytes, then references.
    BySize,
    /// Each into the smallest hole that fits, the holes of super classes included.
    BestFit,
    /// So, and references first below a class that ends with one.
    BestFitReferencesTogether,
    /// So, and into holes behind what is kept free around contended fields, too.
    BestFitBehindPadding,
    /// So, and into every hole: below a class with contended fields, and among static fields.
    BestFitEverywhere,
}

/// Where the elements of an array begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayElements {
    /// At a multiple of a word.
    AtWord,
    /// Where the length ends, or at a multiple of their own size.
    BehindLength,
}

/// How the reference mode follows from the heap's size and the options.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeRules {
    /// Whether modes can be computed.
    pub are_rules_known: bool,
    /// Whether an archive of classes is used where no option says so: it lies above a small heap in place of the class space.
    pub uses_archive: bool,
    /// Whether one address is tried for each way to encode references, and none for a base that is disjoint.
    pub tries_one_address: bool,
    /// Whether G1's regions follow the mean of the initial and the largest heap, rounded down, instead of the largest, rounded up.
    pub g1_regions_follow_mean: bool,
    /// G1's largest region in bytes, where a size is asked for.
    pub g1_region_bytes_max: u64,
    /// Bytes that the limit of compressed references leaves free for G1, where no size is asked for.
    pub g1_alignment_bytes_max: u64,
    /// Whether Shenandoah leaves twice its largest region free, instead of once.
    pub shenandoah_alignment_is_doubled: bool,
    /// Whether the tried addresses are spread from the top of the range to its very bottom.
    pub search_reaches_bottom: bool,
    /// Whether room is left for the class space above a small heap when there is no archive.
    pub leaves_room_for_class_space: bool,
    /// Whether class pointers stay compressed where references are full.
    pub class_pointers_stay_compressed: bool,
    /// Whether object headers are compact where no option says otherwise.
    pub headers_are_compact: bool,
}

/// Updates of a release before a change came to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyUpdates {
    /// The last one that is taken to be without it, for example 12 of 21.0.12.
    pub last: u32,
    /// Their rules.
    pub modes: ModeRules,
}

/// Versions of JVMs that data and rules of a release were held against; absent where none was at hand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// Reference modes, at every limit (`crates/assay/tests/heap_modes.rs`).
    pub modes: Option<String>,
    /// Added and contended fields (`crates/heap/tests/layout/jdks.rs`).
    pub object_tables: Option<String>,
}

/// Private offsets of a JVM, by type and field; `sizeof` is a type's size. In bytes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// The version whose debug information they are from.
    pub made_from: String,
    /// Offsets by type and field.
    pub types: BTreeMap<String, BTreeMap<String, u64>>,
}

/// A file as it stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseFile {
    lacks: BTreeSet<MissingSupport>,
    #[serde(default)]
    options: BTreeMap<String, OptionState>,
    #[serde(default)]
    jvm: Table,
    #[serde(default)]
    layout: Table,
    #[serde(default)]
    modes: Table,
    early: Option<EarlyFile>,
    objects: Option<ObjectFacts>,
    #[serde(default)]
    verified: Verified,
    pack: Option<Pack>,
    pack_32: Option<Pack>,
}

/// Differing values of updates before a change; later releases do not have it from here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EarlyFile {
    last_update: u32,
    modes: Table,
}

/// Feature release and text of each file, in their order.
const FILES: &[(u32, &str)] = include!(concat!(env!("OUT_DIR"), "/releases.rs"));

static RELEASES: LazyLock<Vec<Release>> =
    LazyLock::new(|| read(FILES).unwrap_or_else(|why| panic!("crates/jdk/releases/{why}")));

/// Releases from their files, each with what it has of those before.
fn read(files: &[(u32, &str)]) -> Result<Vec<Release>, String> {
    let (mut jvm, mut layout, mut modes) = (Table::new(), Table::new(), Table::new());
    let (mut options, mut objects) = (BTreeMap::new(), Arc::default());
    let release = |(feature, text): &(u32, &str)| {
        let file: ReleaseFile = toml::from_str(text)?;
        options.extend(file.options);
        jvm.extend(file.jvm);
        layout.extend(file.layout);
        modes.extend(file.modes);
        if let Some(own) = file.objects {
            let verified_with = file.verified.object_tables.clone();
            objects = Arc::new(ObjectFacts { release: *feature, verified_with, ..own });
        } else if let Some(version) = &file.verified.object_tables {
            // Those of a release before, which were verified to hold.
            let verified_with = Some(version.clone());
            objects = Arc::new(ObjectFacts { release: *feature, verified_with, ..(*objects).clone() });
        }
        Ok(Release {
            feature: *feature,
            lacks: file.lacks,
            jvm: jvm.clone().try_into()?,
            layout: layout.clone().try_into()?,
            modes: modes.clone().try_into()?,
            early: file.early.map(|early| early_updates(&modes, early)).transpose()?,
            objects: Arc::clone(&objects),
            verified: file.verified,
            pack: file.pack,
            pack_32: file.pack_32,
            options: options.clone(),
        })
    };
    let mut release = release;
    files
        .iter()
        .map(|file| release(file).map_err(|e: toml::de::Error| format!("{}.toml: {e}", file.0)))
        .collect()
}

fn early_updates(modes: &Table, early: EarlyFile) -> Result<EarlyUpdates, toml::de::Error> {
    let mut own = modes.clone();
    own.extend(early.modes);
    Ok(EarlyUpdates { last: early.last_update, modes: own.try_into()? })
}

impl Release {
    /// How the reference mode follows in an update of this release; where the update is not known, in the newest ones.
    pub fn modes_of(&self, update: Option<u32>) -> &ModeRules {
        let early = self.early.as_ref().filter(|early| update.is_some_and(|update| update <= early.last));
        early.map_or(&self.modes, |early| &early.modes)
    }

    /// Every release that has a file, the oldest first.
    pub fn all() -> &'static [Release] {
        &RELEASES
    }

    /// What is taken to hold for a JVM of this feature release: that of the nearest lower file, of the lowest below it.
    pub fn of(feature: u32) -> &'static Release {
        let at = RELEASES.partition_point(|release| release.feature <= feature);
        &RELEASES[at.saturating_sub(1)]
    }

    /// The very release; `None` where it has no file.
    pub fn exactly(feature: u32) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.feature == feature)
    }

    /// The newest that has a file.
    pub fn newest() -> &'static Release {
        &RELEASES[RELEASES.len() - 1]
    }

    /// The oldest of which this holds; the newest where it holds of none.
    pub fn first_where(holds: impl Fn(&Release) -> bool) -> &'static Release {
        RELEASES.iter().find(|release| holds(release)).unwrap_or(Release::newest())
    }

    /// Whether it has an option, by the flag's name; one that no file speaks of is taken to be there.
    pub fn option(&self, flag: &str) -> OptionState {
        self.options.get(flag).copied().unwrap_or(OptionState::Product)
    }

    /// The feature release from which on an option is a product.
    pub fn product_since(flag: &str) -> u32 {
        Release::first_where(|release| release.option(flag) == OptionState::Product).feature
    }

    /// First releases of the layout rules that differ.
    pub fn first_of_each_layout() -> Vec<u32> {
        let mut firsts: Vec<&Release> = RELEASES.iter().collect();
        firsts.dedup_by(|next, before| next.layout == before.layout);
        firsts.into_iter().map(|release| release.feature).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Parts that a release lacks by the files that there are, whatever its own file says.
    fn missing(release: &Release, logs: &[String]) -> BTreeSet<MissingSupport> {
        let has_tables = release.objects.release == release.feature;
        // `17-g1.log`, `jdk8/cms.log`
        let names = [format!("/{}-", release.feature), format!("/jdk{}/", release.feature)];
        let has_log = logs.iter().any(|log| names.iter().any(|name| log.contains(name)));
        let lacks = [
            (MissingSupport::LayoutPack, release.pack.is_none()),
            (MissingSupport::ObjectTables, !has_tables),
            (MissingSupport::ObjectTablesVerified, has_tables && release.verified.object_tables.is_none()),
            (MissingSupport::ModeRules, !release.modes.are_rules_known),
            (MissingSupport::ModesVerified, release.verified.modes.is_none()),
            (MissingSupport::SampleGcLog, !has_log),
        ];
        lacks.into_iter().filter_map(|(lack, is_missing)| is_missing.then_some(lack)).collect()
    }

    fn logs_below(folder: &Path, found: &mut Vec<String>) {
        for path in std::fs::read_dir(folder).expect("testdata").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                logs_below(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "log") {
                found.push(path.display().to_string());
            }
        }
    }

    #[test]
    fn what_is_missing_for_a_release_is_in_its_file() {
        let mut logs = Vec::new();
        logs_below(&assay_testkit::testdata("gclog"), &mut logs);
        let differing: Vec<String> = Release::all()
            .iter()
            .map(|release| (release, missing(release, &logs)))
            .filter(|(release, missing)| release.lacks != *missing)
            .map(|(release, missing)| {
                format!("{}.toml: lacks {missing:?}, and says {:?}", release.feature, release.lacks)
            })
            .collect();
        assert!(
            differing.is_empty(),
            "add what is missing (CONTRIBUTING.md, \"A JDK release\"), or say in `lacks` that it is:\n{}",
            differing.join("\n")
        );
    }

    #[test]
    fn a_release_without_a_file_is_as_the_nearest_lower_one_but_has_no_pack_of_it() {
        let of = |feature| Release::of(feature).feature;
        assert_eq!([0, 8, 10, 19, 22, 25].map(of), [8, 8, 9, 18, 21, 25]);
        assert_eq!(of(999), Release::newest().feature);
        assert!(Release::exactly(19).is_none() && Release::exactly(999).is_none());
        let tables_of = |feature| Release::of(feature).objects.release;
        assert_eq!([8, 10, 11, 12, 17, 20, 24, 25].map(tables_of), [8, 8, 11, 11, 17, 17, 21, 25]);
    }

    #[test]
    fn what_a_file_says_holds_until_a_later_one_says_otherwise() {
        let state = |feature| Release::of(feature).option("UseCompactObjectHeaders");
        assert_eq!(
            [17, 24, 25].map(state),
            [OptionState::Absent, OptionState::Experimental, OptionState::Product]
        );
        assert_eq!(Release::product_since("GCCardSizeInBytes"), 18);
        assert_eq!(Release::of(17).option("UseG1GC"), OptionState::Product, "no file speaks of it");
        assert_eq!(Release::first_of_each_layout(), [8, 15, 23, 25, 27, 28]);
        let g1 = |feature| Release::of(feature).modes.g1_alignment_bytes_max >> 20;
        assert_eq!([17, 18, 21, 24, 25].map(g1), [32, 512, 32, 512, 32]);
    }

    #[test]
    fn a_file_with_an_unknown_key_is_refused() {
        let with = |text: &str| read(&[(8, FILES[0].1), (9, text)]).map(|_| ());
        assert_eq!(with("lacks = []"), Ok(()));
        for text in [
            "",
            "lacks = ['a horse']",
            "lacks = []\n[jvm]\nspeed = 1",
            "lacks = []\n[modes]\nsearch_reaches_bottom = 3",
        ] {
            assert!(with(text).is_err(), "{text}");
        }
    }
}
