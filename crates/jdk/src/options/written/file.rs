//! Options in files: `jvm.options` with versions, files of arguments, environment files, scripts, Dockerfiles, manifests.
//!
//! What a file is, is not asked: each line is looked at for itself, since these forms are mixed. `fuzz/fuzz_targets/option_files.rs` holds
//! that no text makes it panic.

use super::line::{is_launcher, options_in_words};
use crate::options::judge::{is_known, takes_next_word};
use std::ops::RangeInclusive;

/// Every release.
const ALL: RangeInclusive<u32> = 0..=u32::MAX;
/// Options of a file that are read.
const OPTIONS_MAX: usize = 2_000;
/// Names before one value.
const NAMES_MAX: usize = 2;
/// Lines of a Dockerfile that run while an image is made, and what holds no options.
const OTHER_LINES: [&str; 8] = ["#", "//", ";", "RUN ", "FROM ", "COPY ", "ADD ", "LABEL "];

/// An option that stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenOption {
    /// The option; of two words with a space between them.
    pub text: String,
    /// The releases that get it.
    pub releases: RangeInclusive<u32>,
}

/// The options of a file, in their order; no more than 2,000 of them.
pub fn options_in_file(text: &str) -> Vec<WrittenOption> {
    let mut found = Vec::new();
    for line in whole_lines(text) {
        let line = line.trim();
        if line.is_empty() || OTHER_LINES.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let (releases, line) = versioned(line).unwrap_or((ALL, line));
        found.extend(
            options_in_line(line).into_iter().map(|text| WrittenOption { text, releases: releases.clone() }),
        );
        if OPTIONS_MAX <= found.len() {
            found.truncate(OPTIONS_MAX);
            break;
        }
    }
    found
}

/// Lines, with those that end in a backslash or a caret joined to the next.
fn whole_lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for line in text.trim_start_matches('\u{feff}').lines() {
        let last = lines.last_mut().expect("it begins with one");
        match line.trim_end().strip_suffix(['\\', '^']) {
            Some(part) if !line.trim_start().starts_with('#') => {
                last.push_str(part);
                last.push(' ');
            }
            _ => {
                last.push_str(line);
                lines.push(String::new());
            }
        }
    }
    lines
}

/// The releases of a line `8-13:-XX:...`, `14-:-XX:...` or `8:-XX:...`, and the rest.
fn versioned(line: &str) -> Option<(RangeInclusive<u32>, &str)> {
    let (versions, rest) = line.split_once(':')?;
    let releases = match versions.split_once('-') {
        Some((first, "")) => first.parse().ok()?..=u32::MAX,
        Some((first, last)) => first.parse().ok()?..=last.parse().ok()?,
        None => versions.parse().ok().map(|only| only..=only)?,
    };
    rest.starts_with('-').then_some((releases, rest))
}

fn options_in_line(line: &str) -> Vec<String> {
    let item = line.strip_prefix("- ").unwrap_or(line).trim();
    if item.starts_with(['-', '@']) {
        return options_of_list(item);
    }
    let words = match item.split_once('[') {
        // ENTRYPOINT ["java", "-Xmx1g"]
        Some((_, list)) if list.trim_start().starts_with('"') => {
            list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
        }
        _ => words_of(item),
    };
    if words.iter().any(|word| is_launcher(word)) {
        return options_in_words(&words).unwrap_or_default();
    }
    options_of_values(&words)
}

/// Of a line that begins with an option: all of it is one, as `-Dname=two words`, unless each of its words is.
fn options_of_list(line: &str) -> Vec<String> {
    options_in_words(&words_of(line)).unwrap_or_else(|_| vec![line.to_owned()])
}

/// Of `NAME=VALUE`, `NAME: VALUE`, `export NAME=VALUE`, `ENV NAME VALUE`: what is known as an option in their values.
fn options_of_values(words: &[String]) -> Vec<String> {
    let mut options = Vec::new();
    let values: Vec<String> = words.iter().flat_map(|word| values_of(word, NAMES_MAX)).collect();
    let mut values = values.into_iter().skip_while(|word| !is_option(word));
    while let Some(word) = values.next() {
        if takes_next_word(&word) {
            let value = values.next().map(|value| format!("{word} {value}"));
            options.push(value.unwrap_or(word));
        } else if is_option(&word) {
            options.push(word);
        }
    }
    options
}

/// The words behind names and equals signs: `Environment=JAVA_OPTS=-Xmx1g -Xms1g` has two.
fn values_of(word: &str, names: usize) -> Vec<String> {
    match word.split_once('=') {
        Some((_, value)) if !word.starts_with('-') && 0 < names => {
            words_of(value).iter().flat_map(|word| values_of(word, names - 1)).collect()
        }
        _ => words_of(word),
    }
}

