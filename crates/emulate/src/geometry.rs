//! The processors that are modelled.

use assay_model::EmulatedProcessor;

/// Sizes of what is modelled, as the plug-in takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// L1 instruction cache: bytes, ways, bytes of a line.
    pub l1i: (u64, u64, u64),
    /// L1 data cache.
    pub l1d: (u64, u64, u64),
    /// L2 cache, of both.
    pub l2: (u64, u64, u64),
    /// Instruction TLB: entries, ways. All pages have 4 KiB.
    pub itlb: (u64, u64),
    /// Data TLB.
    pub dtlb: (u64, u64),
    /// Branch target buffer: entries, ways.
    pub btb: (u64, u64),
    /// What predicts conditional branches.
    pub predictor: &'static str,
}

impl Geometry {
    /// Of a processor.
    pub fn of(processor: EmulatedProcessor) -> Geometry {
        match processor {
            // Caches: the paper. TLBs, BTB and predictor: Intel Architecture Optimization Reference Manual (245127-001, 1999), chapters 1
            // and 2, and CPUID leaf 2 of family 6, model 7 (descriptors 01h and 03h).
            EmulatedProcessor::PentiumIii => Geometry {
                l1i: (16 << 10, 4, 32),
                l1d: (16 << 10, 4, 32),
                l2: (512 << 10, 4, 32),
                itlb: (32, 4),
                dtlb: (64, 4),
                btb: (512, 4),
                predictor: "local",
            },
            // Sizes as of Zen 4 (Software Optimization Guide for the AMD Zen4 Microarchitecture, 57647): the first level of TLBs, and the
            // L1 BTB rounded to a power of two. Its predictor is not published; gshare of 16 Ki counters stands in for it.
            EmulatedProcessor::Current => Geometry {
                l1i: (32 << 10, 8, 64),
                l1d: (32 << 10, 8, 64),
                l2: (1 << 20, 8, 64),
                itlb: (64, 64),
                dtlb: (72, 72),
                btb: (2048, 4),
                predictor: "gshare:14",
            },
            // Caches and the first level of TLBs: Arm Neoverse N1 Core Technical Reference Manual (100616); L2 as of
            // Ampere Altra. BTB and predictor are not published: those of `Current` stand in for them.
            EmulatedProcessor::NeoverseN1 => Geometry {
                l1i: (64 << 10, 4, 64),
                l1d: (64 << 10, 4, 64),
                l2: (1 << 20, 8, 64),
                itlb: (48, 48),
                dtlb: (48, 48),
                btb: (2048, 4),
                predictor: "gshare:14",
            },
        }
    }

    /// The plug-in's arguments.
    pub fn arguments(&self) -> String {
        let cache =
            |name: &str, (bytes, ways, line): (u64, u64, u64)| format!("{name}={bytes}:{ways}:{line}");
        let entries = |name: &str, (entries, ways): (u64, u64)| format!("{name}={entries}:{ways}");
        [
            cache("l1i", self.l1i),
            cache("l1d", self.l1d),
            cache("l2", self.l2),
            entries("itlb", self.itlb),
            entries("dtlb", self.dtlb),
            entries("btb", self.btb),
            format!("predictor={}", self.predictor),
        ]
        .join(",")
    }
}
