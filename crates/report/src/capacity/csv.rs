//! The windows of a capacity as CSV, figures in full.

use assay_kit::text;
use assay_model::{CapacityReport, CapacityWindow};
use std::io;

const COLUMNS: &str = "window,step,start_monotonic_ns,rest_s,settle_s,window_s,asked_rate_per_s,sent_rate_per_s,reached_rate_per_s,\
                       requests,errors,response_ms_min,response_ms_p50,response_ms_p90,response_ms_p95,response_ms_p99,\
                       response_ms_p99_9,response_ms_max,limited_ms,send_lag_ms_p99,generator_cpu_share,server_cpu_ms,\
                       machine_arithmetic_ns,machine_memory_ns,is_sustained";

/// Writes a row for each window, with a column of misses for each limit, and why it was left out at the end.
pub fn render(report: &CapacityReport, out: &mut impl io::Write) -> io::Result<()> {
    write!(out, "{COLUMNS}")?;
    for limit in &report.limits {
        write!(out, ",misses_{}_ms", limit.limit_ms)?;
    }
    writeln!(out, ",left_out")?;
    for (number, window) in (1..).zip(&report.windows) {
        row(report, number, window, out)?;
    }
    Ok(())
}

fn row(report: &CapacityReport, number: u64, w: &CapacityWindow, out: &mut impl io::Write) -> io::Result<()> {
    write!(out, "{number},{},{}", w.step, w.start_monotonic_ns)?;
    let lengths_s = [w.rest_s, w.settle_s, w.window_s];
    for value in lengths_s.into_iter().chain([w.asked_rate_per_s, w.sent_rate_per_s, w.reached_rate_per_s]) {
        write!(out, ",{value}")?;
    }
    write!(out, ",{},{}", w.requests, w.errors)?;
    let of = &w.response_ms;
    let times =
        [w.response_ms_min, of.p50, w.response_ms_p90, of.p95, of.p99, of.p99_9, of.max, w.limited_ms];
    let speed =
        [w.machine.and_then(|machine| machine.arithmetic_ns), w.machine.map(|machine| machine.memory_ns)];
    let costs = [w.send_lag_ms_p99, w.generator_cpu_share, w.server_cpu_ms];
    for value in times.into_iter().chain(costs).chain(speed) {
        // What is absent is an empty field, not 0.
        match value {
            Some(value) => write!(out, ",{value}")?,
            None => write!(out, ",")?,
        }
    }
    write!(out, ",{}", w.is_sustained)?;
    for index in 0..report.limits.len() {
        match w.misses.get(index) {
            Some(misses) => write!(out, ",{misses}")?,
            None => write!(out, ",")?,
        }
    }
    writeln!(out, ",{}", text::csv(&w.left_out.join("; ")))
}
