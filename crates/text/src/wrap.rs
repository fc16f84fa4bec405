//! Texts in the columns of a terminal.

/// How much further in a line goes on.
const CONTINUED: usize = 4;

/// Lines of at most `columns`, broken at spaces, and in words that are longer than a line.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let pieces = text.split_whitespace().flat_map(|word| pieces(word, columns));
    for word in pieces {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn pieces(word: &str, columns: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunks(columns.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// A message of several lines, each broken at spaces where it is longer than `columns`, and continued further in. A path, a name or an
/// address that is longer than a line is kept whole, so that it can be copied. Styles take no columns.
pub fn message(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| broken(line, columns)).collect();
    lines.join("\n")
}

fn broken(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    hanging(&line[..indent], indent + CONTINUED, line, columns)
}

/// A text behind what stands before its first line, broken at spaces; the lines that follow begin at the column `indent`. Words that are
/// longer than a line are kept whole.
pub fn hanging(head: &str, indent: usize, text: &str, columns: usize) -> String {
    let (mut out, mut used, mut is_begun) = (head.to_owned(), width(head), false);
    for word in text.split_whitespace() {
        let of_word = width(word);
        if is_begun && columns < used + 1 + of_word {
            out += &format!("\n{}", " ".repeat(indent));
            (used, is_begun) = (indent, false);
        }
        if is_begun {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += of_word;
        is_begun = true;
    }
    out
}

/// Columns that a text takes, without its styles.
pub fn width(text: &str) -> usize {
    let mut in_style = false;
    let is_shown = |letter: &char| {
        let is_shown = !in_style && *letter != '\x1b';
        in_style = (in_style || *letter == '\x1b') && *letter != 'm';
        is_shown
    };
    text.chars().filter(is_shown).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_at_spaces_and_in_words_that_are_longer_than_a_line() {
        assert_eq!(wrap("a bb ccc dddd", 6), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("a bbbbbbb", 3), ["a", "bbb", "bbb", "b"]);
    }

    #[test]
    fn a_message_goes_on_further_in_and_keeps_its_paths_whole() {
        assert_eq!(hanging("  load  ", 8, "8 users, closed", 16), "  load  8 users,\n        closed");
        assert_eq!(message("error: no file\n  to make one", 14), "error: no file\n  to make one");
        assert_eq!(message("error: no such file", 14), "error: no such\n    file");
        assert_eq!(message("  to make one now", 14), "  to make one\n      now");
        assert_eq!(message("a /a/very/long/path b", 8), "a\n    /a/very/long/path\n    b");
        assert_eq!(message("\x1b[1;31merror:\x1b[0m no file", 14), "\x1b[1;31merror:\x1b[0m no file");
    }
}
