//! Recorded stacks in the stored form: role and pool of the thread first, then callers before callees.

use crate::role::pool_of;
use assay_jfr::{Event, EventStacks, Frame, FrameType, Profile, RecordedThread, Stack};
use assay_model::{FrameKind, RecordedStack, RecordedStacks, SampledFrame, StackUnit, ThreadRole, TimeGroup};
use std::collections::HashMap;

/// Stacks that are listed.
const STACKS_LISTED_MAX: usize = 3000;
/// How the names of the recorder's threads begin: `JFR Recorder Thread`, `JFR Periodic Tasks`.
const RECORDER_THREADS: &str = "JFR ";
const RECORDER_CLASSES: &str = "jdk.jfr.";

/// The role of threads by the name of their pool.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// `None` where pools of one name have several roles.
    by_pool: HashMap<String, Option<ThreadRole>>,
}

impl Roles {
    pub(super) fn of(groups: &[TimeGroup]) -> Roles {
        let mut by_pool: HashMap<String, Option<ThreadRole>> = HashMap::new();
        for group in groups {
            let known = by_pool.entry(group.name.clone()).or_insert(Some(group.role));
            *known = known.filter(|role| *role == group.role);
        }
        Roles { by_pool }
    }

    /// Virtual threads run on carriers; a thread that the account does not have ran at another time.
    fn of_thread(&self, thread: &RecordedThread, pool: &str) -> &'static str {
        if thread.is_virtual {
            return ThreadRole::Carrier.title();
        }
        self.by_pool.get(pool).copied().flatten().map_or("threads that no sample has", ThreadRole::title)
    }
}

/// Whether a stack is the recorder's own: of one of its threads, or below one of its methods.
fn is_of_recorder(of: &EventStacks, stack: &Stack) -> bool {
    let thread = of.threads.get(stack.thread as usize);
    let mut frames = stack.frames.iter().filter_map(|number| of.frames.get(*number as usize));
    thread.is_some_and(|thread| thread.name.starts_with(RECORDER_THREADS))
        || frames.any(|frame| frame.class.starts_with(RECORDER_CLASSES))
}

/// Stacks of some events together; `None` where the recording has none of them. Without those of the recorder, if it was started for this.
pub(super) fn stacks_of(
    profile: &Profile,
    events: &[Event],
    unit: StackUnit,
    roles: &Roles,
    is_own: bool,
) -> Option<RecordedStacks> {
    let found: Vec<(Event, &EventStacks)> =
        events.iter().filter_map(|event| Some((*event, profile.events.get(event)?))).collect();
    if found.is_empty() {
        return None;
    }
    let weight_of = |events: u64, bytes: u64| if unit == StackUnit::Bytes { bytes } else { events };
    let sum =
        |of: fn(&EventStacks) -> u64| found.iter().map(|(_, stacks)| of(stacks)).fold(0, u64::saturating_add);
    let mut recorder = (0u64, 0u64);
    let mut folded: HashMap<Vec<SampledFrame>, u64> = HashMap::new();
    for (_, of) in &found {
        for stack in &of.stacks {
            if is_own && is_of_recorder(of, stack) {
                recorder.0 = recorder.0.saturating_add(stack.events);
                recorder.1 = recorder.1.saturating_add(stack.bytes);
                continue;
            }
            let sum = folded.entry(frames_of(of, stack, roles)).or_default();
            *sum = sum.saturating_add(weight_of(stack.events, stack.bytes));
        }
    }
    let recorder_weight = weight_of(recorder.0, recorder.1);
    let weight = weight_of(sum(|of| of.events), sum(|of| of.bytes)).saturating_sub(recorder_weight);
    let (frames, stacks) = listed(folded);
    let of_listed = stacks.iter().fold(0u64, |sum, stack| sum.saturating_add(stack.weight));
    Some(RecordedStacks {
        events: found.iter().map(|(event, _)| event.name().to_owned()).collect(),
        unit,
        count: sum(|of| of.events).saturating_sub(recorder.0),
        weight,
        recorder_weight: is_own.then_some(recorder_weight),
        without_stack: sum(|of| of.without_stack),
        truncated: sum(|of| of.cut),
        frames,
        stacks,
        other_weight: weight.saturating_sub(of_listed),
    })
}

fn frames_of(of: &EventStacks, stack: &Stack, roles: &Roles) -> Vec<SampledFrame> {
    let frame = |name: &str, kind| SampledFrame { name: name.to_owned(), kind };
    let mut frames = Vec::with_capacity(stack.frames.len() + 3);
    if let Some(thread) = of.threads.get(stack.thread as usize) {
        let pool = match (&*thread.name, thread.is_virtual) {
            ("", true) => "virtual threads without a name".to_owned(),
            ("", false) => "a thread without a name".to_owned(),
            (name, _) => pool_of(name),
        };
        frames.push(frame(roles.of_thread(thread, &pool), FrameKind::Role));
        frames.push(frame(&pool, FrameKind::Pool));
    }
    let known = stack.frames.iter().rev().filter_map(|number| of.frames.get(*number as usize));
    frames.extend(known.map(java_frame));
    if let Some(class) = &stack.allocated {
        frames.push(frame(&readable_class(class), FrameKind::Allocated));
    }
    frames
}

