//! CPU time by what samples say of it: role, user or kernel, activity or place.

use super::activity::activity_of;
use super::place::CodeLocation;
use super::{RATE_PER_S, Sampling, Stack};
use crate::split::share_of;
use assay_model::{
    CodePlace, Estimate, FrameKind, KernelActivity, SampledFrame, SampledPart, SampledRole, SampledStack,
    ThreadRole, TimeSamples,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Stacks that are listed.
const STACKS_LISTED_MAX: usize = 3000;

/// What the clocks say: the total that samples divide.
#[derive(Debug)]
pub(crate) struct Clocked {
    /// Of the process.
    pub(crate) cpu_ns: u64,
    /// Of each role, the most first.
    pub(crate) roles: Vec<(ThreadRole, u64)>,
    /// Of threads that no sample has.
    pub(crate) unseen_ns: u64,
    /// Role by thread.
    pub(crate) role_of: HashMap<u32, ThreadRole>,
}

/// What CPU time of one kind is; ordered as reports list what is equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    User(CodePlace, Option<String>),
    Kernel(KernelActivity),
}

/// Samples by kind.
#[derive(Debug, Default, Clone)]
struct SamplesByKind(BTreeMap<Kind, u64>);

impl SamplesByKind {
    fn all(&self) -> u64 {
        self.0.values().sum()
    }

    fn kernel_share(&self) -> Option<Estimate> {
        let kernel = self.0.iter().filter(|(kind, _)| matches!(kind, Kind::Kernel(_))).map(|(_, n)| n).sum();
        share_of(kernel, self.all())
    }

    /// The parts that so much CPU time has by these samples, the most samples first. Their sum is that time.
    fn parts(&self, cpu_ns: u64) -> Vec<SampledPart> {
        let all = self.all();
        let up_to = |samples: u64| (u128::from(cpu_ns) * u128::from(samples) / u128::from(all.max(1))) as u64;
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|(_, samples)| Reverse(**samples));
        let mut before = 0;
        let part = |(kind, samples): (&Kind, &u64)| {
            let begins = up_to(before);
            before += samples;
            let (activity, place, library) = match kind.clone() {
                Kind::Kernel(activity) => (Some(activity), None, None),
                Kind::User(place, library) => (None, Some(place), library),
            };
            let share = share_of(*samples, all)?;
            Some(SampledPart {
                activity,
                place,
                library,
                samples: *samples,
                cpu_ns: up_to(before) - begins,
                share,
            })
        };
        sorted.into_iter().filter_map(part).collect()
    }
}

/// The account of the samples. `places`: the code at the addresses of user mode.
pub(crate) fn account_of(
    sampling: &Sampling,
    clocked: &Clocked,
    places: &HashMap<u64, CodeLocation>,
) -> TimeSamples {
    let seen = &sampling.seen;
    let mut by_role: HashMap<Option<ThreadRole>, SamplesByKind> = HashMap::new();
    let mut frames = Frames::default();
    let mut stacks: HashMap<Vec<u32>, u64> = HashMap::new();
    for (stack, samples) in &seen.stacks {
        let role = clocked.role_of.get(&stack.tid).copied();
        let kind = kind_of(sampling, stack, places);
        *by_role.entry(role).or_default().0.entry(kind).or_default() += samples;
        *stacks.entry(frames.of(sampling, stack, role, places)).or_default() += samples;
    }
    let mut of_all = SamplesByKind::default();
    for (kind, samples) in by_role.values().flat_map(|counts| &counts.0) {
        *of_all.0.entry(kind.clone()).or_default() += samples;
    }
    let clocked_roles = clocked.roles.iter().map(|(role, cpu_ns)| (Some(*role), *cpu_ns));
    let roles = clocked_roles.chain([(None, clocked.unseen_ns)]).filter_map(|(role, cpu_ns)| {
        let counts = by_role.remove(&role).unwrap_or_default();
        let samples = counts.all();
        (cpu_ns != 0 || samples != 0).then(|| SampledRole {
            role,
            cpu_ns,
            samples,
            kernel_share: counts.kernel_share(),
            parts: counts.parts(cpu_ns),
        })
    });
    let roles = roles.collect();
    let (kernel, user) = of_all.parts(clocked.cpu_ns).into_iter().partition(|part| part.activity.is_some());
    let samples = of_all.all();
    let expected = clocked.cpu_ns as f64 / 1e9 * f64::from(RATE_PER_S);
    let (frames, stacks, other_stacks_samples) = frames.listed(stacks);
    TimeSamples {
        rate_per_s: RATE_PER_S,
        cpus: sampling.cpus(),
        samples,
        coverage: (1.0 <= expected).then(|| samples as f64 / expected),
        lost: seen.lost,
        throttled: seen.throttled,
        reading_cpu_ns: seen.reading_cpu_ns,
        kernel_share: of_all.kernel_share(),
        roles,
        kernel,
        user,
        frames,
        stacks,
        other_stacks_samples,
    }
}

