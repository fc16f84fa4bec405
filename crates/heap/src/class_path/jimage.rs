//! The image with a JDK's own classes, `lib/modules` (JDK 9 and later): one file with a hash table of names.
//!
//! Formats 1.0 and 1.1 (JDK 27 and later), in the machine's byte order: a header of seven words; a table of redirections and one of places, both as
//! long as the hash table; descriptions of resources, texts, and then their bytes. A resource may be packed as a whole
//! (`jlink --compress=zip-6`); the older way that shares texts among classes is not read, and said so.

use super::limits::CLASS_BYTES_MAX;
use flate2::read::ZlibDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

const MAGIC: u32 = 0xcafe_dada;
const VERSION: u32 = 1 << 16;
/// Since JDK 27: with classes of preview features beside the usual ones, and flags of packages.
const VERSION_WITH_PREVIEW: u32 = VERSION + 1;
/// Flag of a package in a module, since 1.1: it has resources there. Before, 0 said so.
const HAS_RESOURCES: u32 = 4;
const HEADER_BYTES: u64 = 28;
const PACKED_MAGIC: u32 = 0xcafe_fafa;
const PACKED_HEADER_BYTES: usize = 29;
const HASH_SEED: u32 = 0x0100_0193;
/// Tables of a whole JDK take 2 MB.
const TABLES_BYTES_MAX: u64 = 256 << 20;
/// A package is in one module, but for empty ones above it.
const MODULES_OF_A_PACKAGE_MAX: u64 = 10_000;

/// An image.
pub(super) struct Jimage {
    source: BufReader<File>,
    redirects: Vec<i32>,
    places: Vec<u32>,
    descriptions: Vec<u8>,
    texts: Vec<u8>,
    /// Where the bytes of resources begin.
    resources_start: u64,
    /// Whether packages have flags.
    has_flags: bool,
}

/// A resource: its module, folder, name and extension as offsets of texts, and where its bytes are.
#[derive(Default)]
struct Resource {
    names: [u64; 4],
    offset: u64,
    packed_bytes: u64,
    bytes: u64,
}

impl Jimage {
    /// Reads the tables of an image; says why it cannot.
    pub fn open(mut source: BufReader<File>) -> Result<Jimage, String> {
        let said = |error: io::Error| error.to_string();
        let length = source.seek(SeekFrom::End(0)).map_err(said)?;
        source.seek(SeekFrom::Start(0)).map_err(said)?;
        let mut header = [0; HEADER_BYTES as usize];
        source.read_exact(&mut header).map_err(said)?;
        let word = |at: usize| word(&header, at * 4).unwrap_or(0);
        if word(0) != MAGIC {
            return Err("it does not begin with the mark of an image in this machine's byte order".to_owned());
        }
        if ![VERSION, VERSION_WITH_PREVIEW].contains(&word(1)) {
            let (major, minor) = (word(1) >> 16, word(1) & 0xffff);
            return Err(format!("its version is {major}.{minor}, known are 1.0 and 1.1"));
        }
        let has_flags = word(1) == VERSION_WITH_PREVIEW;
        let [entries, descriptions, texts] = [4, 5, 6].map(|at| u64::from(word(at)));
        let tables = entries * 8 + descriptions + texts;
        if length < HEADER_BYTES + tables || TABLES_BYTES_MAX < tables {
            return Err(format!("its tables take {tables} B, the file has {length} B"));
        }
        let mut take = |bytes: u64| -> Result<Vec<u8>, String> {
            let mut part = vec![0; bytes as usize];
            source.read_exact(&mut part).map_err(said)?;
            Ok(part)
        };
        let words = |part: &[u8]| -> Vec<u32> {
            part.chunks_exact(4).filter_map(|four| self::word(four, 0)).collect()
        };
        let redirects = words(&take(entries * 4)?).into_iter().map(u32::cast_signed).collect();
        let places = words(&take(entries * 4)?);
        let (descriptions, texts) = (take(descriptions)?, take(texts)?);
        Ok(Jimage {
            source,
            redirects,
            places,
            descriptions,
            texts,
            resources_start: HEADER_BYTES + tables,
            has_flags,
        })
    }

    /// Bytes of the class file of a class, whose name has slashes; `None` where the image does not have it.
    pub fn class_file(&mut self, class: &str) -> Result<Option<Vec<u8>>, String> {
        let Some((package, _)) = class.rsplit_once('/') else { return Ok(None) };
        let Some(modules) = self.find(&format!("/packages/{}", package.replace('/', "."))) else {
            return Ok(None);
        };
        if MODULES_OF_A_PACKAGE_MAX * 8 < modules.bytes {
            return Err(format!("{} B of modules that have {package}", modules.bytes));
        }
        // Pairs: whether the package is empty there, or its flags, and the module's name.
        for pair in self.read(&modules)?.chunks_exact(8) {
            let (Some(state), Some(name)) = (word(pair, 0), word(pair, 4)) else { continue };
            if if self.has_flags { state & HAS_RESOURCES == 0 } else { state != 0 } {
                continue;
            }
            let Some(module) = self.text(u64::from(name)) else { continue };
            let path = format!("/{}/{class}.class", String::from_utf8_lossy(module));
            if let Some(found) = self.find(&path) {
                return self.read(&found).map(Some);
            }
        }
        Ok(None)
    }