fn java_frame(frame: &Frame) -> SampledFrame {
    let kind = if frame.frame_type == FrameType::Native { FrameKind::Native } else { FrameKind::Java };
    SampledFrame { name: format!("{}.{}", hidden_alike(&frame.class), frame.method), kind }
}

/// Without what differs from run to run: the number and the address of a hidden class. `Shop$$Lambda.0x7f12` and `Shop$$Lambda$14/0x8012`
/// are `Shop$$Lambda`.
fn hidden_alike(class: &str) -> &str {
    let end = class.find("$$Lambda").map(|at| at + "$$Lambda".len());
    let address = class.find("+0x").or_else(|| class.find("/0x")).or_else(|| class.find(".0x"));
    &class[..end.or(address).unwrap_or(class.len())]
}

/// `byte[]` for the JVM's `[B`.
fn readable_class(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let depth = class.len() - element.len();
    if depth == 0 {
        return hidden_alike(class).to_owned();
    }
    let name = match element {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        _ => element.strip_prefix('L').unwrap_or(element).trim_end_matches(';'),
    };
    hidden_alike(name).to_owned() + &"[]".repeat(depth)
}

/// The heaviest stacks, and the frames that they need.
fn listed(folded: HashMap<Vec<SampledFrame>, u64>) -> (Vec<SampledFrame>, Vec<RecordedStack>) {
    let mut sorted: Vec<_> = folded.into_iter().collect();
    let names =
        |frames: &Vec<SampledFrame>| frames.iter().map(|frame| frame.name.clone()).collect::<Vec<_>>();
    // The same recording gives the same list.
    sorted.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| names(a).cmp(&names(b))));
    sorted.truncate(STACKS_LISTED_MAX);
    let mut frames: Vec<SampledFrame> = Vec::new();
    let mut numbers: HashMap<SampledFrame, u32> = HashMap::new();
    let stacks = sorted.into_iter().map(|(stack, weight)| {
        let number = |frame: SampledFrame| {
            *numbers.entry(frame).or_insert_with_key(|frame| {
                frames.push(frame.clone());
                u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
            })
        };
        RecordedStack { frames: stack.into_iter().map(number).collect(), weight }
    });
    let stacks = stacks.collect();
    (frames, stacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::TimeSums;

    fn group(role: ThreadRole, name: &str) -> TimeGroup {
        TimeGroup { role, name: name.to_owned(), is_role_inferred: false, sums: TimeSums::default() }
    }

    #[test]
    fn a_thread_has_the_role_of_its_pool_if_that_is_but_one() {
        let roles = Roles::of(&[
            group(ThreadRole::Application, "http-*"),
            group(ThreadRole::Application, "worker-*"),
            group(ThreadRole::Jdk, "worker-*"),
        ]);
        let thread =
            |name: &str, is_virtual| RecordedThread { name: name.into(), os_thread_id: None, is_virtual };
        assert_eq!(roles.of_thread(&thread("http-1", false), "http-*"), "application");
        assert_eq!(roles.of_thread(&thread("worker-1", false), "worker-*"), "threads that no sample has");
        assert_eq!(roles.of_thread(&thread("gone", false), "gone"), "threads that no sample has");
        assert_eq!(roles.of_thread(&thread("", true), ""), "virtual-thread carriers");
    }

    #[test]
    fn the_recorder_is_left_out_of_its_own_recording_with_what_it_weighed() {
        let thread = |name: &str| RecordedThread { name: name.into(), os_thread_id: None, is_virtual: false };
        let frame = |class: &str| Frame {
            class: class.into(),
            method: "run".into(),
            frame_type: FrameType::Interpreted,
        };
        let stack =
            |thread, frame, events| Stack { thread, frames: vec![frame], allocated: None, events, bytes: 0 };
        let of = EventStacks {
            events: 100,
            threads: vec![thread("worker-1"), thread("JFR Periodic Tasks")],
            frames: vec![frame("shop.Cart"), frame("jdk.jfr.internal.PlatformRecorder")],
            stacks: vec![stack(0, 0, 90), stack(1, 0, 6), stack(0, 1, 4)],
            ..EventStacks::default()
        };
        let profile = Profile { events: [(Event::ExecutionSample, of)].into(), ..Profile::default() };
        let stacks = |is_own| {
            let of =
                stacks_of(&profile, &[Event::ExecutionSample], StackUnit::Samples, &Roles::default(), is_own);
            of.map(|of| (of.count, of.weight, of.recorder_weight, of.stacks.len(), of.other_weight))
        };
        assert_eq!(stacks(true), Some((90, 90, Some(10), 1, 0)));
        assert_eq!(stacks(false), Some((100, 100, None, 3, 0)));
    }

    #[test]
    fn classes_have_names_that_are_the_same_in_every_run() {
        let classes = [
            ("[B", "byte[]"),
            ("[[J", "long[][]"),
            ("[Ljava.lang.String;", "java.lang.String[]"),
            ("java.lang.String", "java.lang.String"),
            ("Shop$$Lambda$14/0x0000000800c03000", "Shop$$Lambda"),
            ("Shop$$Lambda+0x00007f3c/0x0000000800c03000", "Shop$$Lambda"),
            ("java.lang.invoke.LambdaForm$MH/0x000000080013e400", "java.lang.invoke.LambdaForm$MH"),
            ("[", "[]"),
            ("", ""),
        ];
        for (class, name) in classes {
            assert_eq!(readable_class(class), name, "{class}");
        }
    }
}
