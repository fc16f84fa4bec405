//! The server's audits of its data: after each level of a sweep and at the end, with the data reset between levels, so that each
//! begins with the same.

use assay_model::{Audit, CapacityStep, Problem};
use assay_stats::capacity::WindowRequest;

/// Data of a server that keeps account of it.
pub trait ServerData {
    /// Its own proof that its data is right; absent where it gives none.
    fn audit(&mut self) -> Option<Audit>;

    /// Sets its data back to what it began with; without a way to do so, nothing is done.
    ///
    /// # Errors
    /// Why it could not be set back, in words.
    fn reset(&mut self) -> Result<(), String>;
}

/// Audits of the server's data so far.
pub(crate) struct DataAudits<'a> {
    data: Option<&'a mut dyn ServerData>,
    /// Levels behind which it was right.
    levels: u32,
    wrong: Option<Audit>,
    /// Why the data was not set back before a level, the first time, and how often.
    unset: Option<(String, u32)>,
}

impl<'a> DataAudits<'a> {
    pub fn new(data: Option<&'a mut dyn ServerData>) -> Self {
        DataAudits { data, levels: 0, wrong: None, unset: None }
    }

    /// Before a window: a level begins with the data that the first one began with. A server that cannot set it back just now goes
    /// on with what it has.
    pub fn before(&mut self, ask: &WindowRequest) {
        let Some(data) = self.data.as_mut().filter(|_| ask.step == CapacityStep::Level) else { return };
        if let Err(why) = data.reset() {
            let first = || (format!("before the level at {:.0}/s: {why}", ask.rate_per_s), 0);
            self.unset.get_or_insert_with(first).1 += 1;
        }
    }

    /// That data was not set back.
    pub fn problem(&self) -> Option<Problem> {
        let (first, times) = self.unset.as_ref()?;
        let of_all = if *times > 1 { format!(", the first of {times} times") } else { String::new() };
        Some(Problem::new("reset", format!("the data was not set back {first}{of_all}")))
    }

    /// Behind a window: whether the data is right, as far as is known.
    pub fn is_right_after(&mut self, ask: &WindowRequest) -> bool {
        let Some(data) = self.data.as_mut().filter(|_| ask.step == CapacityStep::Level) else { return true };
        let Some(audit) = data.audit() else { return true };
        if audit.passed {
            self.levels += 1;
            return true;
        }
        let detail = format!("after the level at {:.0}/s: {}", ask.rate_per_s, audit.detail);
        self.wrong = Some(Audit { detail, ..audit });
        false
    }

    /// The first account that was not right, or the last one.
    pub fn finish(self) -> Option<Audit> {
        let (data, levels) = (self.data, self.levels);
        let last = || data.and_then(|data| data.audit());
        let audit = self.wrong.or_else(last)?;
        let detail = match levels {
            0 => audit.detail,
            levels => format!("right after {levels} levels; {}", audit.detail),
        };
        Some(Audit { detail, ..audit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data that is wrong from an audit on, and is set back so often.
    #[derive(Default)]
    struct Data {
        audits: u32,
        wrong_from: u32,
        resets: u32,
    }

    impl ServerData for Data {
        fn audit(&mut self) -> Option<Audit> {
            self.audits += 1;
            let passed = self.audits < self.wrong_from;
            Some(Audit { passed, detail: format!("audit {}", self.audits) })
        }

        fn reset(&mut self) -> Result<(), String> {
            self.resets += 1;
            if self.resets == 2 { Err("it is busy".to_owned()) } else { Ok(()) }
        }
    }

    fn ask(step: CapacityStep) -> WindowRequest {
        WindowRequest { rate_per_s: 100.0, cool_down_s: 0.0, settle_s: 1.0, window_s: 5.0, step }
    }

    #[test]
    fn each_level_begins_with_the_data_set_back_and_ends_with_an_audit() {
        let mut data = Data { wrong_from: 9, ..Data::default() };
        let mut account = DataAudits::new(Some(&mut data));
        let level = ask(CapacityStep::Level);
        for _ in 0..3 {
            account.before(&level);
            assert!(account.is_right_after(&level));
        }
        account.before(&ask(CapacityStep::Refine));
        assert!(account.is_right_after(&ask(CapacityStep::Refine)));
        let told = account.problem().expect("one reset failed").text;
        assert_eq!(told, "the data was not set back before the level at 100/s: it is busy");
        let audit = account.finish().expect("it gives one");
        assert!(audit.passed);
        assert_eq!(audit.detail, "right after 3 levels; audit 4");
        assert_eq!((data.audits, data.resets), (4, 3));
    }

    #[test]
    fn data_that_is_wrong_behind_a_level_stays_so_and_names_it() {
        let mut data = Data { wrong_from: 2, ..Data::default() };
        let mut account = DataAudits::new(Some(&mut data));
        let level = ask(CapacityStep::Level);
        assert!(account.is_right_after(&level) && !account.is_right_after(&level));
        let audit = account.finish().expect("it gives one");
        assert!(!audit.passed);
        assert_eq!(audit.detail, "right after 1 levels; after the level at 100/s: audit 2");
        assert_eq!(data.audits, 2);
        assert!(DataAudits::new(None).finish().is_none());
    }
}
