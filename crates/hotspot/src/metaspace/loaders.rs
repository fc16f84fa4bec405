//! Class loaders, with the chunks that each has; and the archive of class data.

use super::Loader;
use crate::{Hotspot, Names};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Class loaders of a JVM; hidden classes have one each.
const LOADERS_MAX: usize = 1 << 20;
/// Classes of all loaders.
const CLASSES_MAX: u64 = 1 << 24;
/// Chunks of one arena.
const CHUNKS_PER_ARENA_MAX: usize = 1 << 20;
const PROBLEM: &str = "class loaders";

/// Offsets in a loader's data.
struct Layout {
    next: u64,
    klasses: Option<u64>,
    next_klass: Option<u64>,
    is_hidden: Option<u64>,
    handle: Option<u64>,
    klass: Option<u64>,
    name: Option<u64>,
    arenas: Option<ArenaLayout>,
}

/// From a loader's data to its chunks.
struct ArenaLayout {
    metaspace: u64,
    arenas: [u64; 2],
    first_chunk: u64,
    next_chunk: u64,
}

impl Layout {
    fn of(hotspot: &Hotspot<'_>) -> Option<Layout> {
        let structs = hotspot.structs();
        let private = |type_name, field| hotspot.pack().and_then(|pack| pack.offset(type_name, field));
        let arenas = || {
            Some(ArenaLayout {
                metaspace: private("ClassLoaderData", "_metaspace")?,
                arenas: [
                    private("ClassLoaderMetaspace", "_non_class_space_arena")?,
                    private("ClassLoaderMetaspace", "_class_space_arena")?,
                ],
                first_chunk: private("metaspace::MetaspaceArena", "_chunks")?,
                next_chunk: private("metaspace::Metachunk", "_next")?,
            })
        };
        let hidden = ["_has_class_mirror_holder", "_is_unsafe_anonymous", "_is_anonymous"];
        Some(Layout {
            next: structs.offset("ClassLoaderData", "_next")?,
            klasses: structs.offset("ClassLoaderData", "_klasses"),
            next_klass: structs.offset("Klass", "_next_link"),
            is_hidden: structs.first_offset(&hidden.map(|field| ("ClassLoaderData", field))),
            handle: structs.offset("ClassLoaderData", "_class_loader"),
            klass: private("ClassLoaderData", "_class_loader_klass"),
            name: private("ClassLoaderData", "_name"),
            arenas: arenas(),
        })
    }
}

/// One loader's data as it was met.
struct LoaderData {
    loader: Loader,
    is_hidden: bool,
}

