//! The mode of a running process, from its memory: no attaching, no help of the JVM.
//!
//! HotSpot exports base and shift of compressed references for debuggers (`CompressedOops::_narrow_oop` since JDK 14,
//! `_base` and `_shift` by themselves since 23, `Universe` before).

use assay_hotspot::Hotspot;
use assay_linux::MemorySource;
use assay_model::{ModeRead, Problem, ReferenceMode};

/// The mode of the JVM in this memory, and what could not be read; `name` is what problems call it.
pub fn mode_of_process(source: &dyn MemorySource, name: &str) -> (Option<ModeRead>, Vec<Problem>) {
    match Hotspot::open(source) {
        Ok(Some(hotspot)) => {
            let mode = mode_of(&hotspot);
            let mut problems = hotspot.problems();
            if mode.is_none() {
                problems.push(Problem::new(name, "this JVM does not export how it compresses references"));
            }
            (mode, problems)
        }
        Ok(None) => (None, vec![Problem::new(name, "no HotSpot JVM is in it")]),
        Err(error) => (None, vec![Problem::new(name, error.to_string())]),
    }
}

/// `None` when the JVM exports too little.
fn mode_of(hotspot: &Hotspot<'_>) -> Option<ModeRead> {
    let flags = hotspot.flags();
    let (mode, shift_bits, evidence) = if hotspot.source().word_bytes() == 4 {
        (ReferenceMode::Bits32, None, "the process has 32-bit words".to_owned())
    } else if flags.bool("UseCompressedOops")? {
        compressed(hotspot)?
    } else {
        // The flag goes away in later releases, in which class pointers are always compressed.
        match flags.bool("UseCompressedClassPointers") {
            Some(false) => {
                let evidence = "UseCompressedOops and UseCompressedClassPointers are off in the process";
                (ReferenceMode::Full64, None, evidence.to_owned())
            }
            _ => {
                let evidence = "UseCompressedOops is off in the process".to_owned();
                (ReferenceMode::Full64CompressedClassPointers, None, evidence)
            }
        }
    };
    let heap = hotspot.heap();
    Some(ModeRead {
        mode,
        // A JVM without the flag has no compact headers.
        compact_headers: Some(flags.bool("UseCompactObjectHeaders") == Some(true)),
        shift_bits,
        heap_base_address: heap.and_then(|heap| heap.reserved.iter().map(|range| range.start).min()),
        evidence,
    })
}

fn compressed(hotspot: &Hotspot<'_>) -> Option<(ReferenceMode, Option<u8>, String)> {
    let (structs, source) = (hotspot.structs(), hotspot.source());
    let place = |field: &str| {
        structs.first_static_address(&[
            ("CompressedOops", field),
            ("CompressedOops", &format!("_narrow_oop.{field}")),
            ("Universe", &format!("_narrow_oop.{field}")),
        ])
    };
    let base = source.word(place("_base")?)?;
    let shift = source.u32(place("_shift")?).filter(|shift| *shift <= 8)?;
    let mode = match (base, shift) {
        (0, 0) => ReferenceMode::CompressedUnscaled,
        (0, _) => ReferenceMode::CompressedZeroBased,
        (base, shift) if base % (1 << (32 + shift)) == 0 => ReferenceMode::CompressedDisjointBase,
        _ => ReferenceMode::CompressedNonZeroBase,
    };
    let mut evidence = format!("CompressedOops in the process: base {base:#x}, shift {shift}");
    // One byte of C++: whether a null reference is found by the fault that it causes.
    let mut implicit = [0];
    if let Some(at) = place("_use_implicit_null_checks")
        && source.read(at, &mut implicit).is_ok()
    {
        evidence.push_str(if implicit[0] == 0 { ", null checks in code" } else { ", null checks by fault" });
    }
    Some((mode, u8::try_from(shift).ok(), evidence))
}
