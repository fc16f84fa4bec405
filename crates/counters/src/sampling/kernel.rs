//! The CPU clock of `perf_event_open`, opened and read.

use super::event::{CpuClock, Events, NotOpened, Record, Sample, SampleTarget, Samples};
use perf_event::data::Record as Parsed;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};

/// Room for samples of one processor: as much as the kernel lets every user have, and at 199 a second of 1 KiB each 2.5 s.
const BUFFER_BYTES: usize = 512 << 10;
const NS_PER_S: u64 = 1_000_000_000;
/// Markers that separate the kinds of frames within a stack, from here on.
const CONTEXT_MIN: u64 = -4095i64 as u64;
const CONTEXT_KERNEL: u64 = -128i64 as u64;
const CONTEXT_USER: u64 = -512i64 as u64;

impl Events for CpuClock {
    fn open(&self, whom: SampleTarget, rate_per_s: u32) -> Result<Box<dyn Samples>, NotOpened> {
        let mut builder = Builder::new(Software::CPU_CLOCK);
        builder
            .sample_period(NS_PER_S / u64::from(rate_per_s.max(1)))
            .sample(SampleFlag::TID | SampleFlag::CALLCHAIN)
            .include_kernel();
        builder.attrs_mut().set_exclude_idle(1);
        if let SampleTarget::Cpu(cpu) = whom {
            builder.any_pid().one_cpu(cpu as usize);
        }
        let mut sampler = builder.build()?.sampled(BUFFER_BYTES).map_err(NotOpened::Map)?;
        sampler.as_counter_mut().enable()?;
        Ok(Box::new(Ring(sampler)))
    }
}

struct Ring(Sampler);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl Samples for Ring {
    fn next(&mut self) -> Option<Record> {
        let record = self.0.next_record()?;
        Some(match record.parse_record() {
            Ok(Parsed::Sample(sample)) => match sample.pid().zip(sample.tid()) {
                Some((pid, tid)) => {
                    let (kernel, user) = parted(sample.callchain().unwrap_or_default());
                    Record::Sample(Sample { pid, tid, kernel, user })
                }
                None => Record::Nothing,
            },
            Ok(Parsed::Lost(lost)) => Record::Lost(lost.lost),
            Ok(Parsed::Throttle(_)) => Record::Throttled,
            Ok(_) | Err(_) => Record::Nothing,
        })
    }
}

/// Frames of the kernel and of user mode.
fn parted(chain: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (mut kernel, mut user) = (Vec::new(), Vec::new());
    let mut context = 0;
    for frame in chain {
        match (*frame, context) {
            (CONTEXT_MIN.., _) => context = *frame,
            (frame, CONTEXT_KERNEL) => kernel.push(frame),
            (frame, CONTEXT_USER) => user.push(frame),
            _ => {}
        }
    }
    (kernel, user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_parted_where_the_kernel_says() {
        let chain = [CONTEXT_KERNEL, 0xffff_ffff_8100_0000, 0xffff_ffff_8100_0001, CONTEXT_USER, 7, 8];
        assert_eq!(parted(&chain), (vec![0xffff_ffff_8100_0000, 0xffff_ffff_8100_0001], vec![7, 8]));
        assert_eq!(parted(&[CONTEXT_USER, 7]), (vec![], vec![7]));
        assert_eq!(parted(&[9, CONTEXT_MIN, 7]), (vec![], vec![]), "of no context, or one that is not known");
        assert_eq!(parted(&[]), (vec![], vec![]));
    }
}