    /// External names of all classes.
    pub fn class_names(&self) -> impl Iterator<Item = String> {
        let resources = self.places.iter().filter_map(|at| self.describe(*at as usize));
        resources.filter_map(|resource| {
            let [module, folder, name, extension] = self.names(&resource)?.map(String::from_utf8_lossy);
            let is_class = extension == "class" && !module.is_empty();
            is_class.then(|| format!("{}.{name}", folder.replace('/', ".")))
        })
    }

    fn find(&self, path: &str) -> Option<Resource> {
        let entries = u32::try_from(self.redirects.len()).ok().filter(|entries| *entries != 0)?;
        let redirect = *self.redirects.get((hash(path, HASH_SEED) % entries) as usize)?;
        // Either the seed with which this path gets a place of its own, or a place; nothing for 0.
        let entry = match redirect {
            0 => return None,
            seed if 0 < seed => hash(path, seed.cast_unsigned()) % entries,
            place => (-1_i64 - i64::from(place)).try_into().ok()?,
        };
        let resource = self.describe(*self.places.get(entry as usize)? as usize)?;
        self.is_at(&resource, path).then_some(resource)
    }

    /// A description: pairs of a kind with a length, and a number of so many bytes; ends with kind 0.
    fn describe(&self, mut at: usize) -> Option<Resource> {
        let mut resource = Resource::default();
        loop {
            let head = *self.descriptions.get(at)?;
            let (kind, length) = (head >> 3, usize::from(head & 7) + 1);
            let number = self
                .descriptions
                .get(at + 1..at + 1 + length)
                .map(|bytes| bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)));
            match kind {
                0 => return Some(resource),
                1..=4 => resource.names[usize::from(kind) - 1] = number?,
                5 => resource.offset = number?,
                6 => resource.packed_bytes = number?,
                7 => resource.bytes = number?,
                // Whether it is one of a preview feature, since 1.1.
                8 => {}
                _ => return None,
            }
            at += 1 + length;
        }
    }

    /// Whether a resource has this path: the hash leads to some resource for every path.
    fn is_at(&self, resource: &Resource, path: &str) -> bool {
        let Some([module, folder, name, extension]) = self.names(resource) else { return false };
        let mut whole: Vec<u8> = Vec::new();
        for (before, part, after) in
            [("/", module, "/"), ("", folder, "/"), ("", name, ""), (".", extension, "")]
        {
            if !part.is_empty() || part == name {
                whole.extend_from_slice(before.as_bytes());
                whole.extend_from_slice(part);
                whole.extend_from_slice(after.as_bytes());
            }
        }
        whole == path.as_bytes()
    }

    fn names(&self, resource: &Resource) -> Option<[&[u8]; 4]> {
        let [module, folder, name, extension] = resource.names.map(|at| self.text(at));
        Some([module?, folder?, name?, extension?])
    }

    fn text(&self, at: u64) -> Option<&[u8]> {
        let rest = self.texts.get(usize::try_from(at).ok()?..)?;
        rest.split(|byte| *byte == 0).next()
    }

    fn read(&mut self, resource: &Resource) -> Result<Vec<u8>, String> {
        let stored = if resource.packed_bytes == 0 { resource.bytes } else { resource.packed_bytes };
        if CLASS_BYTES_MAX < stored {
            return Err(format!("a class file of {stored} B"));
        }
        let said = |error: io::Error| error.to_string();
        let start = self.resources_start.checked_add(resource.offset).ok_or("a place beyond all files")?;
        self.source.seek(SeekFrom::Start(start)).map_err(said)?;
        let mut bytes = Vec::new();
        self.source.by_ref().take(stored).read_to_end(&mut bytes).map_err(said)?;
        if (bytes.len() as u64) < stored {
            return Err("it ends within a class file".to_owned());
        }
        if resource.packed_bytes == 0 { Ok(bytes) } else { self.unpack(&bytes) }
    }

    /// A packed resource has a header: mark, length packed and unpacked, name of the method, its configuration, and whether it
    /// is the innermost.
    fn unpack(&self, packed: &[u8]) -> Result<Vec<u8>, String> {
        let header = packed.get(..PACKED_HEADER_BYTES).ok_or("a packed class file without a header")?;
        let method = word(header, 20).and_then(|at| self.text(u64::from(at)));
        let is_innermost = header.last() == Some(&1);
        if word(header, 0) != Some(PACKED_MAGIC) || method != Some(b"zip") || !is_innermost {
            let method = String::from_utf8_lossy(method.unwrap_or_default()).into_owned();
            return Err(format!("its classes are packed in a way that is not read here ({method:?})"));
        }
        let mut bytes = Vec::new();
        let unpacked = ZlibDecoder::new(&packed[PACKED_HEADER_BYTES..]).take(CLASS_BYTES_MAX);
        { unpacked }.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

fn hash(path: &str, seed: u32) -> u32 {
    let mixed = path.bytes().fold(seed, |hash, byte| hash.wrapping_mul(HASH_SEED) ^ u32::from(byte));
    mixed & 0x7fff_ffff
}
