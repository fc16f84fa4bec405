//! The rate at which the share of requests beyond a limit reaches its target: what windows at several rates say about it.
//!
//! Near the root the logarithm of the share is taken to be straight over the rate,
//! ln E\[share\] = ln target + slope (rate / root - 1), as it is behind a queue whose waiting times fall off exponentially.
//! Requests beyond a limit come in clumps, one for each long queue or pause. Most short windows just below the maximum have no
//! clump at all, and a few have a huge one: counts are taken as sums of a Poisson number of geometric clumps (Pólya and Aeppli's
//! distribution), which says so; a negative binomial one, though of the same variance, takes windows without a miss for
//! proof of a small share, and put roots too high. Root, slope and clump are unknown: their joint posterior stands on a
//! grid, and the interval is the middle 95 % of the root's, widened. A grid fits always: with two windows or none beyond the
//! limit the interval is wide, but there is one.
//!
//! The prior of slope and clump before any window follows a queue below the known maximum (Brownian motion with
//! drift, reflected at 0; Harrison, "Brownian motion and stochastic flow systems", 1985). Pauses and slow times make gentler
//! slopes and larger clumps, and some of the mass is kept for these; without it few windows that agree by chance look exact.

use super::window::{LimitedRequests, WindowResult};
use crate::interval::TAIL;

/// Points of a window's table over the logarithm of the expected share, from the target's 1/20000 to all requests.
const SHARES: usize = 128;
const SHARE_FACTOR_LOW: f64 = 5e-5;
/// Points of the line that shares are computed for, and their ends, as logarithms of the share over the target's.
const ETAS: usize = 1024;
const ETA_LOW: f64 = -12.0;
const ETA_HIGH: f64 = 6.0;
const ETA_STEP: f64 = (ETA_HIGH - ETA_LOW) / (ETAS - 1) as f64;
/// The floor is what windows up to this part of the crossing's rate show, and at most this share of the target.
const FLOOR_RATE: f64 = 0.55;
const FLOOR_SHARE_MAX: f64 = 0.75;
/// For how long requests go beyond the limit together, seconds: from one by one to a queue that is long for as long as a pause.
const CLUMPS: [f64; 9] = [2e-4, 2e-3, 8e-3, 0.025, 0.08, 0.25, 0.8, 2.5, 8.0];
/// Clumps grow with the share to this power: behind a queue 0.4 to 0.6, from a third of the target to ten times it.
const CLUMP_GROWTH: f64 = 0.5;
/// Behind a queue, clumps at the root last so many times limit / (1 - root / maximum): 4 / ln(1/target), for the time that a
/// reflected Brownian motion spends above a level has twice the variance of an exponential one's.
const CLUMP_QUEUE: f64 = 0.85;
/// How far clumps may be from that downwards, as a logarithm (pauses at even distances), and the mean way upwards (slow times).
const CLUMP_SPREAD: f64 = 0.8;
/// Where no queue decides, slopes may be far gentler and clumps far larger: the density left for these, over the highest.
const OTHERWISE: f64 = 0.04;
const CLUMP_OTHERWISE: f64 = 0.01;
/// Slopes: a server that hardly changes with the rate, to one that falls over within a percent.
const SLOPES: usize = 15;
const SLOPE_LOW: f64 = 1.0;
const SLOPE_HIGH: f64 = 300.0;
/// Behind a queue the share falls from the maximum, where it is all, to the target, straight in the logarithm over the rate:
/// slope = ln(1/target) / (maximum / root - 1). How far the slope may be from that, downwards (pauses) and upwards.
const SLOPE_SPREAD_BELOW: f64 = 0.9;
const SLOPE_SPREAD_ABOVE: f64 = 0.7;
/// In heavy traffic every server is such a queue (Kingman 1961). With the maximum so many times (less 1) above the root traffic
/// is light; from there to the maximum what is not known of the slope falls to this part.
const ROOM_LIGHT: f64 = 0.25;
/// How far below the maximum a root is, goes with 1 / limit: any factor of it is as likely as any other, down to this.
const ROOM_LEAST: f64 = 0.01;
const SLOPE_SPREAD_LEAST: f64 = 0.35;
/// So near to the maximum, as a logarithm, no window is long enough to show queues of the usual length: the root may be at it.
const AT_MAXIMUM: f64 = 0.025;
/// Roots on the grid, and how often it is drawn closer around where the mass is.
const ROOTS: usize = 48;
const PASSES: usize = 5;
/// The line holds while the share is within this of the target, as a logarithm; beyond, the share's logarithm may be off by
/// so many times the square of the rest. With less, windows that other limits are searched with outweighed the near ones.
const LINE_EXACT: f64 = 0.7;
const LINE_ERROR: f64 = 0.35;
const LINE_ERROR_MAX: f64 = 3.15;
/// Windows are near the root where the expected share is within this factor of the target, or the rate within this part.
const NEAR_FACTOR: f64 = 6.0;
const NEAR_SHARE: f64 = 0.03;
/// Ends are so many times as far away as the posterior has them: windows share the errors of the line and of the settling, which
/// it takes for independent. Found in virtual time, over the servers of `tests/capacity/servers.rs` but the unseen ones.
const SPREAD: f64 = 1.25;
/// Requests below the crossing of which the target lets so many be beyond the limit are enough to say that it was kept.
const KEPT_MISSES_EXPECTED: f64 = 8.0;
/// Of so many that the target lets miss, none does by luck once in twenty.
const ENDS_MISSES_EXPECTED: f64 = 3.0;

