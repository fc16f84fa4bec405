//! A made-up heap of a server with names from `java.util`, laid out by plain rules in every model: sizes, parts and
//! totals agree with each other, so that tests can hold pictures against sums.

pub mod modes;

use assay_model::*;

/// Reference, mark word, class pointer, alignment in bytes of a model; whether arrays begin at a multiple of 4.
struct Rule {
    name: ModelName,
    reference: u64,
    header: u64,
    alignment: u64,
    array_base: u64,
}

const fn rule(name: ModelName, reference: u64, header: u64, alignment: u64, array_base: u64) -> Rule {
    Rule { name, reference, header, alignment, array_base }
}

const RULES: [Rule; 11] = [
    rule(ModelName::Bits32, 4, 8, 8, 12),
    rule(ModelName::Compressed, 4, 12, 8, 16),
    rule(ModelName::CompressedAlign16, 4, 12, 16, 16),
    rule(ModelName::CompressedAlign32, 4, 12, 32, 16),
    rule(ModelName::Bits64CompressedClassPointers, 8, 12, 8, 16),
    rule(ModelName::Bits64, 8, 16, 8, 24),
    rule(ModelName::Compact, 4, 8, 8, 12),
    rule(ModelName::CompactAlign16, 4, 8, 16, 12),
    rule(ModelName::Compact64, 8, 8, 8, 16),
    rule(ModelName::OpenJ9Compressed, 4, 4, 8, 8),
    rule(ModelName::OpenJ9Full, 8, 8, 8, 16),
];

