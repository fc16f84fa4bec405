//! A server that stalls on a schedule, and the truth about the response times that users see then: a request whose
//! intended start lies in a stall waits to the end of that stall; every other one is answered at once.

/// Stalls as `[start, end)`, in order, nanoseconds.
pub type Stalls = Vec<(u64, u64)>;

pub const S: u64 = 1_000_000_000;
pub const MS: u64 = 1_000_000;

/// One second in every ten, the first after `first_ns`.
pub fn one_second_in_ten(first_ns: u64, count: u64) -> Stalls {
    (0..count).map(|k| first_ns + k * 10 * S).map(|start| (start, start + S)).collect()
}

/// When a request that reaches the server at `at_ns` is answered.
pub fn answered_at(stalls: &Stalls, at_ns: u64) -> u64 {
    let next = stalls.partition_point(|(_, end)| *end <= at_ns);
    match stalls.get(next) {
        Some((start, end)) if *start <= at_ns => *end,
        _ => at_ns,
    }
}

/// The true response times of requests with these intended starts, sorted.
pub fn truth(stalls: &Stalls, intended_ns: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut times: Vec<u64> = intended_ns.map(|at| answered_at(stalls, at) - at).collect();
    times.sort_unstable();
    times
}

/// The smallest value that the share `q` does not exceed.
pub fn quantile(sorted: &[u64], q: f64) -> u64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The quantiles that are compared.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Within 2 % or 1 ms.
pub fn is_near(measured_ns: u64, true_ns: u64) -> bool {
    measured_ns.abs_diff(true_ns) <= MS.max(true_ns / 50)
}
