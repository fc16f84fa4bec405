//! What a prediction says in words.

use assay_kit::number::{count, counted, percent, percent_change, signed_size, size, xmx};
use assay_kit::text::{clean, shorten};
use assay_model::{ClassFootprint, CrossOver, FootprintParts, HeapPrediction, ModelFootprint, ModelName};

/// Parts of a weight in the order in which they are drawn: name, class of the fill, what is in it.
pub const PARTS: [(&str, &str, &str); 4] = [
    ("headers", "f1", "mark words, class pointers, lengths of arrays"),
    ("references", "f0", "fields and elements that refer to objects"),
    ("primitives", "f2", "fields and elements that are numbers"),
    ("padding", "f11", "what alignment and gaps lose"),
];

/// The parts' bytes, in the order of [`PARTS`].
pub fn part_bytes(parts: &FootprintParts) -> [u64; 4] {
    [parts.headers_bytes, parts.references_bytes, parts.primitives_bytes, parts.padding_bytes]
}

/// What a model is, in a clause.
pub fn explanation(name: ModelName) -> &'static str {
    match name {
        ModelName::Bits32 => "a 32-bit JVM",
        ModelName::Compressed => "compressed oops: heaps up to 32 GB",
        ModelName::CompressedAlign16 => "compressed oops, 16-byte object alignment: heaps up to 64 GB",
        ModelName::CompressedAlign32 => "compressed oops, 32-byte object alignment: heaps up to 128 GB",
        ModelName::Bits64CompressedClassPointers => {
            "64-bit oops, compressed class pointers: heaps beyond 32 GB"
        }
        ModelName::Bits64 => "64-bit oops and class pointers",
        ModelName::Compact => "compressed oops, 8-byte headers",
        ModelName::CompactAlign16 => "compressed oops, 8-byte headers, 16-byte object alignment",
        ModelName::Compact64 => "64-bit oops, 8-byte headers",
        ModelName::OpenJ9Compressed => "OpenJ9, 4-byte references: an estimate",
        ModelName::OpenJ9Full => "OpenJ9, 8-byte references: an estimate",
    }
}

/// The heap as it was found, where that is known and was asked for.
pub fn today(heap: &HeapPrediction) -> Option<&ModelFootprint> {
    heap.model(heap.dump_model?)
}

/// The two models that a reader asks for first: what the heap would get by compact headers or compressed references,
/// and what by the other width of references. Fewer where they were not asked for.
pub fn asked_first(heap: &HeapPrediction) -> Vec<&ModelFootprint> {
    use ModelName as M;
    let wanted = match heap.dump_model {
        Some(M::Bits64CompressedClassPointers | M::Bits64) => [M::Compressed, M::Compact],
        Some(M::Compact | M::CompactAlign16) => [M::Compressed, M::Compact64],
        Some(M::Compact64) => [M::Compact, M::Bits64CompressedClassPointers],
        Some(M::Bits32) => [M::Compressed, M::Compact],
        Some(M::OpenJ9Compressed | M::OpenJ9Full) => [M::Compressed, M::Compact],
        _ => [M::Compact, M::Bits64CompressedClassPointers],
    };
    wanted.iter().filter_map(|name| of_release(heap, *name)).collect()
}

/// A model; where no JVM of the heap's release has it with compressed class pointers, that with full ones.
fn of_release(heap: &HeapPrediction, name: ModelName) -> Option<&ModelFootprint> {
    let model = heap.model(name)?;
    match name {
        ModelName::Bits64CompressedClassPointers if !model.is_in_release => heap.model(ModelName::Bits64),
        _ => Some(model),
    }
    .filter(|model| model.is_in_release)
}

/// The answer in one sentence, without its full stop.
pub fn headline(heap: &HeapPrediction) -> String {
    let part = if heap.is_part { "Only a part of the heap could be read. " } else { "" };
    format!("{part}{}", sizes(heap))
}