/// What a window says about one limit: its logarithmic likelihood over the expected share, for each size of clump.
#[derive(Debug, Clone)]
pub(super) struct Point {
    ln_rate: f64,
    /// By expected share, then by clump.
    likelihood: Vec<[f32; CLUMPS.len()]>,
    /// Share of the requests that were beyond the limit.
    pub(super) share: f64,
    requests: f64,
}

impl Point {
    /// `None` for a window without requests that the limit holds for, which says nothing.
    pub(super) fn new(window: &WindowResult, limit: usize, target: f64) -> Option<Point> {
        let LimitedRequests { requests, misses, .. } = *window.limits.get(limit)?;
        if requests == 0 {
            return None;
        }
        let (requests, misses) = (requests as f64, misses.min(requests) as f64);
        let limited_per_s = window.rate_per_s * requests / (window.requests as f64).max(requests);
        let row = |index: usize| {
            let part = index as f64 / (SHARES - 1) as f64;
            let factor = SHARE_FACTOR_LOW * (SHARE_FACTOR_LOW * target).powf(-part);
            let mean = requests * target * factor;
            let clumped_s = limited_per_s * factor.powf(CLUMP_GROWTH);
            let counted = |clump_s: f64| ln_likelihood(misses, mean, 1.0 + clump_s * clumped_s);
            CLUMPS.map(|clump| counted(clump) as f32)
        };
        let mut likelihood: Vec<_> = (0..SHARES).map(row).collect();
        blur(&mut likelihood, target);
        Some(Point { ln_rate: window.rate_per_s.ln(), likelihood, share: misses / requests, requests })
    }

    /// Logarithm of its window's rate.
    pub(super) fn ln_rate(&self) -> f64 {
        self.ln_rate
    }

    /// Whether its window was at this rate.
    pub(super) fn is_at(&self, ln_rate: f64) -> bool {
        self.ln_rate.total_cmp(&ln_rate).is_eq()
    }
}

