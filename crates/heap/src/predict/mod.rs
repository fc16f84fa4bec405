//! What a heap occupies in every model.
//!
//! [`predict`] takes a class histogram from wherever it came: a dump, a running JVM. It finds out in which mode the objects were
//! ([`detect()`]), lays every class out in every model, and says what the same objects occupy there ([`footprint`]), from which
//! heap size on another model pays ([`cross_over`]), and what that does to the garbage of a GC log ([`garbage()`]).

mod cross_over;
mod detect;
mod footprint;
mod garbage;
mod models;
mod name;

pub use cross_over::{Limit, cross_overs, usual_limits};
pub use detect::{Detected, detect};
pub use footprint::footprints;
pub use garbage::garbage;
pub use models::{jdk_default, models};
pub(crate) use name::not_found;
pub use name::{ClassNotFound, find_class};

use crate::layout::{LayoutOrder, Layouts};
use crate::{ClassHistogram, ClassIndex};
use assay_model::{ClassLayout, DumpModel, HeapPrediction, Problem, schema};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct PredictOptions {
    /// Source of the class histogram: a path, `stdin`, a process. Problems and results name it.
    pub source: String,
    /// Release whose layout rules hold, if not that of the heap.
    pub jdk: Option<u32>,
    /// Class whose layout is wanted; the one that changes most otherwise.
    pub class: Option<String>,
    /// The model in which the objects are, where it is known from elsewhere than the objects: the flags of a running JVM.
    pub known_model: Option<DumpModel>,
    /// Why they are in none of the models, where that is known from there.
    pub known_stranger: Option<String>,
    /// Largest heaps of the models; [`usual_limits`] where none are given.
    pub limits: Vec<Limit>,
}

/// What the objects of a class histogram occupy in every model.
///
/// # Errors
/// When a class is asked for that the heap does not have.
pub fn predict(
    histogram: &ClassHistogram,
    options: &PredictOptions,
) -> Result<HeapPrediction, ClassNotFound> {
    let asked_for = options.class.as_deref().map(|name| find_class(histogram, name)).transpose()?;
    let mut problems = histogram.problems.clone();
    let detected = detect(histogram);
    let dump = options.known_model.clone().or_else(|| detected.dump_model(histogram));
    match &options.known_stranger {
        Some(why) if dump.is_none() => problems.push(Problem::new(options.source.clone(), why.clone())),
        None if dump.is_none() => problems.extend(detected.problem(&options.source)),
        _ => {}
    }
    let own_jdk = dump.as_ref().and_then(|dump| dump.jdk).or_else(|| histogram.jdk());
    if let (Some(asked), Some(own)) = (options.jdk, own_jdk)
        && asked != own
    {
        let what =
            format!("a heap of JDK {own}, sized by the layout rules of JDK {asked} as requested (--jdk)");
        problems.push(Problem::new(options.source.clone(), what));
    }
    let jdk = options.jdk.or(own_jdk).or(detected.jdk).unwrap_or_else(|| {
        let newest = jdk_default();
        let what = format!("the heap does not say its release: layout rules of JDK {newest} (--jdk N)");
        problems.push(Problem::new(options.source.clone(), what));
        newest
    });
    let dump_model = dump.as_ref().map(|dump| dump.name);
    let found = footprints(histogram, &models(jdk), dump_model);
    problems.extend(found.problems.into_iter().map(|what| Problem::new(options.source.clone(), what)));
    let example = asked_for.or(found.changes_most);
    let limits = if options.limits.is_empty() { usual_limits(jdk) } else { options.limits.clone() };
    Ok(HeapPrediction {
        schema: schema::HEAP_PREDICTION.to_owned(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        source: options.source.clone(),
        dump_model,
        dump,
        is_part: histogram.is_part,
        objects: found.objects,
        cross_overs: dump_model.map_or_else(Vec::new, |now| cross_overs(now, &found.models, &limits)),
        example: example.map_or_else(Vec::new, |class| layouts_of(histogram, class, jdk)),
        models: found.models,
        garbage: Vec::new(),
        garbage_basis: None,
        frozen_ms: None,
        problems,
    })
}

/// One class laid out in every model; empty for an array class.
pub fn layouts_of(histogram: &ClassHistogram, class: ClassIndex, jdk: u32) -> Vec<ClassLayout> {
    let order = LayoutOrder::of_class(histogram, class);
    let layouts = models(jdk).into_iter().map(|model| Layouts::of_some(histogram, &order, model));
    layouts.filter_map(|layouts| layouts.class_layout(histogram, class)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::is_in_release;
    use assay_model::{HeapModel, ModelName};

    #[test]
    fn compact_headers_have_the_rules_of_their_first_product_release() {
        let jdk = |jdk, name| models(jdk).into_iter().find(|model| model.name == name).map(|model| model.jdk);
        assert_eq!(jdk(17, ModelName::Compact), Some(25));
        assert_eq!(jdk(17, ModelName::Compressed), Some(17));
        assert_eq!(jdk(26, ModelName::Compact64), Some(26));
    }

    #[test]
    fn releases_have_the_layouts_that_their_jvms_took() {
        // Measured: -XX:-UseCompressedOops, with and without compressed class pointers, and -XX:+PrintFlagsFinal.
        let has = |jdk, name| is_in_release(HeapModel { name, jdk });
        for (jdk, full, with_class_pointers) in [
            (8, true, false),
            (11, true, false),
            (17, true, true),
            (21, true, true),
            (26, true, true),
            (27, false, true),
            (28, false, true),
        ] {
            assert_eq!(has(jdk, ModelName::Bits64), full, "JDK {jdk}");
            assert_eq!(has(jdk, ModelName::Bits64CompressedClassPointers), with_class_pointers, "JDK {jdk}");
            assert!(has(jdk, ModelName::Compressed), "JDK {jdk}");
        }
    }
}
