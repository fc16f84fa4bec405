//! Finding the JVM in a process.

use crate::{Flags, HotspotError, JvmVersion, LayoutPack, Structs, Symbols};
use assay_jdk::{Collector, Release};
use assay_linux::{Mapping, MemorySource};
use assay_model::Problem;
use std::sync::Mutex;

/// A program with a statically linked JVM has at least this much code.
const STATIC_CODE_BYTES_MIN: u64 = 4 << 20;
/// Programs and libraries that are looked into when there is no libjvm.
const STATIC_FILES_MAX: usize = 8;
/// Private offsets were read off JVMs for x86, and a thread has members there of the architecture alone. Held by:
/// `of_a_jvm_for_another_architecture_no_private_offset_is_used_and_that_is_said`.
const NOT_X86: &str = "this JVM is for an untested architecture: facts from private structures alone are \
    unknown, and those from exported structures are not proven";
/// Problems that are kept.
const PROBLEMS_MAX: usize = 100;

/// A HotSpot JVM, read from outside.
pub struct Hotspot<'m> {
    source: &'m dyn MemorySource,
    symbols: Symbols,
    structs: Structs,
    version: Option<JvmVersion>,
    flags: Flags,
    pack: Option<LayoutPack>,
    problems: Mutex<Vec<Problem>>,
}

impl<'m> Hotspot<'m> {
    /// Finds libjvm among the mappings, its symbols and its exported structures. `None`: the process maps no libjvm,
    /// nor is one linked into its program.
    ///
    /// # Errors
    /// When there is a libjvm but its file or its structures cannot be read.
    pub fn open(source: &'m dyn MemorySource) -> Result<Option<Hotspot<'m>>, HotspotError> {
        let Some(symbols) = find_jvm(source)? else { return Ok(None) };
        let structs = Structs::read(source, &symbols)?;
        let version = JvmVersion::read(source, &symbols, &structs);
        let flags = Flags::read(source, &symbols, &structs);
        let feature = version.as_ref().map(|version| version.feature);
        let pack = feature.filter(|_| symbols.is_x86());
        let pack = pack.and_then(|feature| LayoutPack::of(feature, symbols.word_bytes(), &structs));
        let jvm = Hotspot { source, symbols, structs, version, flags, pack, problems: Mutex::default() };
        if !jvm.symbols.is_x86() {
            jvm.problem("architecture", NOT_X86);
        }
        Ok(Some(jvm))
    }

    /// The same JVM through a source of the same process that was opened later. What was found once (symbols, exported
    /// structures, version, flags, layout pack) is not looked for again.
    pub fn seen_through<'n>(self, source: &'n dyn MemorySource) -> Hotspot<'n> {
        let Hotspot { symbols, structs, version, flags, pack, problems, .. } = self;
        Hotspot { source, symbols, structs, version, flags, pack, problems }
    }

    /// The memory that is read.
    pub fn source(&self) -> &'m dyn MemorySource {
        self.source
    }

    /// What the JVM exports for debuggers.
    pub fn structs(&self) -> &Structs {
        &self.structs
    }

    /// Symbols of libjvm.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Private offsets of this major version, checked at run time; `None` without a pack of it, for a JVM that is not for x86, or
    /// when a check failed. A problem says which.
    pub fn pack(&self) -> Option<&LayoutPack> {
        self.pack.as_ref()
    }

    /// The JVM's version.
    pub fn version(&self) -> Option<&JvmVersion> {
        self.version.as_ref()
    }

    /// Whether the JVM has the diagnostic command that trims malloc: 18 and later, and updates of 11 and 17 from 2023 on. Its class shows it,
    /// or where libjvm has no symbols the command's name.
    pub fn has_trim_command(&self) -> bool {
        /// The table of functions of `TrimCLibcHeapDCmd`.
        const CLASS: &str = "_ZTV17TrimCLibcHeapDCmd";
        const NAME: &str = "System.trim_native_heap";
        let symbols = self.symbols();
        match symbols.has_symtab() {
            true => symbols.address(CLASS).is_some(),
            false => !symbols.image.constants().places_of(NAME).is_empty(),
        }
    }

    /// What is known of its release.
    pub(crate) fn release(&self) -> Option<&'static Release> {
        self.version().map(|version| Release::of(version.feature))
    }

    /// Command-line flags with their values.
    pub fn flags(&self) -> &Flags {
        &self.flags
    }

    /// The garbage collector, by its flags.
    pub fn collector(&self) -> Option<Collector> {
        let used =
            |collector: &Collector| self.flags.bool(&format!("Use{}GC", collector.name())) == Some(true);
        Collector::ALL.into_iter().find(used)
    }

    /// What could not be read so far, by any part.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.lock().map(|problems| problems.clone()).unwrap_or_default()
    }

    /// Notes what could not be read. Said once, even when it is met many times.
    pub(crate) fn problem(&self, source: &str, what: impl Into<String>) {
        let problem = Problem::new(source, what);
        if let Ok(mut problems) = self.problems.lock()
            && problems.len() < PROBLEMS_MAX
            && !problems.contains(&problem)
        {
            problems.push(problem);
        }
    }
}

fn find_jvm(source: &dyn MemorySource) -> Result<Option<Symbols>, HotspotError> {
    let is_libjvm = |m: &&Mapping| {
        let path = m.name.strip_suffix(" (deleted)").unwrap_or(&m.name);
        path.ends_with("/libjvm.so")
    };
    if let Some(mapping) = source.mappings().iter().find(is_libjvm) {
        return Symbols::of_mapped_file(source, mapping).map(Some);
    }
    let mut seen = Vec::new();
    for mapping in source.mappings() {
        let is_large = mapping.is_executable() && STATIC_CODE_BYTES_MIN <= mapping.size_bytes();
        if !mapping.is_file() || !is_large || seen.contains(&mapping.inode) || seen.len() == STATIC_FILES_MAX
        {
            continue;
        }
        seen.push(mapping.inode);
        // A file that cannot be read here belongs to another process.
        if let Ok(symbols) = Symbols::of_mapped_file(source, mapping)
            && symbols.address("gHotSpotVMStructs").is_some()
        {
            return Ok(Some(symbols));
        }
    }
    Ok(None)
}
