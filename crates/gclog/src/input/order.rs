//! Which files are one rotated set, and in which order they were written.
//!
//! Unified logging writes to `gc.log` and moves it to `gc.log.0`, `.1`, ... in turn, beginning anew at 0; JDK 8 writes to
//! `gc.log.0.current`, `gc.log.1.current`, ... and takes the ending away; `logrotate` moves `.1` to `.2`, so that higher numbers are
//! older. Names alone therefore do not give the order.

use crate::first::First;
use std::cmp::Ordering;
use std::time::SystemTime;

/// What a file's name says of rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rotation {
    /// Common part of the names of a set.
    pub base: String,
    /// Its number.
    pub number: Option<u64>,
    /// JDK 8's ending of the file that is being written.
    pub is_current: bool,
}

/// Takes apart `gc.log.3.gz`, `gc.log.0.current`.
pub(super) fn rotation(name: &str) -> Rotation {
    let packed = [".gz", ".zst", ".xz", ".bz2"].iter().find_map(|ending| name.strip_suffix(ending));
    let plain = packed.unwrap_or(name);
    let (plain, is_current) = plain.strip_suffix(".current").map_or((plain, false), |p| (p, true));
    let numbered = plain.rsplit_once('.').filter(|(base, _)| !base.is_empty()).and_then(|(base, number)| {
        let is_number = number.len() <= 12 && number.bytes().all(|b| b.is_ascii_digit());
        Some((base, number.parse::<u64>().ok().filter(|_| is_number)?))
    });
    match numbered {
        Some((base, number)) => Rotation { base: base.to_owned(), number: Some(number), is_current },
        None => Rotation { base: plain.to_owned(), number: None, is_current },
    }
}

/// A file of a set with the data by which it is ordered.
#[derive(Debug, Clone)]
pub(super) struct DatedFile<T> {
    pub part: T,
    pub rotation: Rotation,
    pub first: First,
    pub modified: Option<SystemTime>,
}

/// Puts the files of a set into the order in which they were written.
///
/// By the calendar where all have it. Otherwise by the number, beginning behind the file that is written to, or where the clocks of
/// the files fall least (a restart of the JVM makes them fall too), then where times of modification do.
pub(super) fn in_order<T: Clone>(mut files: Vec<DatedFile<T>>) -> Vec<T> {
    let dated = files.iter().filter(|f| f.first.unix_ns.is_some()).count();
    if dated == files.len() {
        files.sort_by(|a, b| a.first.unix_ns.cmp(&b.first.unix_ns).then_with(|| by_number(a, b)));
        return parts(files);
    }
    files.sort_by(by_number);
    let (numbered, active): (Vec<_>, Vec<_>) = files.into_iter().partition(|f| f.rotation.number.is_some());
    if let Some(current) = numbered.iter().position(|f| f.rotation.is_current) {
        let mut turned = numbered;
        turned.rotate_left(current + 1);
        return parts(turned.into_iter().chain(active).collect());
    }
    let orders = (0..numbered.len().max(1)).map(|cut| {
        let mut turned = numbered.clone();
        turned.rotate_left(cut);
        turned
    });
    let reversed = std::iter::once(numbered.iter().rev().cloned().collect::<Vec<_>>());
    let whole =
        |order: Vec<DatedFile<T>>| order.into_iter().chain(active.iter().cloned()).collect::<Vec<_>>();
    let best = orders.chain(reversed).map(whole).min_by_key(|order| {
        let clocks = falls(order.iter().map(|f| f.first.clock_ns));
        (clocks, falls(order.iter().map(|f| f.modified)))
    });
    parts(best.unwrap_or_default())
}

fn parts<T>(files: Vec<DatedFile<T>>) -> Vec<T> {
    files.into_iter().map(|f| f.part).collect()
}

/// By the number; the file without one is the newest.
fn by_number<T>(a: &DatedFile<T>, b: &DatedFile<T>) -> Ordering {
    let key = |f: &DatedFile<T>| (f.rotation.number.is_none(), f.rotation.number);
    key(a).cmp(&key(b))
}

