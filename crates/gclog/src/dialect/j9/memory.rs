//! Sizes before and after, as J9 gives them: what is free, and of how much.

use super::tag::Attributes;
use assay_model::{GcSizes, GcSpace};

/// Free and total bytes of the heap and its parts at one instant.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    pub heap: Option<(u64, u64)>,
    pub parts: Vec<(GcSpace, (u64, u64))>,
}

impl Memory {
    /// `<mem-info free=".." total="..">`
    pub fn take_heap(&mut self, attributes: &Attributes<'_>) {
        let [free, total] = attributes.values(["free", "total"]);
        self.heap = figures(free, total);
    }

    /// `<mem type="nursery" free=".." total="..">`
    ///
    /// The survivor space is left out: J9 calls it full, since nothing can be allocated there, whatever is in it.
    pub fn take_part(&mut self, attributes: &Attributes<'_>) {
        let [kind, free, total] = attributes.values(["type", "free", "total"]);
        let space = match kind {
            Some("nursery") => GcSpace::Young,
            Some("allocate" | "eden") => GcSpace::Eden,
            Some("tenure") => GcSpace::Old,
            Some("loa") => GcSpace::Humongous,
            _ => return,
        };
        self.put(space, figures(free, total));
    }

    /// Before R26: `<nursery freebytes=".." totalbytes="..">`; the heap is their sum.
    pub fn take_old_part(&mut self, name: &str, attributes: &Attributes<'_>) {
        let space = match name {
            "nursery" => GcSpace::Young,
            "tenured" => GcSpace::Old,
            "loa" => GcSpace::Humongous,
            _ => return,
        };
        let [free, total] = attributes.values(["freebytes", "totalbytes"]);
        let Some((free, total)) = figures(free, total) else { return };
        self.put(space, Some((free, total)));
        if space != GcSpace::Humongous {
            let (free_before, total_before) = self.heap.unwrap_or((0, 0));
            self.heap = Some((free_before.saturating_add(free), total_before.saturating_add(total)));
        }
    }

    fn put(&mut self, space: GcSpace, figures: Option<(u64, u64)>) {
        if let Some(figures) = figures.filter(|_| self.parts.iter().all(|(name, _)| *name != space)) {
            self.parts.push((space, figures));
        }
    }

    fn part(&self, space: GcSpace) -> Option<(u64, u64)> {
        self.parts.iter().find(|(name, _)| *name == space).map(|(_, figures)| *figures)
    }
}

fn figures(free: Option<&str>, total: Option<&str>) -> Option<(u64, u64)> {
    Some((free?.parse().ok()?, total?.parse().ok()?))
}

/// Sizes from the memory before and after: the heap and its parts, exact to the byte.
pub(super) fn sizes(before: &Memory, after: &Memory) -> (GcSizes, Vec<(GcSpace, GcSizes)>) {
    let heap = pair(before.heap, after.heap);
    let mut spaces: Vec<(GcSpace, GcSizes)> = Vec::new();
    for (space, _) in before.parts.iter().chain(&after.parts) {
        if spaces.iter().all(|(name, _)| name != space) {
            spaces.push((*space, pair(before.part(*space), after.part(*space))));
        }
    }
    (heap, spaces)
}

fn pair(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> GcSizes {
    let used = |figures: Option<(u64, u64)>| figures.and_then(|(free, total)| total.checked_sub(free));
    GcSizes {
        before_bytes: used(before),
        after_bytes: used(after),
        capacity_bytes: after.or(before).map(|(_, total)| total),
        resolution_bytes: before.or(after).map(|_| 1),
    }
}
