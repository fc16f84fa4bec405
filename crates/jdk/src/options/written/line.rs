//! Options among words: those of two words are put together, and what is the program's is left out.

use crate::options::judge::takes_next_word;

/// Behind these stands the program, and all that follows is its own.
const PROGRAM: [&str; 4] = ["-jar", "-m", "--module", "--source"];

/// The options among the words of a command `java ... shop.Main ...`, or of a list of options alone; each of two words as one text, with a
/// space between them.
///
/// # Errors
/// A word of a list of options that is none.
pub fn options_in_words(words: &[String]) -> Result<Vec<String>, String> {
    let command = words.iter().position(|word| is_launcher(word));
    let mut words = words[command.map_or(0, |at| at + 1)..].iter();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        // Tools of a JDK hand options on to their own JVM in this way.
        let word = word.strip_prefix("-J").filter(|rest| rest.starts_with('-')).unwrap_or(word);
        match word {
            _ if PROGRAM.contains(&word) => break,
            _ if takes_next_word(word) => {
                let value = words.next().map(|value| format!("{word} {value}"));
                options.push(value.unwrap_or_else(|| word.to_owned()));
            }
            _ if word.starts_with(['-', '@']) => options.push(word.to_owned()),
            _ if word.is_empty() || is_variable(word) => {}
            _ if command.is_some() => break,
            _ => return Err(word.to_owned()),
        }
    }
    Ok(options)
}

/// The words of an option of [`options_in_words`] on a command line: one, or the option and its value.
pub fn words_of(option: &str) -> Vec<String> {
    match option.split_once(' ') {
        Some((name, value)) if takes_next_word(name) => vec![name.to_owned(), value.to_owned()],
        _ => vec![option.to_owned()],
    }
}

/// Whether a word names the program `java`, wherever it lies.
pub(super) fn is_launcher(word: &str) -> bool {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    !word.starts_with('-') && ["java", "java.exe", "javaw", "javaw.exe"].contains(&file)
}

/// Whether a whole word is put in by a script: `$JAVA_OPTS`, `%JAVA_OPTS%`.
pub(super) fn is_variable(word: &str) -> bool {
    word.starts_with('$') || word.starts_with('%') && word.ends_with('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Vec<String>, String> {
        options_in_words(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn an_option_of_two_words_is_typed_as_two_and_a_value_with_a_space_stays_whole() {
        assert_eq!(words_of("-cp a.jar:b.jar"), ["-cp", "a.jar:b.jar"]);
        assert_eq!(words_of("-Dgreeting=good day"), ["-Dgreeting=good day"]);
    }

    #[test]
    fn options_of_two_words_are_one() {
        let found = options(
            "-Xmx1g --add-exports java.base/jdk.internal.misc=ALL-UNNAMED -cp a.jar:b.jar -XX:+UseG1GC",
        );
        let expected = [
            "-Xmx1g",
            "--add-exports java.base/jdk.internal.misc=ALL-UNNAMED",
            "-cp a.jar:b.jar",
            "-XX:+UseG1GC",
        ];
        assert_eq!(found.unwrap(), expected);
        assert_eq!(options("-Xmx1g -cp").unwrap(), ["-Xmx1g", "-cp"]);
        assert_eq!(options("-Xmx1g shop").unwrap_err(), "shop");
    }

    #[test]
    fn what_stands_before_java_and_behind_its_program_is_not_the_jvms() {
        for line in [
            "java -Xmx2g -jar app.jar -Xms1g",
            "/usr/lib/jvm/17/bin/java -Xmx2g shop.Main -Xms1g",
            "exec $JAVA_HOME/bin/java -Xmx2g $JAVA_OPTS -m shop/shop.Main",
            "nohup -x java.exe -Xmx2g @args",
            "jcmd -J-Xmx2g",
        ] {
            let found = options(line.trim_start_matches("jcmd ")).unwrap();
            assert_eq!(found[0], "-Xmx2g", "{line}");
            assert!(!found.contains(&"-Xms1g".to_owned()), "{line}");
        }
    }
}