impl Hotspot<'_> {
    /// Loaders, and which of them has the chunk that a descriptor at an address describes.
    pub(super) fn loaders(&self) -> (Vec<Loader>, HashMap<u64, u32>) {
        let (mut loaders, mut loader_of) = (Vec::new(), HashMap::new());
        let source = self.source();
        let head = self.structs().static_address("ClassLoaderDataGraph", "_head");
        let (Some(layout), Some(head)) = (Layout::of(self), head) else {
            self.problem(PROBLEM, "this release does not export the list of them");
            return (loaders, loader_of);
        };
        if layout.arenas.is_none() {
            self.problem(PROBLEM, "which chunks each has is not known in this release");
        }
        let names = self.names();
        let mut seen = HashSet::new();
        let mut classes_left = CLASSES_MAX;
        let mut hidden: Option<u32> = None;
        let mut data = source.word(head).unwrap_or(0);
        while data != 0 && seen.len() < LOADERS_MAX && seen.insert(data) {
            let met = self.loader(data, &layout, &names, &mut classes_left);
            let shared = hidden.filter(|_| met.is_hidden);
            let index = shared.unwrap_or(u32::try_from(loaders.len()).unwrap_or(u32::MAX));
            match shared.and_then(|at| loaders.get_mut(at as usize)) {
                Some(entry) => merge(entry, &met.loader),
                None => {
                    hidden = hidden.or(met.is_hidden.then_some(index));
                    loaders.push(met.loader);
                }
            }
            if let Some(arenas) = &layout.arenas {
                self.chunks_of_loader(data, arenas, index, &mut loader_of);
            }
            data = data.checked_add(layout.next).and_then(|at| source.word(at)).unwrap_or(0);
        }
        (loaders, loader_of)
    }

    fn loader(&self, address: u64, layout: &Layout, names: &Names<'_>, classes_left: &mut u64) -> LoaderData {
        let source = self.source();
        let word = |offset: Option<u64>| source.word(address.checked_add(offset?)?);
        let is_hidden = layout.is_hidden.and_then(|at| source.u8(address.checked_add(at)?));
        let is_hidden = is_hidden.is_some_and(|value| value != 0);
        let classes = word(layout.klasses).and_then(|first| {
            let mut klass = first;
            let mut classes = 0;
            while klass != 0 && *classes_left != 0 {
                classes += 1;
                *classes_left -= 1;
                klass = source.word(klass.checked_add(layout.next_klass?)?)?;
            }
            Some(classes)
        });
        let name = if is_hidden {
            "hidden classes".to_owned()
        } else {
            let klass = match layout.klass {
                Some(_) => word(layout.klass).filter(|klass| *klass != 0),
                None => word(layout.handle).and_then(|handle| self.klass_behind(handle, names)),
            };
            let own = word(layout.name).filter(|name| *name != 0).and_then(|name| names.symbol_at(name));
            match (klass, own) {
                (None, _) => "boot".to_owned(),
                (Some(klass), own) => {
                    let class = names.class_of_klass(klass).unwrap_or_else(|| "unknown class".to_owned());
                    own.map_or_else(|| class.clone(), |own| format!("{class} \"{own}\""))
                }
            }
        };
        LoaderData { loader: Loader { address, name, classes, count: 1 }, is_hidden }
    }

    /// The class of the loader that a handle holds; `None` for the boot loader, which has none.
    fn klass_behind(&self, handle: u64, names: &Names<'_>) -> Option<u64> {
        let object = self.source().word(handle).filter(|object| *object != 0)?;
        names.klass_of_object(object)
    }

    fn chunks_of_loader(
        &self,
        data: u64,
        layout: &ArenaLayout,
        index: u32,
        loader_of: &mut HashMap<u64, u32>,
    ) {
        let source = self.source();
        let at =
            |address: u64, offset: u64| source.word(address.checked_add(offset)?).filter(|word| *word != 0);
        // A loader that has loaded nothing yet has no metaspace.
        let Some(metaspace) = at(data, layout.metaspace) else { return };
        for arena in layout.arenas.iter().filter_map(|offset| at(metaspace, *offset)) {
            let mut chunk = at(arena, layout.first_chunk);
            for _ in 0..CHUNKS_PER_ARENA_MAX {
                let Some(descriptor) = chunk else { break };
                // A chunk that is met twice closes a circle.
                if loader_of.insert(descriptor, index).is_some() {
                    break;
                }
                chunk = at(descriptor, layout.next_chunk);
            }
        }
    }

    /// Where the archive of class data lies, static and dynamic, with what is between them; an AOT cache is one (JDK 24 and later, which 26
    /// renamed the fields after).
    pub(crate) fn archive_bounds(&self) -> Option<Range<u64>> {
        let (structs, source) = (self.structs(), self.source());
        let bound = |end: &str| {
            let [old, new] = ["shared", "aot"].map(|name| format!("_{name}_metaspace_{end}"));
            source.word(structs.first_static_address(&[("MetaspaceObj", &old), ("MetaspaceObj", &new)])?)
        };
        bound("base").zip(bound("top")).map(|(base, top)| base..top).filter(|range| range.start < range.end)
    }

    /// The mapped archive of class data, static and dynamic: one range for each file, by the mappings between its ends.
    pub(super) fn archive_ranges(&self) -> Vec<Range<u64>> {
        let source = self.source();
        let Some(Range { start: base, end: top }) = self.archive_bounds() else { return Vec::new() };
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut file = "";
        for mapping in source.mappings() {
            let start = mapping.addresses.start.max(base);
            let end = mapping.addresses.end.min(top);
            if end <= start || mapping.is_inaccessible() {
                continue;
            }
            // Parts that the JVM has relocated or patched are anonymous, and belong to the file before them.
            let continues = mapping.name.is_empty() || mapping.name == file;
            match ranges.last_mut() {
                Some(range) if range.end == start && continues => range.end = end,
                _ => ranges.push(start..end),
            }
            if mapping.is_file() {
                file = &mapping.name;
            }
        }
        ranges
    }
}

fn merge(entry: &mut Loader, met: &Loader) {
    entry.count += met.count;
    entry.classes = entry.classes.zip(met.classes).map(|(a, b)| a.saturating_add(b));
}
