//! The one place where a command line, an environment and a folder are put together.

use crate::placeholders::Placeholders;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A word that becomes as many words as there are JVM options; within a longer word they are one text.
pub const JVM_OPTIONS: &str = "{jvm_options}";

/// What a process is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables that are added to the caller's own, or replace them.
    pub env: BTreeMap<String, String>,
    /// Folder in which it starts.
    pub cwd: PathBuf,
}

/// What the observers of a trial need of the process that they watch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// JVM options, after the variant's.
    pub jvm_options: Vec<String>,
    /// Environment variables, over all others.
    pub environment: BTreeMap<String, String>,
}

/// What a launch is made of. Of two that set the same variable the later one here wins.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Words of the command, with placeholders.
    pub command: &'a [String],
    /// Folder in which the process starts, with placeholders; relative to `base`, which is the default.
    pub directory: Option<&'a str>,
    /// Folder of the study file.
    pub base: &'a Path,
    /// Home of the variant's JVM, for `{java}`, a first word `java`, and `JAVA_HOME`.
    pub jvm_home: Option<&'a str>,
    /// The variant's JVM options.
    pub jvm_options: &'a [String],
    /// Variables of the program.
    pub environment: &'a BTreeMap<String, String>,
    /// Variables of the variant.
    pub variant_environment: &'a BTreeMap<String, String>,
    /// A shared library that is loaded before all others.
    pub preload: Option<&'a Path>,
    /// What the observers need.
    pub needs: &'a Needs,
    /// Values of the placeholders.
    pub names: &'a Placeholders,
}

impl Launch {
    /// Puts a launch together. It depends on nothing but its parts.
    pub fn build(parts: &Parts<'_>) -> Launch {
        let options: Vec<&str> =
            parts.jvm_options.iter().chain(&parts.needs.jvm_options).map(String::as_str).collect();
        let java = parts.jvm_home.map_or_else(|| "java".to_owned(), |home| format!("{home}/bin/java"));
        let mut names = parts.names.clone();
        names.set("java", java.clone());
        names.set("jvm_options", joined(&options));
        let mut argv = Vec::new();
        for (at, word) in parts.command.iter().enumerate() {
            match word.as_str() {
                JVM_OPTIONS => argv.extend(options.iter().map(|option| (*option).to_owned())),
                "java" if at == 0 => argv.push(java.clone()),
                word => argv.push(names.fill(word)),
            }
        }
        let mut env = BTreeMap::new();
        env.extend(parts.jvm_home.map(|home| ("JAVA_HOME".to_owned(), home.to_owned())));
        let texts = parts.environment.iter().chain(parts.variant_environment);
        env.extend(texts.map(|(name, value)| (name.clone(), names.fill(value))));
        env.extend(parts.preload.map(|path| ("LD_PRELOAD".to_owned(), path.to_string_lossy().into_owned())));
        env.extend(parts.needs.environment.clone());
        let cwd = parts.directory.map_or_else(|| parts.base.to_owned(), |d| parts.base.join(names.fill(d)));
        Launch { argv, env, cwd }
    }
}

/// In one text, as `-jvmArgs` of JMH and `JDK_JAVA_OPTIONS` take them: both split it at blanks that are not in quotes.
fn joined(options: &[&str]) -> String {
    let quoted = options.iter().map(|o| if o.contains(' ') { format!("\"{o}\"") } else { (*o).to_owned() });
    quoted.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        about: &'static str,
        command: &'static [&'static str],
        jvm_home: Option<&'static str>,
        options: &'static [&'static str],
        needed: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
        of_variant: &'static [(&'static str, &'static str)],
        preload: Option<&'static str>,
        of_needs: &'static [(&'static str, &'static str)],
        directory: Option<&'static str>,
        argv: &'static [&'static str],
        env: &'static [(&'static str, &'static str)],
        cwd: &'static str,
    }

    const NOTHING: Case = Case {
        about: "a command alone",
        command: &["server", "--port", "{port}"],
        jvm_home: None,
        options: &[],
        needed: &[],
        environment: &[],
        of_variant: &[],
        preload: None,
        of_needs: &[],
        directory: None,
        argv: &["server", "--port", "20001"],
        env: &[],
        cwd: "/study",
    };

    const CASES: [Case; 8] = [
        NOTHING,
        Case {
            about: "the observers' options follow the variant's, a word each",
            command: &["java", "{jvm_options}", "-jar", "a.jar"],
            jvm_home: Some("/jdk"),
            options: &["-Xmx1g", "-Da=b c"],
            needed: &["-Xlog:gc"],
            argv: &["/jdk/bin/java", "-Xmx1g", "-Da=b c", "-Xlog:gc", "-jar", "a.jar"],
            env: &[("JAVA_HOME", "/jdk")],
            ..NOTHING
        },
        Case {
            about: "within a word or a variable the options are one text",
            command: &["sh", "start", "-jvmArgs={jvm_options}"],
            options: &["-Xmx1g", "-Da=b c"],
            environment: &[("OPTIONS", "x {jvm_options}")],
            argv: &["sh", "start", "-jvmArgs=-Xmx1g \"-Da=b c\""],
            env: &[("OPTIONS", "x -Xmx1g \"-Da=b c\"")],
            ..NOTHING
        },
        Case {
            about: "without a JVM of the variant's, java is the one on the path",
            command: &["java", "{java}"],
            argv: &["java", "java"],
            ..NOTHING
        },
        Case {
            about: "a word java is a program only in the first place",
            command: &["run", "java"],
            jvm_home: Some("/jdk"),
            argv: &["run", "java"],
            env: &[("JAVA_HOME", "/jdk")],
            ..NOTHING
        },
        Case {
            about: "the variant's variables win over the program's, the library and the observers over both",
            environment: &[
                ("A", "program"),
                ("B", "program {port}"),
                ("JAVA_HOME", "own"),
                ("LD_PRELOAD", "p"),
            ],
            of_variant: &[("A", "variant {port}"), ("C", "variant")],
            preload: Some("/lib/x.so"),
            of_needs: &[("C", "observer {port}")],
            jvm_home: Some("/jdk"),
            env: &[
                ("A", "variant 20001"),
                ("B", "program 20001"),
                ("C", "observer {port}"),
                ("JAVA_HOME", "own"),
                ("LD_PRELOAD", "/lib/x.so"),
            ],
            ..NOTHING
        },
        Case {
            about: "a folder is the study's",
            directory: Some("x/{port}"),
            cwd: "/study/x/20001",
            ..NOTHING
        },
        Case { about: "or any other", directory: Some("/other"), cwd: "/other", ..NOTHING },
    ];

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_part_has_its_place() {
        let mut names = Placeholders::default();
        names.set("port", "20001");
        for case in CASES {
            let needs = Needs { jvm_options: owned(case.needed), environment: map(case.of_needs) };
            let built = Launch::build(&Parts {
                command: &owned(case.command),
                directory: case.directory,
                base: Path::new("/study"),
                jvm_home: case.jvm_home,
                jvm_options: &owned(case.options),
                environment: &map(case.environment),
                variant_environment: &map(case.of_variant),
                preload: case.preload.map(Path::new),
                needs: &needs,
                names: &names,
            });
            let want = Launch { argv: owned(case.argv), env: map(case.env), cwd: case.cwd.into() };
            assert_eq!(built, want, "{}", case.about);
        }
    }
}
