//! Advice of `assay heap modes`.

use super::{Explain, Explained, says};
use assay_model::ModeRule;

impl Explain for ModeRule {
    fn explained(self) -> Option<Explained> {
        match self {
            ModeRule::KeepSize => says(
                "The mode that the size gets, and why nothing is gained by another size.",
                "Compressed oops are unscaled or zero-based, which are the cheapest to decode; or the collector has one mode at every size.",
                "The size as it is.",
                &[],
            ),
            ModeRule::BelowThreshold => says(
                "The size, its mode, and the largest size of a cheaper mode; with what 64-bit references add to the objects.",
                "Above about 30 GB each decoded reference has a base added; above about 32 GB references have 64 bits, and the same objects need more.",
                "The `-Xmx` just below the threshold.",
                &[],
            ),
            ModeRule::LowerBase => says(
                "The mode with and without `-XX:HeapBaseMinAddress`, by the address space of this host.",
                "The heap must end below 32 GB to need no base, and begins higher than it could.",
                "`-XX:HeapBaseMinAddress` as named.",
                &[],
            ),
            ModeRule::AboveThreshold => says(
                "From which size on full references hold more than the largest heap with compressed ones.",
                "Full references make the same objects larger by a factor, which a much larger heap makes up for.",
                "A heap from the named size on.",
                &[],
            ),
            ModeRule::Alignment16 => says(
                "The mode with 16-byte alignment, and how much more the heap would hold.",
                "Compressed oops are scaled by the object alignment: with 16 bytes they reach 64 GB. Padding costs some of it.",
                "`-XX:ObjectAlignmentInBytes=16`.",
                &[],
            ),
            ModeRule::CompactHeaders => says(
                "The `-Xmx` that would hold the same with headers of 8 bytes.",
                "Headers of 12 or 16 bytes are a large part of small objects.",
                "`-XX:+UseCompactObjectHeaders` (a product option since JDK 25) with the named `-Xmx`.",
                &[],
            ),
            ModeRule::Other => None,
        }
    }
}
