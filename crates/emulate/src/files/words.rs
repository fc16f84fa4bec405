//! Words of a Java command line: options with their values, files of arguments put in their place.
//!
//! The rules are those of the launcher (`java`, "Java Command-Line Argument Files" of the JDK Tool Specifications).

use assay_jdk::launcher::OPTIONS_WITH_VALUE;
use std::path::{Path, PathBuf};

/// Largest file of arguments.
const BYTES_MAX: u64 = 1 << 20;
/// Words of a command line that are looked at.
const WORDS_MAX: usize = 100_000;
/// What a Java command line says of files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JavaLine {
    /// Files of arguments.
    pub argument_files: Vec<PathBuf>,
    /// What is started.
    pub main: Option<Main>,
    /// The class path as it is written, by its last option.
    pub class_path: Option<String>,
    /// Module paths as they are written.
    pub module_paths: Vec<String>,
    /// Jars of agents, and native agents by their path.
    pub agents: Vec<String>,
    /// Every word of the command, with those of files of arguments.
    pub words: Vec<String>,
}

/// What a Java command line starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Main {
    /// `-jar`.
    Jar(String),
    /// A class of the class path, or a source file.
    Class(String),
    /// `--module`.
    Module,
}

/// Reads the words behind the program. `options` are those of the variable `JDK_JAVA_OPTIONS`, which the launcher puts in front.
///
/// # Errors
/// A file of arguments that cannot be read, by its path.
pub(super) fn read(words: &[String], options: Option<&String>, cwd: &Path) -> Result<JavaLine, String> {
    let mut line = JavaLine::default();
    let of_variable = options.map_or_else(Vec::new, |text| split(text));
    let (mut expands, mut is_option) = (true, true);
    for word in of_variable.iter().chain(words) {
        if WORDS_MAX < line.words.len() {
            return Err(format!("the command has more than {WORDS_MAX} words"));
        }
        match word.strip_prefix('@').filter(|_| expands && is_option) {
            Some(escaped) if escaped.starts_with('@') => line.words.push(escaped.to_owned()),
            Some(file) => {
                let path = cwd.join(file);
                let text = read_small(&path).map_err(|why| format!("@{file}: {why}"))?;
                line.argument_files.push(path);
                line.words.extend(split(&text));
            }
            None => line.words.push(word.clone()),
        }
        expands &= word != "--disable-@files";
        // Behind what is started stand its own arguments, which the launcher does not expand.
        is_option = main_at(&line.words).is_none();
    }
    line.take_options();
    Ok(line)
}

fn read_small(path: &Path) -> Result<String, String> {
    let size = fs_err::metadata(path).map_err(|e| e.to_string())?.len();
    if BYTES_MAX < size {
        return Err(format!("it has {size} bytes, too many for arguments"));
    }
    let bytes = fs_err::read(path).map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the word stands that names what is started.
fn main_at(words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-jar" | "-m" | "--module" => return words.get(at + 1).map(|_| at + 1),
            option if OPTIONS_WITH_VALUE.contains(&option) => at += 2,
            option if option.starts_with("--module=") => return Some(at),
            option if option.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

impl JavaLine {
    fn take_options(&mut self) {
        let main = main_at(&self.words);
        let options = &self.words[..main.unwrap_or(self.words.len())];
        self.main = main.map(|at| match options.last().map(String::as_str) {
            Some("-jar") => Main::Jar(self.words[at].clone()),
            Some("-m" | "--module") => Main::Module,
            _ if self.words[at].starts_with("--module=") => Main::Module,
            _ => Main::Class(self.words[at].clone()),
        });
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let (name, inline) = match option.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (option.as_str(), None),
            };
            let is_value_next = inline.is_none() && OPTIONS_WITH_VALUE.contains(&name);
            let value = inline.or_else(|| is_value_next.then(|| options.next().cloned()).flatten());
            match (name, value) {
                ("-cp" | "-classpath" | "--class-path", Some(path)) => self.class_path = Some(path),
                ("-p" | "--module-path" | "--upgrade-module-path", Some(path)) => {
                    self.module_paths.push(path);
                }
                _ => {}
            }
            for start in ["-javaagent:", "-agentpath:"] {
                let agent = option.strip_prefix(start).and_then(|rest| rest.split('=').next());
                self.agents.extend(agent.map(str::to_owned));
            }
            if let Some(path) = option.strip_prefix("-Xbootclasspath/a:") {
                self.module_paths.push(path.to_owned());
            }
        }
    }
}

