//! Response time and CPU time over the memory limit.

use assay_kit::axes::labels;
use assay_kit::curves::{Curve, Frame, draw};
use assay_kit::number::{significant, tick};
use assay_model::{FitProbe, FitReport, FitVerdict};

const MIB: f64 = 1_048_576.0;
/// Beyond these ends, ms, nothing is drawn: no server has such times, but a file may hold anything.
const TIMES: (f64, f64) = (1e-4, 1e6);

/// Probes at limits of memory with a figure, the smallest limit first.
fn points(report: &FitReport, of: fn(&FitProbe) -> Option<f64>) -> Vec<(&FitProbe, f64, f64)> {
    let point = |probe: &'_ FitProbe| -> Option<(f64, f64)> {
        let ms = of(probe).filter(|ms| (TIMES.0..=TIMES.1).contains(ms))?;
        Some((probe.memory_bytes? as f64 / MIB, ms))
    };
    let is_drawn = |probe: &&FitProbe| probe.counts && probe.cpu_millicores.is_none();
    let mut points: Vec<(&FitProbe, f64, f64)> = report
        .probes
        .iter()
        .filter(is_drawn)
        .filter_map(|probe| point(probe).map(|(mib, ms)| (probe, mib, ms)))
        .collect();
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    points
}

/// Means at each limit.
fn line(points: &[(&FitProbe, f64, f64)]) -> Vec<(f64, f64)> {
    let of_one = |near: &[(&FitProbe, f64, f64)]| {
        let sum: f64 = near.iter().map(|(_, _, ms)| ms.ln()).sum();
        (near[0].1, (sum / near.len() as f64).exp())
    };
    points.chunk_by(|a, b| a.1.total_cmp(&b.1).is_eq()).map(of_one).collect()
}

/// Whether there is anything to draw.
pub fn has_curve(report: &FitReport) -> bool {
    1 < line(&points(report, |probe| probe.response_ms.p99)).len()
}

/// The picture.
pub fn curve(report: &FitReport, width: f64, id: &str) -> String {
    let [slow, cpu] =
        [points(report, |probe| probe.response_ms.p99), points(report, |probe| probe.cpu_ms_per_request)];
    let limits: Vec<f64> = report
        .limits
        .latency
        .iter()
        .map(|of| of.limit_ms)
        .filter(|ms| (TIMES.0..=TIMES.1).contains(ms))
        .collect();
    let times = slow.iter().chain(&cpu).map(|(_, _, ms)| *ms).chain(limits.iter().copied()).collect();
    let end = slow.iter().chain(&cpu).map(|(_, mib, _)| *mib).fold(1.0, f64::max) * 1.05;
    let curves = [named("p99", 0, &slow), named("CPU time per request", 1, &cpu)];
    let frame = Frame {
        left: 52.0,
        bottom: 300.0,
        width,
        names_width: if width < 600.0 { 96.0 } else { 170.0 },
        end,
        title: "memory limit (MiB)",
        y_title: "time (ms)",
        times,
        limits: &limits,
    };
    draw(
        &frame,
        |x| labels(x, end, 5, width),
        &curves,
        (id, "Response time and CPU time over the memory limit"),
    )
}

fn named(label: &str, look: usize, points: &[(&FitProbe, f64, f64)]) -> Curve {
    let mark = |(probe, mib, ms): &(&FitProbe, f64, f64)| {
        let held = if probe.verdict == FitVerdict::Holds { "held" } else { "did not hold" };
        (*mib, *ms, format!("{label}: {} ms at {} MiB, {held}", significant(*ms), tick(mib.round())))
    };
    let points_of = line(points);
    let (mib, ms) = points_of.first().copied().unwrap_or_default();
    Curve {
        label: label.to_owned(),
        look,
        marks: points.iter().map(mark).collect(),
        radius: 2.6,
        words: format!("{label}: {} ms at {} MiB", significant(ms), significant(mib)),
        points: points_of,
    }
}