/// A class: name, objects, references in each, bytes of primitives in each, whether it is an array.
type Class = (&'static str, u64, u64, u64, bool);

const CLASSES: [Class; 24] = [
    ("byte[]", 96_000_000, 0, 58, true),
    ("java.util.HashMap$Node", 81_000_000, 3, 4, false),
    ("java.lang.String", 95_000_000, 1, 5, false),
    ("java.lang.Object[]", 14_500_000, 23, 0, true),
    ("java.util.HashMap$Node[]", 3_900_000, 64, 0, true),
    ("com.example.order.Order", 18_000_000, 9, 29, false),
    ("java.util.TreeMap$Entry", 21_000_000, 5, 1, false),
    ("java.util.concurrent.ConcurrentHashMap$Node", 17_400_000, 3, 4, false),
    ("java.math.BigDecimal", 16_000_000, 2, 16, false),
    ("java.util.ArrayList", 13_900_000, 1, 8, false),
    ("long[]", 1_200_000, 0, 640, true),
    ("java.lang.Long", 31_000_000, 0, 8, false),
    ("java.math.BigInteger", 12_000_000, 1, 20, false),
    ("int[]", 12_400_000, 0, 36, true),
    ("java.lang.Integer", 22_000_000, 0, 4, false),
    ("java.time.LocalDate", 18_000_000, 0, 8, false),
    ("java.util.HashMap", 3_900_000, 4, 16, false),
    ("com.example.order.OrderLine$Discount", 6_000_000, 2, 12, false),
    ("java.util.LinkedHashMap$Entry", 2_100_000, 5, 4, false),
    ("java.util.Collections$UnmodifiableRandomAccessList", 2_000_000, 2, 0, false),
    ("java.util.concurrent.atomic.AtomicLong", 1_500_000, 0, 8, false),
    ("char[]", 140_000, 0, 4_100, true),
    ("java.lang.Class", 31_000, 18, 40, false),
    ("java.lang.Thread", 412, 14, 48, false),
];

fn rounded(bytes: u64, to: u64) -> u64 {
    bytes.div_ceil(to) * to
}

fn weigh(rule: &Rule, jdk: u32) -> ModelFootprint {
    let mut parts = FootprintParts::default();
    let mut classes = Vec::new();
    for (name, instances, references, primitives, is_array) in CLASSES {
        let header = if is_array { rule.array_base } else { rule.header };
        let references = references * rule.reference;
        let size = rounded(header + references + primitives, rule.alignment);
        parts.headers_bytes += instances * header;
        parts.references_bytes += instances * references;
        parts.primitives_bytes += instances * primitives;
        parts.padding_bytes += instances * (size - header - references - primitives);
        classes.push(ClassFootprint { name: name.to_owned(), instances, bytes: instances * size });
    }
    let total_bytes = classes.iter().map(|c| c.bytes).sum();
    let is_estimate = matches!(rule.name, ModelName::OpenJ9Compressed | ModelName::OpenJ9Full);
    ModelFootprint {
        name: rule.name,
        jdk,
        is_estimate,
        is_in_release: true,
        total_bytes,
        difference_bytes: None,
        parts,
        classes,
    }
}

/// Fields of the example: name, type, bytes (0 for a reference), part.
type Field = (&'static str, &'static str, u64, LayoutPart);

const NODE: [Field; 4] = [
    ("hash", "int", 4, LayoutPart::Field),
    ("key", "reference", 0, LayoutPart::Field),
    ("value", "reference", 0, LayoutPart::Field),
    ("next", "reference", 0, LayoutPart::Field),
];

const LOADER: [Field; 9] = [
    ("defaultAssertionStatus", "boolean", 1, LayoutPart::Field),
    ("parent", "reference", 0, LayoutPart::Field),
    ("name", "reference", 0, LayoutPart::Field),
    ("unnamedModule", "reference", 0, LayoutPart::Field),
    ("parallelLockMap", "reference", 0, LayoutPart::Field),
    ("package2certs", "reference", 0, LayoutPart::Field),
    ("classes", "reference", 0, LayoutPart::Field),
    ("packages", "reference", 0, LayoutPart::Field),
    ("loader_data", "long", 8, LayoutPart::Injected),
];

fn place(part: LayoutPart, at: u64, bytes: u64, name: &str, kind: &str, by: &str) -> FieldPlace {
    FieldPlace { part, offset_bytes: at, bytes, name: name.into(), kind: kind.into(), declared_by: by.into() }
}

fn lay_out(rule: &Rule, jdk: u32, class: &str, fields: &[Field]) -> ClassLayout {
    let words: &[(&str, u64)] = match rule.header {
        4 => &[("class", 4)],
        8 if rule.name == ModelName::Bits32 => &[("mark", 4), ("class", 4)],
        8 if rule.name == ModelName::OpenJ9Full => &[("class", 8)],
        8 => &[("mark and class", 8)],
        12 => &[("mark", 8), ("class", 4)],
        _ => &[("mark", 8), ("class", 8)],
    };
    let (mut places, mut at) = (Vec::new(), 0);
    for &(name, bytes) in words {
        places.push(place(LayoutPart::Header, at, bytes, name, "", ""));
        at += bytes;
    }
    for &(name, kind, bytes, part) in fields {
        let bytes = if bytes == 0 { rule.reference } else { bytes };
        let aligned = rounded(at, bytes);
        if aligned > at {
            places.push(place(LayoutPart::Padding, at, aligned - at, "", "", ""));
        }
        places.push(place(part, aligned, bytes, name, kind, class));
        at = aligned + bytes;
    }
    let instance_bytes = rounded(at, rule.alignment);
    if instance_bytes > at {
        places.push(place(LayoutPart::Padding, at, instance_bytes - at, "", "", ""));
    }
    let is_estimate = matches!(rule.name, ModelName::OpenJ9Compressed | ModelName::OpenJ9Full);
    let model = HeapModel { name: rule.name, jdk };
    ClassLayout { model, class: class.into(), instance_bytes, is_estimate, is_in_release: true, places }
}

fn layouts_of(class: &str, fields: &[Field]) -> Vec<ClassLayout> {
    RULES.iter().map(|rule| lay_out(rule, 25, class, fields)).collect()
}

/// A small class in every model.
pub fn layouts() -> HeapLayouts {
    HeapLayouts {
        schema: schema::HEAP_LAYOUT.to_owned(),
        source: "server.hprof".to_owned(),
        layouts: layouts_of("java.util.HashMap$Node", &NODE),
        problems: Vec::new(),
    }
}

/// A class with an injected field and gaps.
pub fn loader_layouts() -> HeapLayouts {
    HeapLayouts { layouts: layouts_of("java.lang.ClassLoader", &LOADER), ..layouts() }
}

/// A class that keeps away from its neighbours: 128 bytes of padding before and behind its field.
pub fn contended_layouts() -> HeapLayouts {
    let mut all = layouts_of("java.util.concurrent.atomic.Striped64$Cell", &[]);
    for layout in &mut all {
        let header = layout.places.iter().take_while(|p| p.part == LayoutPart::Header).count();
        layout.places.truncate(header);
        let at: u64 = layout.places.iter().map(|p| p.bytes).sum();
        let field = rounded(at + 128, 8);
        layout.places.push(place(LayoutPart::Padding, at, field - at, "", "", ""));
        let by = "java.util.concurrent.atomic.Striped64$Cell";
        layout.places.push(place(LayoutPart::Field, field, 8, "value", "long", by));
        layout.instance_bytes = rounded(field + 136, 8);
        let left = layout.instance_bytes - field - 8;
        layout.places.push(place(LayoutPart::Padding, field + 8, left, "", "", ""));
    }
    HeapLayouts { layouts: all, ..layouts() }
}

/// The heap: compressed references as it was found.
pub fn prediction() -> HeapPrediction {
    let mut models: Vec<ModelFootprint> = RULES.iter().map(|rule| weigh(rule, 25)).collect();
    let today = models.iter().find(|m| m.name == ModelName::Compressed).expect("a rule");
    let today_bytes = today.total_bytes;
    let mut order: Vec<usize> = (0..CLASSES.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(today.classes[i].bytes));
    for model in &mut models {
        model.classes = order.iter().map(|&i| model.classes[i].clone()).collect();
        model.difference_bytes = Some(model.total_bytes as i64 - today_bytes as i64);
    }
    HeapPrediction {
        schema: schema::HEAP_PREDICTION.to_owned(),
        assay_version: "0.1.0".to_owned(),
        source: "/srv/dumps/server-2026-11-20.hprof.gz".to_owned(),
        dump_model: Some(ModelName::Compressed),
        dump: Some(DumpModel {
            name: ModelName::Compressed,
            evidence: "layout confirmed by 100 % of adjacent objects \
                       (14203118 of 14203118, 0 contradict it)"
                .to_owned(),
            jdk: Some(25),
            jdk_version: Some("25.0.3".to_owned()),
            alignment_bytes: Some(8),
        }),
        is_part: false,
        objects: CLASSES.iter().map(|c| c.1).sum(),
        cross_overs: cross_overs(&models),
        garbage: models
            .iter()
            .map(|m| {
                let ratio = m.total_bytes as f64 / today_bytes as f64;
                GarbageInModel { name: m.name, freed_bytes_per_s: 412e6 * ratio, ratio }
            })
            .collect(),
        models,
        garbage_basis: Some("gc.log, 1,204 s of JDK 25 in compressed: 474 GB freed".to_owned()),
        example: layouts().layouts,
        frozen_ms: None,
        problems: vec![Problem::new(
            "server-2026-11-20.hprof.gz",
            "2 arrays of more than 4 GiB were cut by the JVM that wrote the dump: their length is that of the dump",
        )],
    }
}

fn cross_overs(models: &[ModelFootprint]) -> Vec<CrossOver> {
    let over = |name: ModelName, max: Option<u64>, decoding: &str, claim: &str| CrossOver {
        name,
        total_bytes: models.iter().find(|m| m.name == name).expect("a rule").total_bytes,
        max_heap_bytes: max,
        break_even_bytes: max.is_none().then_some(45 << 30),
        decoding: (!decoding.is_empty()).then(|| decoding.to_owned()),
        claim: claim.to_owned(),
    };
    vec![
        over(
            ModelName::Compressed,
            Some(30 << 30),
            "zero-based",
            "these objects fit the largest zero-based heap: -Xmx30g holds them with 18 % to spare",
        ),
        over(
            ModelName::Compact,
            Some(30 << 30),
            "zero-based",
            "with compact headers they take 86 % of today's bytes: -XX:+UseCompactObjectHeaders -Xmx30g leaves 30 %",
        ),
        over(
            ModelName::Bits64CompressedClassPointers,
            None,
            "",
            "beyond 32 GB a heap pays only from 45 GB on: below that the wider references take more than it adds",
        ),
    ]
}

/// The same heap whose mode is not known, in two models, with names that try to be markup and commands.
pub fn hostile_prediction() -> HeapPrediction {
    let mut heap = prediction();
    heap.source = "<script>alert('1')</script>\u{202E}\u{1b}[31m".to_owned();
    heap.dump_model = None;
    heap.dump = None;
    heap.garbage.clear();
    heap.models.truncate(2);
    for model in &mut heap.models {
        model.difference_bytes = None;
        for (index, class) in model.classes.iter_mut().enumerate() {
            let filler = "x".repeat(if index == 3 { 900 } else { 3 });
            class.name = format!("</table><script>alert({index})</script>\u{202E}{filler}");
        }
    }
    for layout in &mut heap.example {
        for place in &mut layout.places {
            place.name = format!("</text><script>{}\u{1b}[2J", place.name);
        }
    }
    heap
}

/// A heap in which nothing was found.
pub fn empty_prediction() -> HeapPrediction {
    let mut heap = prediction();
    for model in &mut heap.models {
        model.classes.clear();
        model.total_bytes = 0;
        model.parts = FootprintParts::default();
        model.difference_bytes = Some(0);
    }
    HeapPrediction {
        objects: 0,
        cross_overs: vec![],
        example: vec![],
        garbage: vec![],
        problems: vec![],
        ..heap
    }
}
