//! The JVMs that run.

use assay_kit::Table;
use assay_kit::document::{Answer, Block, Document};
use assay_kit::number::bytes;
use assay_kit::text::clean;
use assay_model::RunningJvms;

/// The JVMs that run, the largest first; `not_readable` says which processes could not be read, and why.
pub fn document(found: &RunningJvms, not_readable: Option<&str>) -> Document {
    let table = Table::of("JVMs, the largest first", &found.jvms)
        .words("Pid", |jvm| jvm.pid.to_string())
        .figures("RSS", |jvm| jvm.rss_bytes.map(bytes))
        .words("JVM", |jvm| jvm.version.as_deref().map(clean))
        .words("Program", |jvm| clean(&jvm.program))
        .table();
    let sentence = match found.jvms.len() {
        0 => "No JVM was found here.".to_owned(),
        1 => "1 JVM runs here.".to_owned(),
        more => format!("{more} JVMs run here."),
    };
    let not_readable = not_readable.map(|why| Block::text(clean(why)));
    let rest = not_readable.into_iter().chain([table.into()]).collect();
    let answer = Answer { sentence, rest, ..Answer::default() };
    Document::new("JVMs that run on this machine, by Assay", "Running JVMs", answer)
}
