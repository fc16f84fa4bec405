//! What `--plan` of `assay run`, `load` and `capacity` says.

use super::budget::Line;
use assay_model::{
    Design, HalvesOf, Plan, PlannedDuet, PlannedFault, PlannedOperation, PlannedProcedure, PlannedRequests,
    StudyRule, Variant,
};
use assay_results::Gate;
use assay_study::Prepared;
use assay_text::duration::about;
use assay_text::percent;
use assay_text::wrap::{hanging, message};

/// Where the texts behind the labels begin.
const TEXT: usize = 12;
/// Names up to which options stand in a column of their own.
const NAME_MAX: usize = 24;

/// What a study would run, in lines of so many columns, and the conditions that would be judged; names of the study are kept whole.
/// With a budget, its lines say what it means.
pub fn plan_text(prepared: &Prepared, conditions: &[Gate], budget: &[Line], columns: usize) -> String {
    let plan = prepared.plan();
    let mut out = Lines { text: message(&format!("{}: {}", plan.study, plan.question), columns), columns };
    out.put("design", &design(plan));
    for (label, text) in plan.duet.iter().flat_map(sides) {
        out.put(label, &text);
    }
    out.put("load", &plan.load);
    for requests in &plan.requests {
        let name = if 1 < plan.requests.len() {
            format!("{}  ", requests.variants.join(", "))
        } else {
            String::new()
        };
        out.put_requests(&name, requests);
    }
    if plan.scenarios.is_empty() && !plan.requests.is_empty() && 1 < plan.variants.len() {
        let what = "no scenario is named: the variants are compared by requests for one address alone, by which the server says that it is \
                    ready";
        out.put("warning", what);
    }
    out.put("warm-up", &plan.warm_up);
    if budget.is_empty() {
        out.put("takes", &format!("about {}", about(plan.expected_s)));
    }
    budget.iter().for_each(|(label, text)| out.put(label, text));
    for finding in prepared.findings().iter().filter(|finding| finding.rule == StudyRule::Uncommitted) {
        out.put("note", &format!("{} ({})", finding.claim, finding.evidence.join("; ")));
    }
    for (variants, build, is_made) in prepared.builds() {
        let when = if is_made { "built before" } else { "is built before the first trial" };
        out.put_about("builds", &format!("{}  ", variants.join(", ")), &format!("{build}: {when}"));
    }
    for condition in conditions {
        out.put("fails if", &condition.to_string());
    }
    let names = plan.variants.iter().map(|variant| variant.name.chars().count()).max().unwrap_or(0);
    for variant in &plan.variants {
        let name = format!("{:names$}  ", variant.name);
        out.put_about("runs", &name, &command(variant));
        for change in &variant.treatments {
            let whose = if change.is_global { "of the whole machine" } else { "of these processes alone" };
            out.put_about("changes", &name, &format!("{} = {}, {whose}", change.setting, change.value));
        }
    }
    for fault in &plan.faults {
        out.put("fault", &words(fault));
    }
    for skipped in &plan.skipped {
        out.put("skips", &format!("{}: {}", skipped.name, skipped.reason));
    }
    for line in assay_report::study::claims_of_plan(plan, &assay_results::contradictions(plan)) {
        out.put("claims", &line);
    }
    out.text + "\n"
}

/// What a search for a capacity would do.
pub fn search_text(target: &str, plan: &Plan, columns: usize) -> String {
    let mut out = Lines { text: message(target, columns), columns };
    out.put("load", &plan.load);
    for requests in &plan.requests {
        out.put_requests("", requests);
    }
    out.put("warm-up", &plan.warm_up);
    out.put("takes", &format!("about {}", about(plan.expected_s)));
    for variant in plan.variants.iter().filter(|variant| variant.jvm.is_some()) {
        out.put("runs", &command(variant));
    }
    for skipped in &plan.skipped {
        out.put("skips", &format!("{}: {}", skipped.name, skipped.reason));
    }
    out.text + "\n"
}

/// What a load would do: its law in words, what it sends, and how long it takes, seconds.
pub fn load_text(
    target: &str,
    law: &str,
    requests: &PlannedRequests,
    length_s: f64,
    columns: usize,
) -> String {
    let mut out = Lines { text: message(target, columns), columns };
    out.put("load", law);
    out.put_about("sends", "", &sends(requests, ""));
    out.put_start("", requests);
    out.put("takes", &format!("about {}", about(length_s + requests.start_s.unwrap_or(0.0))));
    out.text + "\n"
}

struct Lines {
    text: String,
    columns: usize,
}

impl Lines {
    fn put(&mut self, label: &str, text: &str) {
        self.put_about(label, "", text);
    }

    /// What is sent in each window, and before the load.
    fn put_requests(&mut self, name: &str, requests: &PlannedRequests) {
        self.put_about("sends", name, &sends(requests, " in each window"));
        self.put_start(name, requests);
    }

