//! Jars that a jar's manifest names.

use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Largest manifest; one that is signed has an entry for each file.
const MANIFEST_BYTES_MAX: u64 = 16 << 20;
const MANIFEST: &str = "META-INF/MANIFEST.MF";

/// The files that the manifest of a jar names, whether or not they exist; none if the file is not a jar.
pub(super) fn named_by(jar: &Path) -> Vec<PathBuf> {
    let Some(manifest) = manifest(jar) else { return Vec::new() };
    let folder = jar.parent().unwrap_or(Path::new("/"));
    let all = ["Class-Path", "Boot-Class-Path"].into_iter().filter_map(|name| attribute(&manifest, name));
    let names: Vec<String> =
        all.flat_map(|value| value.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    // They are URLs: those of other places than files are not for a guest.
    let paths = names.iter().map(|name| name.strip_prefix("file:").unwrap_or(name));
    paths.filter(|name| !name.contains(':')).map(|name| folder.join(unescaped(name))).collect()
}

fn manifest(jar: &Path) -> Option<String> {
    let mut archive = ZipArchive::new(std::fs::File::open(jar).ok()?).ok()?;
    let file = archive.by_name(MANIFEST).ok()?;
    let mut bytes = Vec::new();
    file.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value of the manifest's main section. Lines that begin with a blank go on with the one before.
fn attribute(manifest: &str, name: &str) -> Option<String> {
    let whole = manifest.replace("\r\n", "\n").replace('\r', "\n");
    let main = whole.split("\n\n").next()?.replace("\n ", "");
    let value = main.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    });
    value.filter(|value| !value.is_empty())
}

/// A path of a URL: `%20` is a blank.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_and_only_the_main_section_counts() {
        let manifest = "Manifest-Version: 1.0\r\nclass-path: lib/a.jar lib/b\r\n .jar file:/opt/c%20d.jar\r\n\r\nName: x\r\nBoot-Class-Path: no\r\n";
        assert_eq!(
            attribute(manifest, "Class-Path").as_deref(),
            Some("lib/a.jar lib/b.jar file:/opt/c%20d.jar")
        );
        assert_eq!(attribute(manifest, "Boot-Class-Path"), None);
        assert_eq!(attribute("", "Class-Path"), None);
        assert_eq!(["a%20b", "%", "%2", "%zz", "%2e%2e/x"].map(unescaped), ["a b", "%", "%2", "%zz", "../x"]);
    }

    #[test]
    fn what_is_no_jar_names_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.jar");
        assert!(named_by(&file).is_empty());
        std::fs::write(&file, b"PK\x05\x06 broken").unwrap();
        assert!(named_by(&file).is_empty());
    }
}
