//! Whether an event can be trusted: it is opened, run against a busy loop, and read, before it is used.
//!
//! An event that is listed may count nothing, and one that counts may not tell user mode from the kernel: `task-clock:u` gives the same
//! number as `task-clock`. Both are found here: of a loop in user mode there are some, in both modes together as many as in each, and next
//! to none in the kernel.

use super::event::{Asked, Counting, Mode};
use crate::sampling::Refusal;
use crate::sampling::{burn, in_user_mode};
use assay_model::HardwareEvent;

/// User and kernel may differ from the total by this part: the three are read one after the other.
const CLOSURE: f64 = 0.01;
/// And by so many events, where there are few.
const CLOSURE_EVENTS: u64 = 200;

/// Tries an event on this thread.
///
/// # Errors
/// Why it is not used.
pub(crate) fn try_counter(counting: &dyn Counting, event: HardwareEvent) -> Result<(), Refusal> {
    let asked: [Asked; 3] = [(event, Mode::User), (event, Mode::Kernel), (event, Mode::Both)];
    let mut group = counting.open(None, &asked).map_err(Refusal::Kernel)?;
    let before = group.read().map_err(Refusal::Kernel)?;
    burn(&mut in_user_mode);
    let after = group.read().map_err(Refusal::Kernel)?;
    let since = |index: usize| {
        let of = |counts: &[u64]| counts.get(index).copied().unwrap_or(0);
        of(&after.counts).saturating_sub(of(&before.counts))
    };
    let wrong = |what: String| Err(Refusal::Wrong(what));
    if after.running_ns <= before.running_ns {
        return wrong("it was opened and never ran".to_owned());
    }
    let [user, kernel, both] = [since(0), since(1), since(2)];
    if both == 0 {
        return wrong("it counted nothing of a busy loop".to_owned());
    }
    let sum = user.saturating_add(kernel);
    if both.abs_diff(sum) > CLOSURE_EVENTS.max((both as f64 * CLOSURE) as u64) {
        return wrong(format!(
            "user mode ({user}) and kernel ({kernel}) do not add up to both ({both}): it does not tell the modes apart"
        ));
    }
    if may_be_compared(event) && user < kernel {
        return wrong(format!("of a loop in user mode it counts {user} there and {kernel} in the kernel"));
    }
    Ok(())
}

/// Whether a loop in user mode has most of these events there; misses of caches it has none.
const fn may_be_compared(event: HardwareEvent) -> bool {
    matches!(event, HardwareEvent::Cycles | HardwareEvent::Instructions | HardwareEvent::Branches)
}
