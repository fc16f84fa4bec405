//! A journey from a JMeter plan (`.jmx`): its HTTP samplers in order, with what applies to them: defaults, headers, variables, CSV data,
//! extractors, assertions and timers. What is not understood is listed.

mod elements;

use super::Generated;
use super::imported::{Body, Import, Request, Split, variable_in};
use crate::ScenarioError;
use assay_text::redact;
use elements::{Element, pairs, parse};

/// How deep controllers may lie in each other.
const DEPTH_MAX: usize = 64;
/// Longest think time that is taken over, ms.
const THINK_MS_MAX: f64 = 600_000.0;

/// Makes a scenario of a plan. `named` is the file's name, for messages.
///
/// # Errors
/// It is not a plan, or holds no HTTP sampler that can be taken.
pub fn from_jmeter(text: &str, named: &str) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("JMeter plan {named}: {what}"));
    let document = parse(text.trim_start_matches('\u{feff}')).map_err(wrong)?;
    let root = Element(document.root_element());
    if root.tag() != "jmeterTestPlan" {
        return Err(wrong(format!("it begins with <{}>, not with <jmeterTestPlan>", root.tag())));
    }
    let mut import = Import::new(split, dynamic, default_of);
    import.draft.name = format!("from {named}");
    let tree = root.children().find(|one| one.tag() == "hashTree");
    if let Some(tree) = tree {
        Plan { import: &mut import }.tree(tree, &Scope::default(), 0);
    }
    if import.draft.operations.is_empty() {
        return Err(wrong("it holds no HTTP sampler that can be taken".to_owned()));
    }
    let count = import.draft.operations.len();
    import.draft.notes.insert(
        0,
        format!("Made from a JMeter plan: {count} HTTP samplers, in its order, as the session of a user."),
    );
    Ok(import.finish(true))
}

fn split(text: &str) -> Option<Split<'_>> {
    variable_in(text, "${", "}")
}

