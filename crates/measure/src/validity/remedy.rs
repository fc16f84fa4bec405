//! What mends it where a check fails. The machine is named only where the machine is what was found.

use assay_model::Check;

/// What to do about a failed check; absent where its evidence says that already, or nothing can be done.
pub(super) fn remedy(check: Check) -> Option<&'static str> {
    Some(match check {
        Check::Complete => "let it run to its end, with a longer budget",
        Check::WarmUp => {
            "a longer warm-up lets it get there (warm_up in [design], --warm-up), unless its data grows with each request"
        }
        Check::Mix => {
            "look for answers that end sessions early, and at restart_after and the weights; longer windows come closer to their shares"
        }
        Check::Arrivals => {
            "a lower rate, more connections (--connections) or more users (--users): what waited was not sent when it should"
        }
        Check::SentRate => {
            "a lower rate, or several generators (--injectors): this one did not send what was asked for"
        }
        Check::GeneratorLag => {
            "leave the load generator a processor of its own, or load from another host (--injectors)"
        }
        Check::GeneratorCpu => {
            "a lower rate, or several generators (--injectors): this one may have been the limit"
        }
        Check::Errors => {
            "the report names the first answers that were wrong: mend the scenario, its data or the server"
        }
        Check::LostResponses => "see the server's log: it closed connections, or answered after timeout_ms",
        Check::Disturbance => {
            "repeat it when others leave the machine alone, or move them, or the load generator, elsewhere"
        }
        Check::Restart => "see why the server's process ended; what was measured is not of one server",
        Check::Clock => "stop what sets the clock (chrony, ntpd) while it is measured",
        Check::Audit => "the server's data is wrong: what it says above is what to look at",
        Check::Path => "measure at the rates that matter to you one by one, after a rest: assay load --rate",
        Check::Validation => "a longer budget settles what the highest rate is",
        Check::Connections => {
            "more connections (--connections) help, or, where their number is fixed, more users (--users)"
        }
        // Its evidence names what mends each operation.
        Check::Operations => return None,
        Check::GeneratorPriority
        | Check::CpuPressure
        | Check::Steal
        | Check::Throttled
        | Check::Load
        | Check::Steadiness
        | Check::Fault
        | Check::Other => return None,
    })
}
