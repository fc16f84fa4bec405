//! One place of a class path.

use super::jimage::Jimage;
use super::limits::{CLASS_BYTES_MAX, ClassPathError, NAMES_MAX};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// No folder of packages is deeper.
const FOLDER_DEPTH_MAX: usize = 64;

/// A folder, jar or image with classes.
pub(super) struct ClassSource {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    Folder,
    Jar(Box<ZipArchive<BufReader<File>>>),
    /// `lib/modules` of a JDK since 9.
    Modules(Box<Jimage>),
}

impl ClassSource {
    /// A folder, a jar, a JDK's home, or its `lib/modules`.
    pub fn open(path: PathBuf) -> Result<ClassSource, ClassPathError> {
        if !path.is_dir() {
            return ClassSource::file(path);
        }
        let classes = ["lib/modules", "jre/lib/rt.jar", "lib/rt.jar"].map(|name| path.join(name));
        match classes.into_iter().find(|file| file.is_file()) {
            Some(classes) => ClassSource::file(classes),
            None => Ok(ClassSource { path, kind: Kind::Folder }),
        }
    }

    fn file(path: PathBuf) -> Result<ClassSource, ClassPathError> {
        let is_image = path.file_name().is_some_and(|name| name == "modules");
        match File::open(&path).map(BufReader::new) {
            Ok(file) if is_image => ClassSource::image(path, file),
            Ok(file) => ClassSource::jar(path, file),
            Err(source) => Err(ClassPathError::Read { path, source }),
        }
    }

    fn jar(path: PathBuf, file: BufReader<File>) -> Result<ClassSource, ClassPathError> {
        match ZipArchive::new(file) {
            Ok(jar) => Ok(ClassSource { path, kind: Kind::Jar(Box::new(jar)) }),
            Err(ZipError::Io(source)) => Err(ClassPathError::Read { path, source }),
            Err(error) => {
                let what = format!("it is neither a folder nor a jar nor the home of a JDK ({error})");
                Err(ClassPathError::NoClasses { path, what })
            }
        }
    }

    fn image(path: PathBuf, file: BufReader<File>) -> Result<ClassSource, ClassPathError> {
        match Jimage::open(file) {
            Ok(image) => Ok(ClassSource { path, kind: Kind::Modules(Box::new(image)) }),
            Err(what) => Err(ClassPathError::NoClasses { path, what }),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The class file of an external name; `None` when it is not here.
    pub fn class(&mut self, name: &str) -> Result<Option<Vec<u8>>, ClassPathError> {
        // A name is typed or read: it leads to nowhere else.
        let name = name.replace('.', "/");
        if name.split('/').any(str::is_empty) || name.contains('\0') {
            return Ok(None);
        }
        let read = match &mut self.kind {
            Kind::Folder => in_folder(&self.path.join(format!("{name}.class"))),
            Kind::Jar(jar) => in_jar(jar, &format!("{name}.class")),
            Kind::Modules(image) => {
                let path = &self.path;
                let damaged = |what| ClassPathError::NoClasses { path: path.clone(), what };
                return image.class_file(&name).map_err(damaged);
            }
        };
        read.map_err(|source| ClassPathError::Read { path: self.path.clone(), source })
    }

    /// External names of its classes.
    pub fn names(&mut self) -> Vec<String> {
        match &mut self.kind {
            Kind::Folder => folder_names(&self.path),
            Kind::Jar(jar) => {
                jar.file_names().flatten().filter_map(|name| class_name(&name)).take(NAMES_MAX).collect()
            }
            Kind::Modules(image) => image.class_names().take(NAMES_MAX).collect(),
        }
    }
}

/// The version in the `release` file of a JDK's home.
pub(super) fn jdk_version(home: &Path) -> Option<String> {
    let mut release = String::new();
    File::open(home.join("release")).ok()?.take(1 << 20).read_to_string(&mut release).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(version.trim().trim_matches('"').to_owned())
}

fn class_name(path: &str) -> Option<String> {
    Some(path.strip_suffix(".class")?.replace('/', "."))
}

fn in_folder(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match File::open(path) {
        Ok(file) => bounded(file).map(Some),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn in_jar(jar: &mut ZipArchive<BufReader<File>>, path: &str) -> io::Result<Option<Vec<u8>>> {
    match jar.by_name(path) {
        Ok(file) => bounded(file).map(Some),
        Err(ZipError::FileNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn bounded(file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(CLASS_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What can be read; this only helps to find a misspelt name.
fn folder_names(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, package, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            // Of links to folders some lead back.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < FOLDER_DEPTH_MAX => {
                    folders.push((entry.path(), format!("{package}{name}."), depth + 1));
                }
                Ok(_) => names.extend(class_name(&name).map(|class| format!("{package}{class}"))),
                Err(_) => {}
            }
            if NAMES_MAX <= names.len() + folders.len() {
                return names;
            }
        }
    }
    names
}
