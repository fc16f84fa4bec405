//! The one place where a command line, an environment and a folder are put together.

use crate::placeholders::Placeholders;
use crate::spec::ProcessSpec;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A word that becomes as many words as there are JVM options; within a longer word they are one text.
pub const JVM_OPTIONS: &str = "{jvm_options}";

/// The start command of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables that are added to the caller's own, or replace them.
    pub env: BTreeMap<String, String>,
    /// Folder in which it starts.
    pub cwd: PathBuf,
}

impl Launch {
    /// Puts together how a command of a process is started: its own, one that prepares it, or one that asks whether it is ready. It
    /// depends on nothing but its arguments.
    pub fn build(spec: &ProcessSpec, command: &[String], base: &Path, names: &Placeholders) -> Launch {
        let jvm_home = spec.jvm_home.as_ref();
        let java = jvm_home.map_or_else(|| "java".to_owned(), |home| format!("{home}/bin/java"));
        let mut names = names.clone();
        names.set("java", java.clone());
        names.set("jvm_options", joined(&spec.jvm_options));
        let mut argv = Vec::new();
        for (at, word) in command.iter().enumerate() {
            match word.as_str() {
                JVM_OPTIONS => argv.extend(spec.jvm_options.iter().cloned()),
                "java" if at == 0 => argv.push(java.clone()),
                word => argv.push(names.fill(word)),
            }
        }
        let mut env = BTreeMap::new();
        env.extend(jvm_home.map(|home| ("JAVA_HOME".to_owned(), home.clone())));
        env.extend(spec.environment.iter().map(|(name, value)| (name.clone(), names.fill(value))));
        let cwd = spec.directory.as_ref().map_or_else(|| base.to_owned(), |d| base.join(names.fill(d)));
        Launch { argv, env, cwd }
    }
}

/// In one text, as `-jvmArgs` of JMH and `JDK_JAVA_OPTIONS` take them: both split it at blanks that are not in quotes.
fn joined(options: &[String]) -> String {
    let quoted = options.iter().map(|o| if o.contains(' ') { format!("\"{o}\"") } else { o.clone() });
    quoted.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ReadyWhen;

    struct Case {
        about: &'static str,
        command: &'static [&'static str],
        jvm_home: Option<&'static str>,
        options: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
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
        environment: &[],
        directory: None,
        argv: &["server", "--port", "20001"],
        env: &[],
        cwd: "/study",
    };

    const CASES: [Case; 8] = [
        NOTHING,
        Case {
            about: "JVM options are a word each",
            command: &["java", "{jvm_options}", "-jar", "a.jar"],
            jvm_home: Some("/jdk"),
            options: &["-Xmx1g", "-Da=b c", "-Xlog:gc"],
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
            about: "a variable of the program replaces what comes with the JVM",
            environment: &[("A", "port {port}"), ("JAVA_HOME", "own")],
            jvm_home: Some("/jdk"),
            env: &[("A", "port 20001"), ("JAVA_HOME", "own")],
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
            let spec = ProcessSpec {
                directory: case.directory.map(str::to_owned),
                jvm_home: case.jvm_home.map(str::to_owned),
                jvm_options: owned(case.options),
                environment: map(case.environment),
                ..ProcessSpec::new("server", owned(case.command), ReadyWhen::Started)
            };
            let built = Launch::build(&spec, &spec.command, Path::new("/study"), &names);
            let want = Launch { argv: owned(case.argv), env: map(case.env), cwd: case.cwd.into() };
            assert_eq!(built, want, "{}", case.about);
        }
    }
}
