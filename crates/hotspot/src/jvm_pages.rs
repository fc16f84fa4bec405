//! Small memory of the JVM's own that lies neither in malloc's heap nor in any other part: performance counters, the
//! pages that threads poll for safepoints, and the page that an assertion touches.

use crate::Hotspot;
use assay_model::FigureSource;
use std::ops::Range;

/// `PerfDataMemorySize` is 32 KiB (64 KiB in later releases), unless the user sets it.
const COUNTERS_BYTES_MAX: u64 = 64 << 20;

/// Pages with a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmPages {
    /// `performance counters`, `safepoint polling`, `assertion page`.
    pub name: &'static str,
    /// Addresses.
    pub addresses: Range<u64>,
    /// How they were found.
    pub known_from: FigureSource,
}

impl Hotspot<'_> {
    /// Pages with a purpose of their own, sorted, as far as they are mapped.
    pub fn jvm_pages(&self) -> Vec<JvmPages> {
        let page_bytes = self.source().pages().page_bytes();
        let mut found = Vec::new();
        let mut push = |name, addresses: Option<Range<u64>>, known_from| {
            let Some(addresses) = addresses else { return };
            let mappings = self.source().mappings();
            let covering = mappings.iter().find(|m| m.addresses.contains(&addresses.start));
            if covering.is_some_and(|m| addresses.end <= m.addresses.end) {
                found.push(JvmPages { name, addresses, known_from });
            }
        };
        push("performance counters", self.performance_counters(), FigureSource::VmStructs);
        let page = |start: u64| Some(start..start.checked_add(page_bytes)?);
        // Two pages beside each other: one may be read and the other not, and threads poll one of them.
        let polled = self.symbol_word("_ZN18SafepointMechanism13_polling_pageE").and_then(page);
        let other = polled.as_ref().and_then(|polled| page(polled.end));
        push("safepoint polling", polled, FigureSource::Symbols);
        push("safepoint polling", other, FigureSource::Symbols);
        push("assertion page", self.symbol_word("g_assert_poison").and_then(page), FigureSource::Symbols);
        found.sort_by_key(|pages| pages.addresses.start);
        found
    }

    fn performance_counters(&self) -> Option<Range<u64>> {
        let start = self.static_pointer(&[("PerfMemory", "_start")])?;
        let end = self.static_pointer(&[("PerfMemory", "_end")])?;
        (start < end && end - start <= COUNTERS_BYTES_MAX).then_some(start..end)
    }

    fn symbol_word(&self, symbol: &str) -> Option<u64> {
        self.source().word(self.symbols().address(symbol)?).filter(|word| *word != 0)
    }
}
