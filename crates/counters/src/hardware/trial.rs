//! Whether an event can be trusted: it is opened, run against a busy loop, and read, before it is used.
//!
//! An event that is listed may count nothing, and one that counts may not distinguish user mode from the kernel: `task-clock:u` gives the same
//! number as `task-clock`, and where a hypervisor counts its guest's user mode alone, `:k` gives 0 of anything. All three are found here: of a
//! loop there are some, in both modes together as many as in each, and most of them in the mode in which the loop is.

use super::event::{CounterEvent, Counting, Mode};
use crate::sampling::Refusal;
use crate::sampling::{burn, in_kernel, in_user_mode};
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
    let asked: [CounterEvent; 3] = [(event, Mode::User), (event, Mode::Kernel), (event, Mode::Both)];
    let mut group = counting.open(None, &asked).map_err(Refusal::Kernel)?;
    let mut count = |work: &mut dyn FnMut()| -> Result<[u64; 3], Refusal> {
        let before = group.read().map_err(Refusal::Kernel)?;
        burn(work);
        let after = group.read().map_err(Refusal::Kernel)?;
        if after.running_ns <= before.running_ns {
            return wrong("it was opened and never ran".to_owned());
        }
        let of = |counts: &[u64], index: usize| counts.get(index).copied().unwrap_or(0);
        Ok([0, 1, 2].map(|index| of(&after.counts, index).saturating_sub(of(&before.counts, index))))
    };
    let [user, kernel, both] = count(&mut in_user_mode)?;
    if both == 0 {
        return wrong("it counted nothing of a busy loop".to_owned());
    }
    let sum = user.saturating_add(kernel);
    if both.abs_diff(sum) > CLOSURE_EVENTS.max((both as f64 * CLOSURE) as u64) {
        return wrong(format!(
            "user mode ({user}) and kernel ({kernel}) do not add up to both ({both}): it does not distinguish the modes"
        ));
    }
    if !may_be_compared(event) {
        return Ok(());
    }
    if user < kernel {
        return wrong(format!("of a loop in user mode it counts {user} there and {kernel} in the kernel"));
    }
    let [user, kernel, _] = count(&mut in_kernel().map_err(Refusal::Kernel)?)?;
    if kernel < user {
        return wrong(format!("of a loop in the kernel it counts {kernel} there and {user} in user mode"));
    }
    Ok(())
}

fn wrong<T>(what: String) -> Result<T, Refusal> {
    Err(Refusal::Wrong(what))
}

/// Whether a loop has most of these events in its own mode; misses of caches it has none.
const fn may_be_compared(event: HardwareEvent) -> bool {
    matches!(event, HardwareEvent::Cycles | HardwareEvent::Instructions | HardwareEvent::Branches)
}