/// The line does not hold exactly: the farther the expected share is from the target, the farther the true one may be from
/// what the line says. The likelihood becomes its mean over what is possible.
fn blur(likelihood: &mut [[f32; CLUMPS.len()]], target: f64) {
    let step = -(SHARE_FACTOR_LOW * target).ln() / (SHARES - 1) as f64;
    let at = |index: usize| SHARE_FACTOR_LOW.ln() + index as f64 * step;
    let plain = likelihood.to_vec();
    let mut most = [f32::NEG_INFINITY; CLUMPS.len()];
    for row in &plain {
        most.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(*value));
    }
    let parts: Vec<[f64; CLUMPS.len()]> = plain
        .iter()
        .map(|row| std::array::from_fn(|clump| f64::from(row[clump] - most[clump]).exp()))
        .collect();
    for (index, row) in likelihood.iter_mut().enumerate() {
        let spread =
            (LINE_ERROR * (at(index).abs() - LINE_EXACT).max(0.0).powi(2)).min(LINE_ERROR_MAX) / step;
        if spread < 0.3 {
            continue;
        }
        let reach = (3.0 * spread).ceil() as usize;
        let (mut sum, mut weights) = ([0.0; CLUMPS.len()], 0.0);
        let first = index.saturating_sub(reach);
        for (other, parts) in parts.iter().enumerate().take(index + reach + 1).skip(first) {
            let weight = (-0.5 * ((other as f64 - index as f64) / spread).powi(2)).exp();
            weights += weight;
            sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += weight * part);
        }
        for (clump, value) in row.iter_mut().enumerate() {
            *value = (sum[clump] / weights).max(1e-300).ln() as f32 + most[clump];
        }
    }
}

/// Logarithm of the probability of a count with this mean and this variance over it, when requests go beyond the limit in clumps:
/// their number is Poisson, their size geometric (Pólya and Aeppli's distribution; above 0 in its continuous form).
fn ln_likelihood(count: f64, mean: f64, dispersion: f64) -> f64 {
    if count <= 0.0 {
        return -2.0 * mean / (1.0 + dispersion);
    }
    let size = dispersion / 2.0;
    let clumps = mean / size;
    0.5 * (clumps / (size * count)).ln() - clumps - count / size
        + ln_bessel_i1(2.0 * (clumps * count / size).sqrt())
}

/// Logarithm of the modified Bessel function of the first kind and first order (Abramowitz and Stegun 9.8.3 and 9.8.4).
fn ln_bessel_i1(x: f64) -> f64 {
    const SMALL: [f64; 7] = [0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411];
    const LARGE: [f64; 9] = [
        0.39894228,
        -0.03988024,
        -0.00362018,
        0.00163801,
        -0.01031555,
        0.02282967,
        -0.02895312,
        0.01787654,
        -0.00420059,
    ];
    let sum = |parts: &[f64], t: f64| parts.iter().rev().fold(0.0, |sum, part| sum * t + part);
    if x < 3.75 {
        x.ln() + sum(&SMALL, (x / 3.75).powi(2)).ln()
    } else {
        x - 0.5 * x.ln() + sum(&LARGE, 3.75 / x).ln()
    }
}

/// What is known of the root. Rates as logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Root {
    /// Middle of the posterior.
    pub median: f64,
    /// The interval: wider than the middle 95 % of it, see `SPREAD`.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// By how much the share's logarithm rises over that of the rate: geometric mean.
    pub slope: f64,
    /// For how long requests go beyond the limit together, seconds: geometric mean.
    pub clump_s: f64,
    /// Where shares cross the target without a line.
    pub middle: f64,
}

impl Root {
    /// By which factor the share at a rate is away from the target, as a logarithm.
    pub(super) fn eta(&self, ln_rate: f64) -> f64 {
        self.slope * (ln_rate - self.median).min(9.0).exp_m1()
    }

    /// Whether a window at a rate says much about the root.
    pub(super) fn is_near(&self, ln_rate: f64) -> bool {
        self.eta(ln_rate).abs() <= NEAR_FACTOR.ln() || (ln_rate - self.median).abs() <= NEAR_SHARE
    }

    fn is_finite(&self) -> bool {
        let all = [self.median, self.low, self.high, self.slope, self.clump_s];
        all.iter().all(|value| value.is_finite())
    }
}

/// What is expected before any window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prior {
    /// The highest rate that the server sustains, which no root is above: logarithm and standard error, where known.
    pub maximum: Option<(f64, f64)>,
    /// The limit, seconds.
    pub limit_s: f64,
}

