//! An account of CPU time as one line.

use super::figures::share_with_error;
use assay_kit::number::percent;
use assay_kit::text::to_the_second;
use assay_model::TimeReport;

/// Roles in a line.
const ROLES_IN_LINE: usize = 3;

/// One line for a pipe: when, CPU time, its split, and the roles that used most.
pub fn line(report: &TimeReport) -> String {
    let processors = report.process.cpu_ns as f64 / report.duration_ns.max(1) as f64;
    let taken = to_the_second(&report.taken_at);
    let roles: Vec<String> = report
        .roles
        .iter()
        .take(ROLES_IN_LINE)
        .map(|role| format!("{} {}", role.role.title(), percent(role.sums.cpu_ns, report.process.cpu_ns)))
        .collect();
    let kernel = share_with_error(report.process.kernel_share.as_ref());
    let kernel = kernel.as_deref().unwrap_or("-");
    format!("{taken}  {processors:.2} CPUs  kernel {kernel}  {}", roles.join(", "))
}