fn sizes(heap: &HeapPrediction) -> String {
    let objects = counted(heap.objects, "object", "objects");
    let occupy = if heap.objects == 1 { "occupies" } else { "occupy" };
    let Some(today) = today(heap) else {
        let by_weight = |m: &&ModelFootprint| m.total_bytes;
        let of = |m: &ModelFootprint| format!("{} in {}", size(m.total_bytes), m.name.name());
        let in_release = || heap.models.iter().filter(|model| model.is_in_release);
        let lightest = in_release().min_by_key(by_weight).map(of);
        let heaviest = in_release().max_by_key(by_weight).map(of);
        return match lightest.zip(heaviest) {
            Some((low, high)) if low != high => {
                format!("The current layout is not known. {objects} {occupy} from {low} to {high}")
            }
            Some((only, _)) => {
                format!("The current layout is not known. {objects} {occupy} {only}")
            }
            None => format!("{objects}, no layout was computed"),
        };
    };
    let others: Vec<String> = asked_first(heap)
        .into_iter()
        .map(|m| {
            let by = percent_change(m.total_bytes, today.total_bytes);
            let by = by.map_or_else(String::new, |by| format!(" ({by})"));
            // A heap of an older release gets compact headers only with a newer JVM.
            let since = if m.jdk == today.jdk { String::new() } else { format!(" of JDK {}", m.jdk) };
            format!("{}{by} in {}{since}", size(m.total_bytes), m.name.name())
        })
        .collect();
    let would =
        if others.is_empty() { String::new() } else { format!("; the heap would be {}", others.join(", ")) };
    format!("{objects} {occupy} {} now, in {}{would}", size(today.total_bytes), today.name.name())
}

/// Where the objects come from, and what shows their model.
pub fn subject(heap: &HeapPrediction) -> String {
    let jdk = heap
        .dump
        .as_ref()
        .and_then(|d| d.jdk_version.as_deref().map(clean).or_else(|| d.jdk.map(|jdk| jdk.to_string())));
    let jdk = jdk.map_or_else(String::new, |jdk| format!(" of JDK {jdk}"));
    let stopped = heap.frozen_ms.map_or_else(String::new, |ms| {
        format!("; the process was stopped for {} ms", assay_kit::number::significant(ms))
    });
    format!("Heap{jdk}, read from {}{stopped}", clean(&heap.source))
}

/// What shows the model; absent where nothing does.
pub fn evidence(heap: &HeapPrediction) -> Option<String> {
    let dump = heap.dump.as_ref()?;
    let alignment = dump.alignment_bytes.map_or_else(String::new, |a| format!("; {a}-byte object alignment"));
    Some(format!("{}: {}{alignment}", dump.name.name(), clean(&dump.evidence)))
}

/// Cross-overs of the models that a reader asks for first, and of the heap's own; all where there are none of those.
pub fn cross_overs_told(heap: &HeapPrediction) -> Vec<&CrossOver> {
    let asked: Vec<ModelName> = asked_first(heap).iter().map(|m| m.name).chain(heap.dump_model).collect();
    let told: Vec<&CrossOver> = heap.cross_overs.iter().filter(|o| asked.contains(&o.name)).collect();
    if told.is_empty() { heap.cross_overs.iter().collect() } else { told }
}

/// What to do about the heap's size: what its first cross-over comes to.
pub fn next_step(heap: &HeapPrediction) -> String {
    let step = match cross_overs_told(heap).first() {
        Some(CrossOver { max_heap_bytes: Some(max), total_bytes, name, decoding, .. })
            if total_bytes <= max =>
        {
            let decoding = decoding.as_ref().map_or_else(String::new, |word| format!(" ({})", clean(word)));
            format!(
                "Keep -Xmx at or below {}, the largest heap with layout {}{decoding}.",
                xmx(*max),
                name.name()
            )
        }
        Some(CrossOver { max_heap_bytes: Some(max), name, .. }) => {
            format!("Plan for more than -Xmx{}, which {} cannot have.", xmx(*max), name.name())
        }
        Some(CrossOver { break_even_bytes: Some(from), name, .. }) => {
            format!("Give the heap at least -Xmx{}, from where on layout {} pays.", xmx(*from), name.name())
        }
        _ => "Find the largest -Xmx with compressed references on this host: assay heap modes.".to_owned(),
    };
    format!("→ {step}")
}

