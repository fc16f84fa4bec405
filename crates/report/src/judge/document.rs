//! What a set of flags does to a server: what costs no trial first, the whole set, then its parts.

use super::words;
use crate::ab::{effects, figures};
use assay_kit::document::{Answer, Block, Document, Section};
use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{AbFigure, JudgeReport, JudgedFlag, JudgedPart, Problem, metric};

/// What the ratios are.
const HOW_TO_READ: &str = "A ratio is with : without these flags, over pairs of processes that run at the \
    same time. All other flags are on both sides. \"Visible\" is the smallest change that four of five such \
    comparisons would have shown. Smaller effects stay unknown.";

/// What the flags do.
pub fn document(report: &JudgeReport) -> Document {
    let whole = report.parts.first().map_or(&[][..], |part| &part.figures);
    let mut rest = vec![Block::from(figures("All flags against none", ["Without", "With"], whole))];
    rest.extend(parts(report).unless_empty().map(Block::from));
    rest.extend(words::without_time(report).map(|text| Block::explanation(&text)));
    rest.push(Block::explanation(HOW_TO_READ));
    let answer = Answer {
        sentence: words::answer(report),
        chart: Some(effects(whole, "with : without the flags (1 = the same)")),
        rest,
        ..Answer::default()
    };
    let jvm = report.jvm.as_ref().map_or_else(
        || "a JVM that the command starts by other means: the flags were not looked up".to_owned(),
        |jvm| format!("JDK {}", clean(&jvm.version)),
    );
    let head = format!("{}; {jvm}", clean(&report.server));
    Document {
        lines: std::iter::once(head).chain(words::idle_lines(report)).map(Into::into).collect(),
        sections: vec![
            Section::new("flags", "Flags", [flags(report).into()]).in_full(),
            Section::new("conditions", "How it was measured", [conditions(report)]).in_full(),
        ],
        ..Document::new("A set of JVM flags judged, by Assay", "Flags judged", answer)
            .with_problems(Problem::listed(&report.problems))
    }
}

/// A row for each group and flag that was tried; what had no time is named elsewhere.
fn parts(report: &JudgeReport) -> Table {
    let is_listed = |part: &&JudgedPart| !words::has_no_time(part);
    let of = |part: &JudgedPart, id: &str| {
        let figure: Option<&AbFigure> = part.figures.iter().find(|figure| figure.metric == id);
        figure.cloned()
    };
    let percent = |figure: Option<AbFigure>| -> Option<String> {
        Some(format!("{} %", significant(figure?.smallest_percent?)))
    };
    let ratio = |figure: Option<AbFigure>| {
        figure.and_then(|figure| figure.ratio).map(|ratio| significant(ratio.estimate))
    };
    let cpu = metric::CPU_WITHOUT_JIT_MS_PER_REQUEST;
    Table::of("What each part adds to the others", report.parts.iter().skip(1).filter(is_listed))
        .words("Part", |part| words::name(report, part))
        .words("It adds", |part| words::effect(part))
        .figures("CPU ratio", |part| ratio(of(part, cpu)))
        .if_room()
        .figures("Visible", |part| percent(of(part, cpu)))
        .if_room()
        .figures("Memory ratio", |part| ratio(of(part, metric::RSS_BYTES)))
        .if_room()
        .table()
}

fn flags(report: &JudgeReport) -> Table {
    let remark = |flag: &&JudgedFlag| match (flag.remark, &flag.why) {
        (Some(remark), Some(why)) => format!("{remark}: {}", clean(why)),
        _ => "taken as it is".to_owned(),
    };
    Table::of("What the release makes of each flag", &report.flags)
        .words("Flag", |flag| clean(&flag.text))
        .words("Group", |flag| Cell::from(flag.group.word()))
        .words("Release", remark)
        .table()
}

fn conditions(report: &JudgeReport) -> Block {
    Block::terms([
        ("Load", clean(&report.load)),
        (
            "Design",
            "duets: both servers of a pair run at the same time, each with its load generator on its own half of the processors".to_owned(),
        ),
        ("Time", format!("{} of {} s", significant(report.took_s), significant(report.budget_s))),
        ("Seed", report.seed.to_string()),
        ("Runs", clean(&report.runs)),
    ])
}
