//! Classes from where `java` finds them: folders, jars, and a JDK's own.
//!
//! A layout needs a class's fields and those of its super classes, nothing of its code. So only one line of inheritance is
//! read, and of its class files names and fields. Nothing read is trusted;
//! `fuzz/fuzz_targets/class_path_read.rs` and `tests/layout/class_path.rs` hold that no bytes make it panic.

mod class_file;
mod jimage;
mod limits;
mod place;

use crate::predict::ClassNotFound;
use crate::{ClassHistogram, ClassIndex, ClassShape};
use class_file::ClassFile;
pub use limits::ClassPathError;
use limits::NAMES_MAX;
use place::ClassSource;
use std::ffi::OsStr;
use std::path::PathBuf;

/// No line of inheritance is longer; a file may claim one.
const SUPER_CLASSES_MAX: usize = 1000;

/// A class histogram without objects: a class and its super classes, the class first. Paths are joined by colons; the first place
/// that has a class gives it. Of a multi-release jar the classes for all releases are read. The JDK's version is that of
/// the first JDK in the class path.
///
/// # Errors
/// When a place cannot be read, the class or one of its super classes is in none, or a class file is none.
pub fn read(paths: &OsStr, class: &str) -> Result<ClassHistogram, ClassPathError> {
    let paths = std::env::split_paths(paths).filter(|path| !path.as_os_str().is_empty());
    shapes_of(class, &paths.collect::<Vec<_>>())
}

/// As [`read`], of paths that are apart.
///
/// # Errors
/// As of [`read`].
pub fn shapes_of(class: &str, paths: &[PathBuf]) -> Result<ClassHistogram, ClassPathError> {
    let mut places: Vec<ClassSource> =
        paths.iter().cloned().map(ClassSource::open).collect::<Result<_, _>>()?;
    let jdk_version = paths.iter().find_map(|path| place::jdk_version(path));
    let mut histogram = ClassHistogram { word_bytes: 8, jdk_version, ..ClassHistogram::default() };
    let mut next = Some(class.trim().replace('/', "."));
    while let Some(name) = next {
        let at = histogram.classes.len();
        let is_ring = histogram.classes.iter().any(|shape| *shape.name == name);
        if is_ring || SUPER_CLASSES_MAX < at {
            return Err(ClassPathError::NoEnd { class: class.to_owned() });
        }
        let file = match class_in(&mut places, &name)? {
            Some(file) => file,
            None if at == 0 => return Err(not_found(&mut places, class).into()),
            // Without a JDK in the class path: it declares no fields.
            None if name == "java.lang.Object" => ClassFile::default(),
            None => {
                let class = histogram.classes[at - 1].name.to_string();
                return Err(ClassPathError::NoSuperClass { class, super_class: name });
            }
        };
        next = file.super_class.clone();
        let super_class = next.is_some().then_some(at as ClassIndex + 1);
        histogram.classes.push(shape(name, file, super_class));
    }
    Ok(histogram)
}

fn class_in(places: &mut [ClassSource], name: &str) -> Result<Option<ClassFile>, ClassPathError> {
    for place in places {
        let Some(bytes) = place.class(name)? else { continue };
        let bad = |what| ClassPathError::BadClassFile {
            class: name.to_owned(),
            path: place.path().to_owned(),
            what,
        };
        let file = ClassFile::parse(&bytes).map_err(bad)?;
        if file.name != name {
            return Err(bad(format!("it holds {}", file.name)));
        }
        return Ok(Some(file));
    }
    Ok(None)
}

fn shape(name: String, file: ClassFile, super_class: Option<ClassIndex>) -> ClassShape {
    ClassShape {
        name: name.into_boxed_str(),
        super_class,
        fields: file.fields,
        statics: file.statics,
        instances: 0,
        arrays: None,
        has_mirror: false,
    }
}

/// Which names that are there are like the one that is not.
fn not_found(places: &mut [ClassSource], class: &str) -> ClassNotFound {
    let mut names: Vec<String> = places.iter_mut().flat_map(ClassSource::names).take(NAMES_MAX).collect();
    names.sort_unstable();
    names.dedup();
    crate::predict::not_found(class, names.iter().map(String::as_str))
}