impl Prior {
    /// Density of a root (that it is below the maximum, logistic) and of a slope at it.
    fn density(&self, ln_root: f64, slope: f64, target: f64) -> f64 {
        let Some((ln_rate, error)) = self.maximum else { return 1.0 };
        let below = 1.0 / (1.0 + ((ln_root - ln_rate) / (0.55 * error)).min(500.0).exp());
        // No slope on the grid is steeper than that of the least room.
        let room = (ln_rate - ln_root).exp_m1().max(-target.ln() / SLOPE_HIGH);
        let away = (slope * room / -target.ln()).ln();
        let certainty = (SLOPE_SPREAD_LEAST + (1.0 - SLOPE_SPREAD_LEAST) * room / ROOM_LIGHT).min(1.0);
        let (spread, otherwise) = if away < 0.0 {
            (SLOPE_SPREAD_BELOW * certainty, OTHERWISE * (room / ROOM_LIGHT).min(1.0))
        } else {
            (SLOPE_SPREAD_ABOVE * certainty, 0.0)
        };
        let near = 1.0 / ((ln_rate - ln_root).exp_m1().max(0.0) + ROOM_LEAST);
        near * below * ((-0.5 * (away / spread).powi(2)).exp() + otherwise)
    }

    /// Densities of the clumps at a root.
    fn clumps(&self, ln_root: f64) -> [f64; CLUMPS.len()] {
        let Some((ln_rate, _)) = self.maximum else { return [1.0; CLUMPS.len()] };
        let queue_s = CLUMP_QUEUE * self.limit_s / (1.0 - (ln_root - ln_rate).exp()).max(0.004);
        CLUMPS.map(|clump| {
            let away = (clump / queue_s).ln() / CLUMP_SPREAD;
            if away < 0.0 { (-0.5 * away * away).exp() } else { CLUMP_OTHERWISE + (-away).exp() }
        })
    }
}

/// The posterior of the root. `None` without windows.
pub(super) fn root(points: &[Point], target: f64, prior: Prior) -> Option<Root> {
    let rates = || points.iter().map(|point| point.ln_rate);
    let lowest = rates().min_by(f64::total_cmp)?;
    let highest = rates().max_by(f64::total_cmp)?;
    let middle = crossing(points, target);
    let floor = floor(points, middle, target);
    let floors: &[f64] = if 0.05 * target < floor { &[0.3, 1.0, 1.5] } else { &[1.0] };
    let curves: Vec<Curve> =
        floors.iter().map(|part| Curve::new((part * floor).min(FLOOR_SHARE_MAX * target), target)).collect();
    let mut grid =
        Grid { from: lowest - 1.5, to: highest + 1.0, ln_slopes: (SLOPE_LOW.ln(), SLOPE_HIGH.ln()) };
    let mut mass = grid.mass(points, &curves, &prior);
    for _ in 1..PASSES {
        let closer = grid.around(&mass);
        let is_close = 0.6 * (grid.to - grid.from) < closer.to - closer.from;
        grid = closer;
        mass = grid.mass(points, &curves, &prior);
        if is_close {
            break;
        }
    }
    let mut root = Root { middle, ..grid.summary(&mass) };
    if let Some((maximum, error)) = prior.maximum.filter(|(maximum, _)| maximum - root.median < AT_MAXIMUM) {
        root.high = root.high.max(maximum + 2.0 * error);
    }
    Some(root).filter(Root::is_finite)
}

/// The highest rate that keeps the target and the lowest that does not, of windows pooled until their shares only rise: one lucky window
/// behind others that miss keeps nothing. Too few requests keep nothing either.
pub(super) fn ends<'a>(points: impl Iterator<Item = &'a Point>, target: f64) -> (Option<f64>, Option<f64>) {
    let blocks = blocks(points);
    let first = blocks.iter().position(|block| target * block[1] < block[0]).unwrap_or(blocks.len());
    let is_enough = |block: &&[f64; 4]| ENDS_MISSES_EXPECTED <= target * block[1];
    (blocks[..first].iter().rfind(is_enough).map(|block| block[3]), blocks.get(first).map(|block| block[2]))
}

/// Where shares cross the target when they may only rise with the rate (pool adjacent violators; Barlow and others,
/// "Statistical inference under order restrictions", 1972). It needs no line, and so no line that fits far away can draw it there.
fn crossing(points: &[Point], target: f64) -> f64 {
    let blocks = blocks(points);
    let is_above = |block: &[f64; 4]| target * block[1] < block[0];
    let first = blocks.iter().position(is_above).unwrap_or(blocks.len());
    let below = first.checked_sub(1).and_then(|index| blocks.get(index)).map(|block| block[3]);
    let above = blocks.get(first).map(|block| block[2]);
    match (below, above) {
        (Some(below), Some(above)) => (below + above) / 2.0,
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => 0.0,
    }
}