/// Words of a file of arguments: parted by blanks, with quotes, in which a backslash escapes, and comments from `#` on.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut is_open): (String, bool) = (String::new(), false);
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(_), '\\') => escaped(&mut letters, &mut word),
            (Some(open), letter) if open == letter => quote = None,
            // A line ends a quote that is still open.
            (Some(_), '\n' | '\r') => quote = None,
            (Some(_), letter) => word.push(letter),
            (None, '"' | '\'') => (quote, is_open) = (Some(letter), true),
            (None, '#') => while letters.next_if(|next| *next != '\n').is_some() {},
            (None, letter) if letter.is_whitespace() => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            (None, letter) => {
                is_open = true;
                word.push(letter);
            }
        }
        if WORDS_MAX < words.len() {
            return words;
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

/// Behind a backslash: a letter that stands for another, or the end of a line, with which the blanks of the next one go.
fn escaped(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, word: &mut String) {
    match letters.next() {
        Some('n') => word.push('\n'),
        Some('r') => word.push('\r'),
        Some('t') => word.push('\t'),
        Some('f') => word.push('\u{c}'),
        Some('\n' | '\r') => while letters.next_if(|next| next.is_whitespace()).is_some() {},
        Some(letter) => word.push(letter),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn of(line: &str) -> JavaLine {
        read(&words(line), None, Path::new("/nowhere")).unwrap()
    }

    #[test]
    fn what_is_started_and_where_its_classes_are() {
        let jar = |name: &str| Some(Main::Jar(name.to_owned()));
        let class = |name: &str| Some(Main::Class(name.to_owned()));
        assert_eq!(of("-Xmx1g -jar a.jar -cp x --port 1").main, jar("a.jar"));
        assert_eq!(of("-Xmx1g -jar a.jar -cp x").class_path, None, "behind the jar stand its own arguments");
        assert_eq!(of("-cp a -classpath b:c shop.Main -jar d").main, class("shop.Main"));
        assert_eq!(of("-cp a -classpath b:c shop.Main").class_path.as_deref(), Some("b:c"), "the last one");
        assert_eq!(of("--class-path=a:b Main").class_path.as_deref(), Some("a:b"));
        assert_eq!(of("--add-opens java.base/java.lang=ALL-UNNAMED Main").main, class("Main"));
        let module = of("-p mods --upgrade-module-path=up -m shop/shop.Main");
        assert_eq!(module.main, Some(Main::Module));
        assert_eq!(module.module_paths, ["mods", "up"]);
        assert_eq!(
            of("-javaagent:lib/a.jar=x=1,y -agentpath:/l.so -agentlib:jdwp Main").agents,
            ["lib/a.jar", "/l.so"]
        );
        for cut in ["-cp", "-jar", "-XX:+UseG1GC", "--module"] {
            assert_eq!(of(cut).main, None, "{cut:?}");
        }
    }

    #[test]
    fn files_of_arguments_stand_for_their_words_before_what_is_started_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("opts"), "# heap\n-Xmx1g\n-cp \"a b.jar:\\\n   c.jar\" 'x\\ty'\n")
            .unwrap();
        let line = read(&words("@opts -Dx=1 Main @opts"), None, folder.path()).unwrap();
        assert_eq!(line.argument_files, [folder.path().join("opts")]);
        assert_eq!(line.class_path.as_deref(), Some("a b.jar:c.jar"));
        assert_eq!(line.main, Some(Main::Class("x\ty".to_owned())));
        let line = read(&words("-jar a.jar @nowhere"), None, folder.path()).unwrap();
        assert_eq!(line.argument_files, Vec::<PathBuf>::new());
        let line = read(&words("--disable-@files @nowhere"), None, folder.path()).unwrap();
        assert_eq!(line.main, Some(Main::Class("@nowhere".to_owned())));
        let line = read(&words("@@x"), None, folder.path()).unwrap();
        assert_eq!(line.main, Some(Main::Class("@x".to_owned())));
        let why = read(&words("@nowhere Main"), None, folder.path()).unwrap_err();
        assert!(why.starts_with("@nowhere: "), "{why}");
        let options = "-cp v.jar".to_owned();
        let line = read(&words("Main"), Some(&options), folder.path()).unwrap();
        assert_eq!(line.class_path.as_deref(), Some("v.jar"));
    }

    #[test]
    fn a_file_of_arguments_without_end_or_with_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::File::create(folder.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&words("@huge Main"), None, folder.path()).unwrap_err().contains("too many"));
        std::fs::write(folder.path().join("self"), "@self").unwrap();
        // A file in a file is not expanded: the launcher takes it as a word.
        let line = read(&words("@self Main"), None, folder.path()).unwrap();
        assert_eq!(line.words, ["@self", "Main"]);
        for text in ["\"open", "'", "\\", "a\\", "\"a\\", "#", ""] {
            assert!(split(text).len() <= 1, "{text:?}");
        }
    }
}