/// Whether a word is an option, in a line that may hold anything.
fn is_option(word: &str) -> bool {
    3 < word.len() && (word.starts_with("-X") || word.starts_with("-D") || is_known(word))
        || takes_next_word(word) && 2 < word.len()
}

/// As a shell parts them; where quotes are open, at blanks.
fn words_of(line: &str) -> Vec<String> {
    shell_words::split(line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<String> {
        options_in_file(file).into_iter().map(|option| option.text).collect()
    }

    #[test]
    fn lines_of_jvm_options_hold_for_their_releases() {
        let file = "## GC\n8-13:-XX:+UseConcMarkSweepGC\n14-:-XX:+UseG1GC\n8:-XX:+PrintGCDetails\n-Djava.io.tmpdir=${ES_TMPDIR}\n\
            -XX:OnOutOfMemoryError=kill -9 %p\n\n  -Xlog:gc*,gc+age=trace:file=gc.log:utctime:filecount=32\n";
        let found = options_in_file(file);
        let of = |text: &str, releases| WrittenOption { text: text.to_owned(), releases };
        let expected = [
            of("-XX:+UseConcMarkSweepGC", 8..=13),
            of("-XX:+UseG1GC", 14..=u32::MAX),
            of("-XX:+PrintGCDetails", 8..=8),
            of("-Djava.io.tmpdir=${ES_TMPDIR}", ALL),
            of("-XX:OnOutOfMemoryError=kill -9 %p", ALL),
            of("-Xlog:gc*,gc+age=trace:file=gc.log:utctime:filecount=32", ALL),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn files_of_every_kind_give_their_options() {
        let files = [
            (
                "a file of arguments",
                "# shop\n-Xmx1g -cp \"/opt/a b.jar\"\n--add-opens java.base/java.lang=ALL-UNNAMED\n",
                &["-Xmx1g", "-cp /opt/a b.jar", "--add-opens java.base/java.lang=ALL-UNNAMED"][..],
            ),
            (
                "an environment file",
                "SHOP=x\nJAVA_TOOL_OPTIONS=-Xmx1g -XX:+UseG1GC\n",
                &["-Xmx1g", "-XX:+UseG1GC"],
            ),
            (
                "a script",
                "#!/bin/sh\nif [ -d /opt/shop ]; then rm -f x; fi\nexport JAVA_OPTS=\"$JAVA_OPTS -Xmx1g -Dx=y\"\nJAVA_OPTS='-Xss1m'\nexec java $JAVA_OPTS \\\n  -XX:+UseG1GC \\\n  -jar shop.jar -v\n",
                &["-Xmx1g", "-Dx=y", "-Xss1m", "-XX:+UseG1GC"],
            ),
            (
                "a Dockerfile",
                "FROM eclipse-temurin:21\nRUN java -Xshare:dump\nENV JAVA_TOOL_OPTIONS=\"-Xmx1g -Xms1g\" B=c\nENV JDK_JAVA_OPTIONS -Xss1m -ea\nENTRYPOINT [\"java\", \"-XX:+UseZGC\", \"-jar\", \"x.jar\"]\n",
                &["-Xmx1g", "-Xms1g", "-Xss1m", "-XX:+UseZGC"],
            ),
            (
                "a manifest",
                "env:\n- name: JAVA_TOOL_OPTIONS\n  value: \"-Xmx1g -Xms1g\"\nargs:\n- \"-Xss1m\"\n- -XX:+UseG1GC\n",
                &["-Xmx1g", "-Xms1g", "-Xss1m", "-XX:+UseG1GC"],
            ),
            ("a wrapper's file", "wrapper.java.additional.1=-Xmx1g\nwrapper.app=x\n", &["-Xmx1g"]),
            (
                "a batch file",
                "set \"JAVA_OPTS=%JAVA_OPTS% -Xmx1g\"\nset JAVA_OPTS=-Xss1m ^\n -Xms1g\n",
                &["-Xmx1g", "-Xss1m", "-Xms1g"],
            ),
            (
                "a unit",
                "[Service]\nEnvironment=\"JAVA_OPTS=-Xmx1g -Xms1g\"\nExecStart=/usr/bin/java -Xss1m -jar /opt/x.jar -Xint\n",
                &["-Xmx1g", "-Xms1g", "-Xss1m"],
            ),
            ("prose", "The shop runs with less memory - see README.\nnothing: here\n", &[]),
        ];
        for (kind, file, expected) in files {
            assert_eq!(texts(file), expected, "{kind}");
        }
    }

    #[test]
    fn a_file_of_many_options_is_bounded() {
        assert_eq!(texts(&"-Xmx1g ".repeat(3_000)).len(), OPTIONS_MAX);
    }
}
