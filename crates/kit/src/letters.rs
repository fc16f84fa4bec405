//! How wide a text is in a picture: no font is known here, so letters are as wide as those of DejaVu Sans, the widest of the fonts that
//! the page names. The page's tests measure that nothing runs into anything.

use crate::text::shorten;

/// Width of the characters from space to tilde, in thousandths of the size of the font.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
/// Of other letters, and of those of East Asia.
const OTHERS: u16 = 700;
const EAST_ASIAN: u16 = 1050;
/// A name that is cut to fewer characters says nothing.
const CUT_MIN: usize = 12;

/// Width of a text in user units.
pub fn text_width(content: &str, size: f64) -> f64 {
    let of = |c: char| match (c as u32).checked_sub(32) {
        Some(index) if (index as usize) < WIDTHS.len() => WIDTHS[index as usize],
        _ if c == '…' => 1000,
        _ if (c as u32) < 0x1100 => OTHERS,
        _ if ('\u{2000}'..'\u{2E00}').contains(&c) => 838,
        _ => EAST_ASIAN,
    };
    content.chars().map(|c| f64::from(of(c))).sum::<f64>() / 1000.0 * size
}

/// A name that must be there, in at most `room`: cut in its middle where it is wider.
pub fn within(name: &str, room: f64, size: f64) -> String {
    let fits = |chars: &usize| text_width(&shorten(name, *chars), size) <= room;
    let length = name.chars().count();
    shorten(name, (3..=length).rev().find(fits).unwrap_or(3))
}

/// A name in as many lines as it takes, none wider than `room`, the last at most `last`: it may be empty. Only a word that is wider than a
/// line is cut.
pub fn lines(name: &str, (room, last): (f64, f64), size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= room => {
                *line = format!("{line} {word}");
            }
            _ => lines.push(within(word, room, size)),
        }
    }
    if lines.last().is_some_and(|line| last < text_width(line, size)) {
        lines.push(String::new());
    }
    lines
}

/// A name that a picture can do without: absent where it is too wide.
pub fn whole(name: &str, room: f64, size: f64) -> Option<String> {
    (text_width(name, size) <= room).then(|| name.to_owned())
}

/// A name that says something when it is cut, as long as enough of it is left.
pub fn whole_or_cut(name: &str, room: f64, size: f64) -> Option<String> {
    whole(name, room, size)
        .or_else(|| Some(within(name, room, size)).filter(|cut| CUT_MIN <= cut.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_letters_leave_room_for_more() {
        assert!(text_width("illi", 10.0) < text_width("mmmm", 10.0) / 3.0);
        assert_eq!(within("JDK 8", 40.0, 12.5), "JDK 8");
        assert_eq!(within("compressed-align16", 60.0, 12.5), "com…16");
        assert_eq!(within("", 0.0, 12.5), "");
    }

    #[test]
    fn a_name_takes_another_line_before_a_letter_of_it_is_cut() {
        let of = |room, last| lines("GC structures: tables of the heap", (room, last), 12.5);
        assert_eq!(of(300.0, 300.0), ["GC structures: tables of the heap"]);
        assert_eq!(of(300.0, 100.0), ["GC structures: tables of the heap", ""]);
        assert_eq!(of(150.0, 100.0), ["GC structures: tables of", "the heap"]);
        assert_eq!(lines("compressed-align16", (60.0, 60.0), 12.5), ["com…16"]);
        assert_eq!(lines("", (60.0, 60.0), 12.5), [""]);
    }

    #[test]
    fn a_name_that_does_not_fit_is_left_out_and_a_stump_never_shown() {
        assert_eq!(whole("hashIsZero", 40.0, 12.5), None);
        assert_eq!(whole_or_cut("hashIsZero", 40.0, 12.5), None);
        assert_eq!(
            whole_or_cut("JavaThread::thread_main_inner", 120.0, 12.5).as_deref(),
            Some("JavaThre…in_inner")
        );
    }
}
