//! A first-order model of cycles: what instructions would take, and stated penalties for what the modelled caches, TLBs and branch
//! prediction missed. Nothing overlaps in it, so it tells which way the cycles of two variants differ, and where they go, but no time.

use crate::counts::Figures;
use assay_model::EmulatedProcessor;

/// Cycles of a processor for each event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycles {
    /// Of an instruction that finds all it needs.
    pub instruction: f64,
    /// Of a line that an L1 cache lacks and the L2 cache has.
    pub l1_miss: f64,
    /// Of a line that the L2 cache lacks.
    pub l2_miss: f64,
    /// Of a page that a TLB lacks.
    pub tlb_miss: f64,
    /// Of a branch that was foretold wrongly.
    pub misprediction: f64,
}

impl Cycles {
    /// Of a processor whose penalties were published; of others there is no model.
    pub fn of(processor: EmulatedProcessor) -> Option<Cycles> {
        match processor {
            // Penalties: Ailamaki, DeWitt, Hill, Wood, "DBMSs on a Modern Processor: Where Does Time Go?" (VLDB 1999), table 4.2, of a
            // Pentium II Xeon, which has the same core; memory took 60 to 70 cycles. An instruction is about 1.5 micro-operations, of
            // which the core retires three a cycle.
            EmulatedProcessor::PentiumIii => Some(Cycles {
                instruction: 0.5,
                l1_miss: 4.0,
                l2_miss: 65.0,
                tlb_miss: 32.0,
                misprediction: 17.0,
            }),
            // It has a third cache and prefetchers, which nothing here models.
            EmulatedProcessor::Current | EmulatedProcessor::NeoverseN1 => None,
        }
    }

    /// Cycles of all.
    pub fn all(&self, figures: &Figures) -> f64 {
        self.instruction * figures.instructions as f64
            + self.misprediction * figures.branches_mispredicted as f64
            + self.fetch_stalls(figures)
            + self.data_stalls(figures)
    }

    /// Cycles in which instructions were awaited: misses of the L1 instruction cache and the instruction TLB. Which misses of the L2 cache
    /// were instructions is not counted.
    pub fn fetch_stalls(&self, figures: &Figures) -> f64 {
        self.l1_miss * figures.l1i_misses as f64 + self.tlb_miss * figures.itlb_misses as f64
    }

    /// Cycles in which data were awaited: misses of the L1 data cache and the data TLB, and all of the L2 cache.
    pub fn data_stalls(&self, figures: &Figures) -> f64 {
        self.l1_miss * figures.l1d_misses as f64
            + self.tlb_miss * figures.dtlb_misses as f64
            + self.l2_miss * figures.l2_misses as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_costs_its_penalty_once() {
        let cycles = Cycles::of(EmulatedProcessor::PentiumIii).expect("published");
        let figures = Figures {
            instructions: 1_000,
            branches_mispredicted: 10,
            l1i_misses: 20,
            l1d_misses: 30,
            l2_misses: 2,
            itlb_misses: 1,
            dtlb_misses: 3,
            ..Figures::default()
        };
        assert_eq!(cycles.fetch_stalls(&figures), 20.0 * 4.0 + 32.0);
        assert_eq!(cycles.data_stalls(&figures), 30.0 * 4.0 + 3.0 * 32.0 + 2.0 * 65.0);
        assert_eq!(cycles.all(&figures), 500.0 + 170.0 + 112.0 + 346.0);
        assert_eq!(Cycles::of(EmulatedProcessor::Current), None);
    }
}