/// What a cross-over rests on: the weight, the limit, and from where a model beyond the limit pays.
pub fn cross_over(over: &CrossOver) -> String {
    let decoding = over.decoding.as_ref().map_or_else(String::new, |d| format!(" that is {}", clean(d)));
    let limit = over.max_heap_bytes.map_or_else(String::new, |max| {
        format!(", {} of -Xmx{}, the largest heap{decoding}", percent(over.total_bytes, max), xmx(max))
    });
    let pays = over.break_even_bytes.map_or_else(String::new, |b| format!(", breaks even at -Xmx{}", xmx(b)));
    format!("{}: {}{limit}{pays}", over.name.name(), size(over.total_bytes))
}

/// What the figures of garbage rest on.
pub fn garbage_basis(heap: &HeapPrediction) -> String {
    let none = "From a GC log: the bytes that its collections freed, if garbage has the same composition as the \
            objects in the heap";
    heap.garbage_basis.as_deref().map_or_else(|| none.to_owned(), clean)
}

/// A model's difference to the heap as it is: bytes, and percent where it is another model.
pub fn difference_told(heap: &HeapPrediction, model: &ModelFootprint) -> Option<(String, String)> {
    let (today, bytes) = (today(heap)?, model.difference_bytes?);
    if Some(model.name) == heap.dump_model {
        return Some(("now".to_owned(), String::new()));
    }
    let share = percent_change(model.total_bytes, today.total_bytes).unwrap_or_else(|| "-".to_owned());
    Some((signed_size(bytes), share))
}

/// Objects of a class in one model, with the class's bytes in every model.
pub struct ClassRow {
    /// External name, cleaned.
    pub name: String,
    /// Objects.
    pub instances: u64,
    /// Bytes in each model, in the models' order; absent where a model does not list the class.
    pub bytes: Vec<Option<u64>>,
}

impl ClassRow {
    /// Objects, for people.
    pub fn objects(&self) -> String {
        count(self.instances)
    }
}

/// Every class, in the stored order, joined over the models by its place in their lists.
pub fn class_rows(heap: &HeapPrediction) -> Vec<ClassRow> {
    let Some(longest) = heap.models.iter().max_by_key(|m| m.classes.len()) else { return Vec::new() };
    let row = |(index, class): (usize, &ClassFootprint)| {
        let same =
            |m: &ModelFootprint| m.classes.get(index).filter(|c| c.name == class.name).map(|c| c.bytes);
        let bytes = heap.models.iter().map(same).collect();
        ClassRow { name: clean(&class.name), instances: class.instances, bytes }
    };
    longest.classes.iter().enumerate().map(row).collect()
}

/// A class's name in at most `room` characters: packages are cut to their first letters from the left, as far as need be.
pub fn short_class(name: &str, room: usize) -> String {
    let mut parts: Vec<&str> = name.split('.').collect();
    let length =
        |parts: &[&str]| parts.iter().map(|p| p.chars().count() + 1).sum::<usize>().saturating_sub(1);
    for index in 0..parts.len().saturating_sub(1) {
        if length(&parts) <= room {
            break;
        }
        let first = parts[index].chars().next().map_or(0, char::len_utf8);
        parts[index] = &parts[index][..first];
    }
    shorten(&parts.join("."), room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_long_names_are_cut_first() {
        let name = "java.util.concurrent.ConcurrentHashMap$Node[]";
        assert_eq!(short_class(name, 99), name);
        assert_eq!(short_class(name, 40), "j.u.concurrent.ConcurrentHashMap$Node[]");
        assert_eq!(short_class(name, 30), "j.u.c.ConcurrentHashMap$Node[]");
        assert_eq!(short_class(name, 12), "j.u.c.…ode[]");
        assert_eq!((short_class("", 4).as_str(), short_class("....", 3).as_str()), ("", ".…."));
    }
}