fn kind_of(sampling: &Sampling, stack: &Stack, places: &HashMap<u64, CodeLocation>) -> Kind {
    if stack.is_kernel {
        let names = stack.kernel.iter().map(|number| number.and_then(|number| sampling.names.name(number)));
        return Kind::Kernel(activity_of(names));
    }
    match stack.user.first().and_then(|address| places.get(address)) {
        Some(placed) => Kind::User(placed.place, placed.library.clone()),
        None => Kind::User(CodePlace::Unknown, None),
    }
}

/// Frames by their numbers.
#[derive(Debug, Default)]
struct Frames {
    frames: Vec<SampledFrame>,
    numbers: HashMap<SampledFrame, u32>,
}

impl Frames {
    fn number(&mut self, frame: SampledFrame) -> u32 {
        if let Some(number) = self.numbers.get(&frame) {
            return *number;
        }
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.push(frame.clone());
        self.numbers.insert(frame, number);
        number
    }

    /// The numbers of a stack's frames, the root first.
    fn of(
        &mut self,
        sampling: &Sampling,
        stack: &Stack,
        role: Option<ThreadRole>,
        places: &HashMap<u64, CodeLocation>,
    ) -> Vec<u32> {
        let role = role.map_or("threads that no sample has", ThreadRole::title).to_owned();
        let role = SampledFrame { name: role, kind: FrameKind::Role };
        let placed = |address: &u64| places.get(address).cloned().unwrap_or_else(CodeLocation::unknown);
        // A frame pointer that leads out of all code is none, and what it leads to is nobody's caller.
        let is_code = |(at, placed): &(usize, CodeLocation)| *at == 0 || placed.place != CodePlace::Unknown;
        let user = stack.user.iter().map(placed).enumerate().take_while(is_code);
        let mut user: Vec<SampledFrame> = user.map(|(_, placed)| placed.frame).collect();
        user.reverse();
        let kernel = stack.kernel.iter().rev().map(|number| {
            let name = number.and_then(|number| sampling.names.name(number)).unwrap_or("[kernel]");
            SampledFrame { name: name.to_owned(), kind: FrameKind::Kernel }
        });
        std::iter::once(role).chain(user).chain(kernel).map(|frame| self.number(frame)).collect()
    }

    /// The stacks with the most samples, and the frames that they need.
    fn listed(self, stacks: HashMap<Vec<u32>, u64>) -> (Vec<SampledFrame>, Vec<SampledStack>, u64) {
        let mut sorted: Vec<_> = stacks.into_iter().collect();
        let name = |frame: &u32| self.frames.get(*frame as usize).map(|frame| frame.name.as_str());
        // The same samples give the same list, in whatever order they were met.
        sorted.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.iter().map(name).cmp(b.iter().map(name))));
        let others = sorted.iter().skip(STACKS_LISTED_MAX).map(|(_, samples)| samples).sum();
        sorted.truncate(STACKS_LISTED_MAX);
        let mut kept = Frames::default();
        let mut renumbered = |frames: Vec<u32>| {
            let known = frames.into_iter().filter_map(|frame| self.frames.get(frame as usize).cloned());
            known.map(|frame| kept.number(frame)).collect()
        };
        let stacks: Vec<SampledStack> = sorted
            .into_iter()
            .map(|(frames, samples)| SampledStack { frames: renumbered(frames), samples })
            .collect();
        (kept.frames, stacks, others)
    }
}