    fn put_start(&mut self, name: &str, requests: &PlannedRequests) {
        if let Some(text) = start(requests) {
            self.put_about("before", name, &text);
        }
    }

    /// With a name, as wide as all names, before the text.
    fn put_about(&mut self, label: &str, name: &str, text: &str) {
        let indent = TEXT + name.chars().count().min(NAME_MAX);
        let lines = hanging(&format!("  {label:<10}{name}"), indent, text, self.columns);
        self.text += &format!("\n{}", lines.trim_end());
    }
}

/// What the two sides of a duet have: a label, and its text.
fn sides(duet: &PlannedDuet) -> Vec<(&'static str, String)> {
    let [first, second] = &duet.halves;
    let halves = match duet.halves_of {
        HalvesOf::ThreadsOfOneCore => ", hardware threads of one core: each side slows the other down",
        HalvesOf::Processors => ", which may share cores: the kernel does not say",
        HalvesOf::Cores | HalvesOf::Other => "",
    };
    let mut said = vec![(
        "halves",
        format!("processors {first} and {second}{halves}; {} windows of each pair", duet.windows),
    )];
    if !duet.equal_options.is_empty() {
        said.push(("both get", duet.equal_options.join(" ")));
    }
    if !duet.own_options.is_empty() {
        said.push(("as set", duet.own_options.join(", ")));
    }
    said
}

fn design(plan: &Plan) -> String {
    let design = match plan.design {
        Design::Fresh => "a fresh process for each trial, in interleaved blocks",
        Design::Duet => {
            "pairs of fresh processes at the same time, each with its load generator on half of the processors, the halves swapped in every window"
        }
        Design::Resident => {
            "one resident server of each variant, measured in alternating windows, which show differences in garbage beyond 5 %, and no others"
        }
    };
    // A benchmark program's options say how long it measures.
    let windows = match plan.procedure {
        PlannedProcedure::Windows => format!(", windows of {} s", plan.window_s),
        PlannedProcedure::Capacity(_) | PlannedProcedure::Benchmark => String::new(),
        PlannedProcedure::Emulated(_) => {
            format!(", {} s of an emulated guest's clock are counted", plan.window_s)
        }
    };
    let blocks = match plan.budget {
        Some(_) => "as many blocks as decide what is asked".to_owned(),
        None if plan.part.is_empty() => format!("{} blocks", plan.blocks),
        None => format!("{} of {} blocks", plan.part.len(), plan.blocks),
    };
    format!("{design}; {blocks}{windows}")
}

/// How the sessions of users begin before the load, where they do.
fn start(planned: &PlannedRequests) -> Option<String> {
    let names = planned.start_operations.join(", ");
    let took =
        planned.start_s.map_or_else(String::new, |s| format!("; that takes about {}", about(s.max(1.0))));
    let requests = match planned.requests_of_start {
        0 => return None,
        1 => "1 request".to_owned(),
        several => format!("{several} requests"),
    };
    Some(format!("each user begins a session with {requests}, outside of the figures: {names}{took}"))
}

/// Users, requests and operations of a load; `when` says of which part of it the requests are.
fn sends(planned: &PlannedRequests, when: &str) -> String {
    let users = match (planned.users, planned.users_fixed) {
        (Some(users), true) => format!("{users} users"),
        (Some(users), false) => format!("{users} users, and more when all are busy"),
        (None, _) => "as many users as each rate needs".to_owned(),
    };
    let count =
        |requests: f64| if requests < 10.0 { format!("{requests:.1}") } else { format!("{requests:.0}") };
    let all = match planned.in_window {
        Some(requests) => format!("about {} requests{when}", count(requests)),
        None => "as many requests as the server answers".to_owned(),
    };
    let operation = |one: &PlannedOperation| match one.in_window {
        Some(requests) => format!("{} {} ({})", one.name, count(requests), percent::share(one.share)),
        None => format!("{} {}", one.name, percent::share(one.share)),
    };
    let operations: Vec<String> = planned.operations.iter().map(operation).collect();
    format!("{all}: {}; {users}", operations.join(", "))
}

fn command(variant: &Variant) -> String {
    let jvm = variant.jvm.as_ref().map_or_else(String::new, |j| format!("{} ({} bit)  ", j.version, j.bits));
    format!("{jvm}{}", variant.jvm_options.join(" "))
}

fn words(fault: &PlannedFault) -> String {
    let number = fault.instance.map_or_else(String::new, |number| format!("-{number}"));
    let at = fault.at_s.map_or_else(|| "at random".to_owned(), |at_s| format!("at {at_s} s"));
    let restart = if fault.restart { ", ended processes are restarted" } else { "" };
    format!("{}{number}: {} {at}{restart}", fault.role, fault.action)
}