/// JMeter's functions that scenarios have, too.
fn dynamic(name: &str) -> Option<String> {
    let (function, arguments) =
        name.split_once('(').map_or((name, ""), |(name, rest)| (name, rest.trim_end_matches(')')));
    match function {
        "__UUID" => Some(r#"{ kind = "uuid" }"#.to_owned()),
        "__time" if arguments.is_empty() => Some(r#"{ kind = "unix-ms" }"#.to_owned()),
        "__counter" => Some(r#"{ kind = "counter", from = 1 }"#.to_owned()),
        "__Random" => {
            let mut ends = arguments.split(',').map(|end| end.trim().parse::<i64>().ok());
            let (from, to) = (ends.next()??, ends.next()??);
            (from <= to).then(|| format!(r#"{{ kind = "range", from = {from}, to = {to} }}"#))
        }
        _ => None,
    }
}

/// What applies to all samplers of a tree.
#[derive(Debug, Clone, Default)]
struct Scope {
    /// Scheme, host and port of a sampler that names none.
    scheme: String,
    host: String,
    port: String,
    path: String,
    headers: Vec<(String, String)>,
    think_ms: f64,
    contains: Option<String>,
    statuses: Vec<u16>,
}

struct Plan<'i> {
    import: &'i mut Import,
}

impl Plan<'_> {
    /// The elements of a tree, each with the tree behind it.
    fn tree(&mut self, tree: Element<'_, '_>, outer: &Scope, depth: usize) {
        if depth == DEPTH_MAX {
            self.import.lose("controllers that lie too deep");
            return;
        }
        let mut scope = outer.clone();
        let children: Vec<Element<'_, '_>> = tree.children().collect();
        for one in children.iter().filter(|one| one.is_enabled()) {
            self.applies(*one, &mut scope);
        }
        for (at, one) in children.iter().enumerate().filter(|(_, one)| one.tag() != "hashTree") {
            let inner = children.get(at + 1).copied().filter(|next| next.tag() == "hashTree");
            if !one.is_enabled() {
                self.import.lose("elements that are disabled");
                continue;
            }
            self.element(*one, inner, &scope, depth);
        }
    }

    /// What an element says for all samplers of its tree.
    fn applies(&mut self, one: Element<'_, '_>, scope: &mut Scope) {
        match one.tag() {
            "ConfigTestElement" => {
                let set = |to: &mut String, name: &str| {
                    let value = one.text(name);
                    if !value.is_empty() {
                        value.clone_into(to);
                    }
                };
                set(&mut scope.scheme, "HTTPSampler.protocol");
                set(&mut scope.host, "HTTPSampler.domain");
                set(&mut scope.port, "HTTPSampler.port");
                set(&mut scope.path, "HTTPSampler.path");
            }
            "HeaderManager" => {
                for (name, value) in
                    pairs(one.collection("HeaderManager.headers"), ("Header.name", "Header.value"))
                {
                    scope.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                    scope.headers.push((name, value));
                }
            }
            "Arguments" => self.variables(one.collection("Arguments.arguments")),
            "TestPlan" => {
                let defined = one.inner("TestPlan.user_defined_variables");
                self.variables(defined.and_then(|defined| defined.collection("Arguments.arguments")));
            }
            "CSVDataSet" => self.rows(one),
            "ResponseAssertion" => self.assertion(one, scope),
            "ConstantTimer" | "UniformRandomTimer" | "GaussianRandomTimer" | "PoissonRandomTimer" => {
                // Of a random delay, half of the range; Gauss's and Poisson's vary around their offset and mean.
                let number = |name: &str| self.known_number(one.text(name));
                let constant = number("ConstantTimer.delay");
                let random = number("RandomTimer.range");
                let share = if one.tag() == "UniformRandomTimer" { 0.5 } else { 0.0 };
                let mean = if one.tag() == "PoissonRandomTimer" { random } else { share * random };
                scope.think_ms = (scope.think_ms + constant + mean).min(THINK_MS_MAX);
                if one.tag() != "ConstantTimer" {
                    self.import.lose("how timers vary: the think times are their means");
                }
            }
            "ConstantThroughputTimer" => {
                let per_minute = self.known_number(one.text("throughput"));
                let per_s = per_minute / 60.0;
                self.import.draft.notes.push(format!(
                    "A timer of the plan asks for {per_s} requests/s: --rate {per_s} is an open loop."
                ));
            }
            _ => (),
        }
    }

    /// A number, as far as it stands there or a variable with one does.
    fn known_number(&self, text: &str) -> f64 {
        let text = match split(text) {
            Some((_, name, _)) => self.import.value_of(name).unwrap_or_default(),
            None => text,
        };
        text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && 0.0 <= *number).unwrap_or(0.0)
    }

    fn variables(&mut self, collection: Option<Element<'_, '_>>) {
        for (name, value) in pairs(collection, ("Argument.name", "Argument.value")) {
            self.import.known.insert(name, value);
        }
    }

    fn rows(&mut self, one: Element<'_, '_>) {
        let file = one.text("filename");
        let columns: Vec<&str> =
            one.text("variableNames").split(',').map(str::trim).filter(|c| !c.is_empty()).collect();
        let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
        if !matches!(one.text("delimiter"), "" | ",") {
            self.import.lose(format!("the delimiter of {name}: separate its values with commas"));
        }
        let is_good = |column: &&str| crate::template::is_name(column);
        if !name.to_ascii_lowercase().ends_with(".csv") || columns.is_empty() || !columns.iter().all(is_good)
        {
            self.import.lose(format!(
                "the data file {name}: columns named in the plan, and a name that ends with .csv, are needed"
            ));
            return;
        }
        let is_once = one.text("recycle") == "false";
        let how = if is_once { "order = \"once\"\nper = \"session\"" } else { "per = \"session\"" };
        self.import.draft.data.insert(name.to_owned(), how);
        self.import.columns.extend(columns.iter().map(|column| (*column).to_owned()));
        self.import.draft.notes.push(format!(
            "Rows come from {name} next to this file, one for each session. Its first line must be: {}",
            columns.join(",")
        ));
    }

    fn assertion(&mut self, one: Element<'_, '_>, scope: &mut Scope) {
        let texts: Vec<String> = one
            .children()
            .filter(|child| matches!(child.name(), "Asserion.test_strings" | "Assertion.test_strings"))
            .flat_map(Element::children)
            .map(|text| text.own_text().to_owned())
            .collect();
        let kind: u32 = one.text("Assertion.test_type").parse().unwrap_or(0);
        let (is_not, is_text) = (kind & 4 != 0, kind & (2 | 8 | 16) != 0);
        match (one.text("Assertion.test_field"), texts.as_slice()) {
            ("Assertion.response_code", texts) if !is_not => {
                let codes = texts.iter().filter_map(|text| text.trim().parse::<u16>().ok());
                scope.statuses.extend(codes.filter(|code| (200..=599).contains(code)));
            }
            ("Assertion.response_data", [text]) if !is_not && is_text && split(text).is_none() => {
                let is_plain =
                    kind & 16 != 0 || !text.contains(['\\', '[', '(', '*', '+', '?', '|', '^', '$', '.']);
                if is_plain && !text.is_empty() && redact::text(text) == *text {
                    scope.contains = Some(text.clone());
                } else {
                    self.import.lose("response assertions with expressions");
                }
            }
            _ => self.import.lose("response assertions of another kind than a status or a text in the body"),
        }
    }

    fn element(&mut self, one: Element<'_, '_>, inner: Option<Element<'_, '_>>, scope: &Scope, depth: usize) {
        let below = |plan: &mut Self| {
            if let Some(inner) = inner {
                plan.tree(inner, scope, depth + 1);
            }
        };
        match one.tag() {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => self.sampler(one, inner, scope),
            "TestPlan" | "GenericController" | "TransactionController" | "TestFragmentController" => {
                below(self);
            }
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => {
                let threads = self.known_number(one.text("ThreadGroup.num_threads"));
                let ramp = self.known_number(one.text("ThreadGroup.ramp_time"));
                let name: String = one.label().chars().take(60).collect();
                let kind = match one.tag() {
                    "SetupThreadGroup" => ", which ran once before all,",
                    "PostThreadGroup" => ", which ran once after all,",
                    _ => "",
                };
                self.import.draft.notes.push(format!(
                    "Thread group {:?}{kind} had {threads} threads within {ramp} s: --users {threads} is such a closed loop.",
                    redact::text(&name)
                ));
                below(self);
            }
            // Its children run once for each session here.
            tag if tag.ends_with("Controller")
                || tag.ends_with("Control")
                || tag.ends_with("ThreadGroup") =>
            {
                self.import.lose(format!("{tag}: what is in it is sent once a session"));
                below(self);
            }
            tag if is_taken(tag) => (),
            tag => self
                .import
                .lose(format!("{tag} {:?}", redact::text(&one.label().chars().take(40).collect::<String>()))),
        }
    }

    fn sampler(&mut self, one: Element<'_, '_>, inner: Option<Element<'_, '_>>, scope: &Scope) {
        let mut own = Scope { contains: scope.contains.clone(), ..scope.clone() };
        let children: Vec<Element<'_, '_>> =
            inner.into_iter().flat_map(Element::children).filter(Element::is_enabled).collect();
        for child in &children {
            self.applies(*child, &mut own);
        }
        let request = self.request(one, &own);
        if !self.import.add(request) {
            return;
        }
        if let Some(operation) = self.import.last() {
            operation.think_ms = (own.think_ms >= 1.0).then_some(own.think_ms as u64);
            operation.statuses.clone_from(&own.statuses);
            operation.statuses.sort_unstable();
            operation.statuses.dedup();
            operation.contains.clone_from(&own.contains);
        }
        for child in children {
            match elements::extractor(child) {
                Some(Ok((variable, place))) => self.import.give(&variable, place),
                Some(Err(why)) => self.import.lose(why),
                None if is_taken(child.tag()) || child.tag() == "hashTree" => (),
                None => self.import.lose(child.tag().to_owned()),
            }
        }
    }

    fn request(&mut self, one: Element<'_, '_>, scope: &Scope) -> Request {
        let or = |own: &str, default: &str| if own.is_empty() { default.to_owned() } else { own.to_owned() };
        let path = or(one.text("HTTPSampler.path"), &scope.path);
        let (scheme, host, port) = (
            or(one.text("HTTPSampler.protocol"), &or(&scope.scheme, "http")),
            or(one.text("HTTPSampler.domain"), &scope.host),
            or(one.text("HTTPSampler.port"), &scope.port),
        );
        let mut url = if path.contains("://") {
            path
        } else {
            let port = if port.is_empty() { port } else { format!(":{port}") };
            let slash = if path.starts_with('/') { "" } else { "/" };
            format!("{}://{host}{port}{slash}{path}", scheme.to_ascii_lowercase())
        };
        let method = or(one.text("HTTPSampler.method"), "GET");
        let arguments =
            one.inner("HTTPsampler.Arguments").and_then(|of| of.collection("Arguments.arguments"));
        let fields = pairs(arguments, ("Argument.name", "Argument.value"));
        let is_raw = one.text("HTTPSampler.postBodyRaw") == "true";
        let mut body = Body::None;
        if is_raw {
            let text: Vec<String> = elements::values(arguments, "Argument.value");
            body = Body::Text(text.concat(), None);
        } else if matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
            for (name, value) in fields {
                let joint = if url.contains('?') { '&' } else { '?' };
                url.push_str(&format!("{joint}{name}={value}"));
            }
        } else if !fields.is_empty() {
            body = Body::Form(fields);
        }
        if one.text("HTTPSampler.DO_MULTIPART_POST") == "true"
            || one.inner("HTTPsampler.Files").is_some_and(|files| {
                files.children().next().is_some_and(|files| files.children().next().is_some())
            })
        {
            self.import.lose("forms of several parts and files that are sent");
        }
        Request { name: one.label().to_owned(), method, url, headers: scope.headers.clone(), body }
    }
}

/// The default of `__P(name,default)` or `__property(name,,default)`.
fn default_of(name: &str) -> Option<&str> {
    let arguments =
        name.strip_prefix("__P(").or_else(|| name.strip_prefix("__property("))?.trim_end_matches(')');
    arguments.rsplit_once(',').map(|(_, default)| default.trim())
}

/// What is understood without an element of its own in the draft, or only shows results.
fn is_taken(tag: &str) -> bool {
    const TAKEN: [&str; 13] = [
        "ConfigTestElement",
        "HeaderManager",
        "Arguments",
        "CSVDataSet",
        "ResponseAssertion",
        "CookieManager",
        "ConstantTimer",
        "UniformRandomTimer",
        "GaussianRandomTimer",
        "PoissonRandomTimer",
        "ConstantThroughputTimer",
        "ResultCollector",
        "CacheManager",
    ];
    TAKEN.contains(&tag)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
