//! Spans: runs of pages, and the table that finds the span of a page.
//!
//! Layout (gperftools 2.10, `span.h` and `pagemap.h`; unchanged since 2.6): a span is start and length in pages, two
//! list pointers, a list of free objects, and a word of bit fields. The table has two levels: a root among the
//! library's variables, and leaves from the metadata allocator. A leaf's entry points to the span; entries of a free
//! span's inner pages are stale.

use crate::leaves::Leaves;
use crate::word_reader::WordReader;
use std::ops::Range;

/// Address bits that the table covers on x86-64 and 64-bit Arm.
const ADDRESS_BITS: u32 = 48;
/// Page sizes that tcmalloc can be built for, as powers of two; the default comes first.
const PAGE_SHIFTS: [u32; 6] = [13, 12, 14, 15, 16, 18];
/// Bytes of a span's structure.
pub(super) const SPAN_BYTES: u64 = 48;
/// Spans that are read: 64 GiB of small objects in spans of 8 KiB.
const SPANS_MAX: usize = 8 << 20;
/// Entries of a would-be leaf that are looked at before it is given up.
const ENTRIES_TRIED_MAX: usize = 64;
/// Words of the library that are tried as a pointer to a leaf, once they point to enough memory.
const WORDS_TRIED_MAX: usize = 4096;

/// State of a span in the page heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    /// Handed out whole, or cut into objects.
    InUse,
    /// Free, its pages kept.
    Free,
    /// Free, its pages given back to the kernel.
    Returned,
}

/// A run of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// Address of the span's own structure.
    pub at: u64,
    pub addresses: Range<u64>,
    /// First free object, where it is cut into objects.
    pub objects: u64,
    /// Objects that are not in the span's own list.
    pub objects_out: u32,
    /// 0 when it is handed out whole.
    pub class: u8,
    pub location: Location,
}

impl Span {
    /// Whether it is cut into objects of a class.
    pub fn is_cut(&self) -> bool {
        self.location == Location::InUse && self.class != 0
    }

    /// Whether it was handed out whole.
    pub fn is_one_block(&self) -> bool {
        self.location == Location::InUse && self.class == 0
    }
}

/// Where the table is, and how it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageTable {
    /// Address of the root's first entry.
    pub root: u64,
    /// Bytes of a tcmalloc page as a power of two.
    pub page_shift: u32,
}

impl PageTable {
    fn leaf_bits(self) -> u32 {
        (ADDRESS_BITS - self.page_shift).div_ceil(2)
    }

    fn root_entries(self) -> u64 {
        1 << (ADDRESS_BITS - self.page_shift - self.leaf_bits())
    }

    /// Bytes of a leaf.
    pub fn leaf_bytes(self) -> u64 {
        8 << self.leaf_bits()
    }

    /// Finds the table: a word of the library that points to a leaf, in which an entry points to a span whose first
    /// page is that entry's. The page's number then says which entry of the root the word is.
    pub fn find(reader: &WordReader<'_>, variables: Range<u64>) -> Option<PageTable> {
        let mut found = None;
        let mut tried = 0;
        reader.each_word(variables.clone(), |at, word| {
            if word.is_multiple_of(8) && !variables.contains(&word) {
                let is_leaf = |shape: &PageTable| {
                    let end = word.checked_add(shape.leaf_bytes());
                    end.is_some_and(|end| reader.is_private_memory(word..end))
                };
                let shapes = PAGE_SHIFTS.map(|page_shift| PageTable { root: 0, page_shift });
                let mut shapes = shapes.into_iter().filter(is_leaf).peekable();
                tried += usize::from(shapes.peek().is_some());
                found = shapes.find_map(|shape| table_by_leaf(reader, at, word, shape, &variables));
            }
            found.is_none() && tried < WORDS_TRIED_MAX
        });
        found
    }

    /// Its leaves.
    pub fn leaves(self, reader: &WordReader<'_>) -> Leaves {
        Leaves::read(reader, self.root, self.root_entries(), self.leaf_bytes())
    }