/// Whether rates that were tried keep the limit: those on the lower side of the crossing, with enough requests in all that it is
/// no luck.
pub(super) fn is_kept(points: &[Point], target: f64) -> bool {
    let below = blocks(points).into_iter().take_while(|block| block[0] <= target * block[1]);
    KEPT_MISSES_EXPECTED <= target * below.map(|block| block[1]).sum::<f64>()
}

/// Windows by rate, pooled until their shares rise: misses, requests, and the rates that they reach over.
fn blocks<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<[f64; 4]> {
    let mut sorted: Vec<&Point> = points.into_iter().collect();
    sorted.sort_by(|a, b| a.ln_rate.total_cmp(&b.ln_rate));
    let mut blocks: Vec<[f64; 4]> = Vec::new();
    for point in sorted {
        let mut block = [point.share * point.requests, point.requests, point.ln_rate, point.ln_rate];
        while let Some(last) = blocks.last().filter(|last| block[0] * last[1] <= last[0] * block[1]) {
            block = [block[0] + last[0], block[1] + last[1], last[2], block[3]];
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks
}

/// The share of requests that are beyond the limit at any rate: long ones, and those that meet a pause.
fn floor(points: &[Point], middle: f64, target: f64) -> f64 {
    let low = || points.iter().filter(|point| point.ln_rate < middle + FLOOR_RATE.ln());
    let requests: f64 = low().map(|point| point.requests).sum();
    let misses: f64 = low().map(|point| point.share * point.requests).sum();
    // A few requests say little: half a miss less than they show.
    (misses / (requests + 0.5 / target)).min(FLOOR_SHARE_MAX * target)
}

/// Expected shares over the line: floor + (target - floor) e^eta, at most 1, the target at eta = 0; as places in the tables.
struct Curve {
    places: Vec<f32>,
    target: f64,
}

impl Curve {
    fn new(floor: f64, target: f64) -> Curve {
        let place = |index: usize| {
            let eta = ETA_LOW + index as f64 * ETA_STEP;
            let share = (floor + (target - floor) * eta.exp()).min(1.0);
            let part = (share / (SHARE_FACTOR_LOW * target)).ln() / -(SHARE_FACTOR_LOW * target).ln();
            (part * (SHARES - 1) as f64).clamp(0.0, (SHARES - 1) as f64 - 1e-3) as f32
        };
        Curve { places: (0..ETAS).map(place).collect(), target }
    }

    fn place(&self, eta: f64) -> f32 {
        self.places[((eta.clamp(ETA_LOW, ETA_HIGH) - ETA_LOW) / ETA_STEP) as usize]
    }
}

/// Evenly spaced roots.
#[derive(Debug, Clone, Copy)]
struct Grid {
    from: f64,
    to: f64,
    ln_slopes: (f64, f64),
}

/// Posterior mass by root, and means over it.
struct Mass {
    roots: [f64; ROOTS],
    slopes: [f64; SLOPES],
    ln_slope: f64,
    ln_clump: f64,
}

impl Grid {
    fn at(&self, index: usize) -> f64 {
        self.from + self.step() * index as f64
    }

    fn slope(&self, index: usize) -> f64 {
        let (from, to) = self.ln_slopes;
        (from + (to - from) * index as f64 / (SLOPES - 1) as f64).exp()
    }

    fn step(&self) -> f64 {
        (self.to - self.from) / (ROOTS - 1) as f64
    }

    fn mass(&self, points: &[Point], curves: &[Curve], prior: &Prior) -> Mass {
        let ln_masses: Vec<_> = curves.iter().map(|curve| self.ln_mass(points, curve)).collect();
        self.normalised(&ln_masses, curves[0].target, prior)
    }

    fn ln_mass(&self, points: &[Point], curve: &Curve) -> Vec<[f32; CLUMPS.len()]> {
        let mut ln_mass = vec![[0_f32; CLUMPS.len()]; SLOPES * ROOTS];
        let slopes: Vec<f64> = (0..SLOPES).map(|index| self.slope(index)).collect();
        for point in points {
            let ratios: Vec<f64> =
                (0..ROOTS).map(|index| (point.ln_rate - self.at(index)).min(9.0).exp_m1()).collect();
            for (slope, row) in slopes.iter().zip(ln_mass.chunks_mut(ROOTS)) {
                for (ratio, cell) in ratios.iter().zip(row.iter_mut()) {
                    let place = curve.place(slope * ratio);
                    let (below, part) = (place as usize, place.fract());
                    let (a, b) = (&point.likelihood[below], &point.likelihood[below + 1]);
                    for clump in 0..CLUMPS.len() {
                        cell[clump] += a[clump] + part * (b[clump] - a[clump]);
                    }
                }
            }
        }
        ln_mass
    }

    fn normalised(&self, ln_masses: &[Vec<[f32; CLUMPS.len()]>], target: f64, prior: &Prior) -> Mass {
        let highest = ln_masses.iter().flatten().flatten().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut mass = Mass { roots: [0.0; ROOTS], slopes: [0.0; SLOPES], ln_slope: 0.0, ln_clump: 0.0 };
        let mut sum = 0.0;
        let clumps: Vec<_> = (0..ROOTS).map(|index| prior.clumps(self.at(index))).collect();
        for (place, cell) in ln_masses.iter().flat_map(|ln_mass| ln_mass.iter().enumerate()) {
            let (slope, index) = (place / ROOTS, place % ROOTS);
            let density = prior.density(self.at(index), self.slope(slope), target);
            for ((clump, expected), value) in CLUMPS.iter().zip(&clumps[index]).zip(cell) {
                let part = density * expected * f64::from(value - highest).exp();
                mass.roots[index] += part;
                mass.slopes[slope] += part;
                mass.ln_slope += part * self.slope(slope).ln();
                mass.ln_clump += part * clump.ln();
                sum += part;
            }
        }
        mass.roots.iter_mut().for_each(|part| *part /= sum);
        mass.ln_slope /= sum;
        mass.ln_clump /= sum;
        mass
    }

    /// The grid around where the mass is, one step wider on both sides.
    fn around(&self, mass: &Mass) -> Grid {
        let (first, last) = held(&mass.roots);
        let (gentle, steep) = held(&mass.slopes);
        let step = self.step();
        let ln_step = (self.ln_slopes.1 - self.ln_slopes.0) / (SLOPES - 1) as f64;
        let ln_slope = |index: usize| self.ln_slopes.0 + ln_step * index as f64;
        let ln_slopes = (
            (ln_slope(gentle) - ln_step).max(SLOPE_LOW.ln()),
            (ln_slope(steep) + ln_step).min(SLOPE_HIGH.ln()),
        );
        Grid { from: self.at(first) - step, to: self.at(last) + step, ln_slopes }
    }

    fn summary(&self, mass: &Mass) -> Root {
        let median = self.quantile(&mass.roots, 0.5);
        let end = |p: f64| self.quantile(&mass.roots, p);
        let errors = (median - end(TAIL), end(1.0 - TAIL) - median);
        Root {
            median,
            low: median - SPREAD * errors.0,
            high: median + SPREAD * errors.1,
            slope: mass.ln_slope.exp(),
            clump_s: mass.ln_clump.exp(),
            middle: 0.0,
        }
    }

    /// Each part of the mass is spread evenly over its step.
    fn quantile(&self, roots: &[f64; ROOTS], p: f64) -> f64 {
        let mut below = 0.0;
        for (index, part) in roots.iter().enumerate() {
            if p <= below + part {
                return self.at(index) + ((p - below) / part - 0.5) * self.step();
            }
            below += part;
        }
        self.to
    }
}

/// First and last part that is no less than a small share of the highest.
fn held(parts: &[f64]) -> (usize, usize) {
    let highest = parts.iter().copied().fold(0.0, f64::max);
    let holds = |part: &f64| 1e-4 * highest < *part;
    let last = parts.len().saturating_sub(1);
    (parts.iter().position(holds).unwrap_or(0), parts.iter().rposition(holds).unwrap_or(last))
}
