//! The stacks of a flame graph as the page carries them.

use super::{Frame, STEPS, Weight, name};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The whole with its frames, as JSON in which nothing is markup: names once, and for each frame the number of its name, its weights, and
/// what it called.
pub fn data(whole: &Frame, weight: Weight) -> String {
    let mut names = Names::default();
    let mut tree = String::new();
    frame(whole, &mut names, &mut tree);
    let (unit, words) = match weight {
        Weight::Count(one, many) => ("count", format!(",{},{}", quoted(one), quoted(many))),
        Weight::Bytes => ("bytes", String::new()),
        Weight::Time => ("time", String::new()),
        Weight::Share => ("share", String::new()),
    };
    format!(
        "{{\"unit\":[\"{unit}\"{words}],\"steps\":{STEPS:?},\"names\":[{}],\"tree\":{tree}}}",
        names.listed.join(",")
    )
}

#[derive(Default)]
struct Names<'a> {
    numbers: HashMap<(&'a str, &'a str), usize>,
    listed: Vec<String>,
}

impl<'a> Names<'a> {
    fn number(&mut self, frame: &'a Frame) -> usize {
        let next = self.numbers.len();
        // Of two weights the change is what colours a frame.
        let class = if frame.weights.len() == 1 { frame.class.as_str() } else { "" };
        let number = *self.numbers.entry((&frame.name, class)).or_insert(next);
        if number == next {
            let parts = [&frame.name, name::short(&frame.name), class].map(quoted);
            self.listed.push(format!("[{}]", parts.join(",")));
        }
        number
    }
}

fn frame<'a>(of: &'a Frame, names: &mut Names<'a>, out: &mut String) {
    let _ = write!(out, "[{}", names.number(of));
    for weight in &of.weights {
        // As exact as a picture and its words need.
        let _ = write!(out, ",{}", weight.clamp(0.0, f64::from(f32::MAX)) as f32);
    }
    for call in &of.calls {
        out.push(',');
        frame(call, names, out);
    }
    out.push(']');
}

/// A string of JSON without a character that begins markup.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