    /// All spans in the order of their addresses, without overlap, and how many entries contradicted themselves.
    pub fn spans(self, reader: &WordReader<'_>, leaves: &Leaves) -> (Vec<Span>, u64) {
        let mut spans: Vec<Span> = Vec::new();
        let mut torn = leaves.torn;
        let mut next_page = 0;
        for (leaf, index) in leaves.found.iter().copied() {
            let first_page = index << self.leaf_bits();
            reader.each_word(leaf..leaf + self.leaf_bytes(), |at, span_at| {
                let page = first_page + (at - leaf) / 8;
                if page < next_page {
                    return true;
                }
                match self.span(reader, span_at, page) {
                    Some(span)
                        if self.entry_of_last_page(reader, &span, leaf, first_page) == Some(span_at) =>
                    {
                        next_page = span.addresses.end >> self.page_shift;
                        spans.push(span);
                    }
                    Some(_) => torn += 1,
                    // The inner page of a span that was merged: its entry is stale, and never looked at.
                    None => {}
                }
                spans.len() < SPANS_MAX
            });
        }
        torn += u64::from(SPANS_MAX <= spans.len());
        (spans, torn)
    }

    /// The entry of a span's last page, which must be the span again; in the same leaf or a later one.
    fn entry_of_last_page(
        self,
        reader: &WordReader<'_>,
        span: &Span,
        leaf: u64,
        first_page: u64,
    ) -> Option<u64> {
        let last = (span.addresses.end >> self.page_shift) - 1;
        let in_leaf = last - first_page;
        if in_leaf < 1 << self.leaf_bits() {
            return reader.u64(leaf + in_leaf * 8);
        }
        let other = reader.u64(self.root.checked_add((last >> self.leaf_bits()) * 8)?)?;
        reader.u64(other.checked_add((last & ((1 << self.leaf_bits()) - 1)) * 8)?)
    }

    /// The span at an address, if it begins with this page.
    fn span(self, reader: &WordReader<'_>, at: u64, page: u64) -> Option<Span> {
        if reader.u64(at)? != page {
            return None;
        }
        let length = reader.u64(at.checked_add(8)?)?;
        let end = page.checked_add(length)?;
        if length == 0 || 1 << (ADDRESS_BITS - self.page_shift) <= end {
            return None;
        }
        let bits = reader.u32(at.checked_add(40)?)?;
        let location = match bits >> 24 & 3 {
            0 => Location::InUse,
            1 => Location::Free,
            2 => Location::Returned,
            _ => return None,
        };
        Some(Span {
            at,
            addresses: page << self.page_shift..end << self.page_shift,
            objects: reader.u64(at.checked_add(32)?)?,
            objects_out: bits & 0xffff,
            class: (bits >> 16) as u8,
            location,
        })
    }
}

/// The table, if the word at `at` points to a leaf of one with this page size.
fn table_by_leaf(
    reader: &WordReader<'_>,
    at: u64,
    leaf: u64,
    shape: PageTable,
    variables: &Range<u64>,
) -> Option<PageTable> {
    let leaf_bits = shape.leaf_bits();
    let mut table = None;
    let mut tried = 0;
    reader.each_word(leaf..leaf.checked_add(shape.leaf_bytes())?, |entry, span_at| {
        tried += 1;
        table = table_by_entry(reader, shape, (entry - leaf) / 8, span_at).and_then(|first_page| {
            let root = at.checked_sub((first_page >> leaf_bits) * 8)?;
            let table = PageTable { root, ..shape };
            let end = root.checked_add(table.root_entries() * 8)?;
            let span = table.span(reader, span_at, first_page)?;
            let in_leaf = first_page >> leaf_bits << leaf_bits;
            let closes = table.entry_of_last_page(reader, &span, leaf, in_leaf) == Some(span_at);
            (variables.start <= root && end <= variables.end && closes && is_mapped(reader, &span))
                .then_some(table)
        });
        table.is_none() && tried < ENTRIES_TRIED_MAX
    });
    table
}

/// The span's first page, if the entry of this index may point to it.
fn table_by_entry(reader: &WordReader<'_>, shape: PageTable, index: u64, span_at: u64) -> Option<u64> {
    let page = reader.u64(span_at)?;
    let low = page & ((1 << shape.leaf_bits()) - 1);
    (low == index && page != 0 && page >> (ADDRESS_BITS - shape.page_shift) == 0).then_some(page)
}

/// Whether a span lies in mapped memory: page sizes of 4 and 8 KiB cut the table alike, and only one of them leads there.
fn is_mapped(reader: &WordReader<'_>, span: &Span) -> bool {
    let mappings = reader.source().mappings();
    let first = mappings.partition_point(|mapping| mapping.addresses.end <= span.addresses.start);
    mappings.get(first).is_some_and(|mapping| mapping.addresses.contains(&span.addresses.start))
}