/// How often a value is smaller than the known one before it.
fn falls<V: PartialOrd + Copy>(values: impl Iterator<Item = Option<V>>) -> usize {
    let known: Vec<V> = values.flatten().collect();
    known.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn file(name: &str, unix_s: Option<i64>, uptime_s: Option<u64>, modified_s: u64) -> DatedFile<String> {
        let first = First {
            unix_ns: unix_s.map(|s| s * 1_000_000_000),
            clock_ns: uptime_s.map(|s| s * 1_000_000_000),
        };
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(modified_s));
        DatedFile { part: name.to_owned(), rotation: rotation(name), first, modified }
    }

    #[test]
    fn names_are_taken_apart() {
        let of = |name| {
            let r = rotation(name);
            (r.base, r.number, r.is_current)
        };
        assert_eq!(of("gc.log"), ("gc.log".into(), None, false));
        assert_eq!(of("gc.log.3"), ("gc.log".into(), Some(3), false));
        assert_eq!(of("gc.log.10.gz"), ("gc.log".into(), Some(10), false));
        assert_eq!(of("gc.log.10.zst"), ("gc.log".into(), Some(10), false));
        assert_eq!(of("gc.log.1.current"), ("gc.log".into(), Some(1), true));
        assert_eq!(of("gc-2024-01-01.log"), ("gc-2024-01-01.log".into(), None, false));
        assert_eq!(of(".7"), (".7".into(), None, false));
        assert_eq!(of("gc.99999999999999999999"), ("gc.99999999999999999999".into(), None, false));
    }

    #[test]
    fn the_calendar_decides_where_all_files_have_it() {
        let files = vec![
            file("g.0", Some(40), Some(9), 0),
            file("g.1", Some(20), Some(1), 0),
            file("g", Some(50), Some(0), 0),
        ];
        assert_eq!(in_order(files), ["g.1", "g.0", "g"]);
    }

    #[test]
    fn numbers_that_began_anew_are_turned_until_the_clock_rises() {
        let files = vec![
            file("g", None, Some(90), 0),
            file("g.2", None, Some(10), 0),
            file("g.0", None, Some(50), 0),
            file("g.1", None, Some(70), 0),
            file("g.3", None, Some(30), 0),
        ];
        assert_eq!(in_order(files), ["g.2", "g.3", "g.0", "g.1", "g"]);
        // As the same set has them by the decorator that says nothing: the files' own times.
        let files = vec![file("g.0", None, None, 50), file("g.1", None, None, 20), file("g", None, None, 90)];
        assert_eq!(in_order(files), ["g.1", "g.0", "g"]);
    }

    #[test]
    fn a_restart_makes_the_clock_fall_and_does_not_hide_the_turn() {
        // 2 (300) 3 (500) 0 (20, restarted) 1 (200) active (400)
        let files = vec![
            file("g.0", None, Some(20), 3),
            file("g.1", None, Some(200), 4),
            file("g.2", None, Some(300), 1),
            file("g.3", None, Some(500), 2),
            file("g", None, Some(400), 5),
        ];
        assert_eq!(in_order(files), ["g.2", "g.3", "g.0", "g.1", "g"]);
        let restarts =
            vec![file("g", None, Some(0), 0), file("g.1", None, Some(0), 0), file("g.2", None, Some(0), 0)];
        assert_eq!(in_order(restarts), ["g.1", "g.2", "g"]);
    }

    #[test]
    fn logrotate_and_jdk_8_have_their_own_ways() {
        let logrotate = vec![
            file("g", None, Some(70), 0),
            file("g.1", None, Some(50), 0),
            file("g.2", None, Some(30), 0),
            file("g.3", None, Some(10), 0),
        ];
        assert_eq!(in_order(logrotate), ["g.3", "g.2", "g.1", "g"]);
        let jdk_8 = vec![
            file("g.0", None, Some(70), 0),
            file("g.1.current", None, Some(90), 0),
            file("g.2", None, Some(50), 0),
        ];
        assert_eq!(in_order(jdk_8), ["g.2", "g.0", "g.1.current"]);
    }

    #[test]
    fn an_empty_active_file_is_the_newest() {
        let files = vec![
            file("g", None, None, 0),
            file("g.1", Some(2), Some(2), 0),
            file("g.0", Some(5), Some(5), 0),
        ];
        assert_eq!(in_order(files), ["g.1", "g.0", "g"]);
    }
}
