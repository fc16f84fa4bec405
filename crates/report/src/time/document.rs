//! An account of CPU time as a document.

use super::{flames, hardware, recorded, roles, sampled, scheduling, sentences, sources, traced};
use assay_findings::{next_step, told};
use assay_kit::document::{Answer, Block, Document, PageParts, Section, Tone};
use assay_kit::text::clean;
use assay_model::{Problem, TimeReport};

/// The account: CPU time by role, findings, what the kernel did, where in the code, waits and faults, where the figures come from.
pub fn document(report: &TimeReport) -> Document {
    let found = told(&report.findings, "");
    let sampled = report.samples.as_ref().and_then(flames::figure);
    let stacks = sampled.or_else(|| recorded::figure(report.recording.as_ref()?));
    let (chart, rest) = match stacks {
        Some(stacks) => (stacks, std::iter::once(roles::chart(report).into()).chain(sums(report)).collect()),
        None => (roles::chart(report), sums(report)),
    };
    let answer = Answer {
        sentence: format!("{}.", sentences::headline(report)),
        action: next_step(&found, "No rule found a setting to change."),
        chart: Some(chart),
        rest,
        ..Answer::default()
    };
    let findings = Block::Findings(found, "No rule matched.".to_owned());
    let mut sections = vec![Section::new("findings", "Findings", [findings])];
    sections.extend(report.traced.iter().map(|traced| traced::section(traced, report)));
    sections.extend(report.samples.iter().flat_map(|of| [sampled::section(of, report), flames::section(of)]));
    // Other forms have them in the tree behind the chart of roles.
    sections.push(
        Section::new("roles", "Threads by role", [roles::groups(report).into()])
            .called("Roles")
            .page_only()
            .on_screen(),
    );
    sections.extend(report.recording.iter().flat_map(|recording| recorded::sections(recording, report)));
    let threads = roles::threads(report);
    sections.push(Section::new("threads", "Threads that used most", [threads.into()]).called("Threads"));
    sections.extend(hardware::sections(report));
    sections.push(Section::new("beside", "Scheduling and faults", [scheduling::table(report).into()]));
    let origins =
        [sources::kernel_time(report), sources::known(report), sources::left_out(report)].map(Block::from);
    sections
        .push(Section::new("sources", "Where the figures come from", origins).called("Sources").on_screen());
    Document {
        lines: vec![sentences::subject(report).into()],
        sections,
        page: PageParts { made_by: clean(&report.provenance.assay_version), ..PageParts::default() },
        ..Document::new(
            "Every CPU second, by Assay",
            format!("CPU time of {} ({})", clean(&report.program), report.pid),
            answer,
        )
        .with_problems(Problem::listed(&report.problems))
    }
}

/// CPU time for each request, that the parts add up, the control group beside the process; what the difference is made of.
fn sums(report: &TimeReport) -> Vec<Block> {
    let sums = [sentences::per_request(report), Some(sentences::closure(report)), sentences::cgroup(report)];
    let sums = sums.into_iter().flatten().map(|sentence| Block::Text(Tone::Strong, format!("{sentence}.")));
    sums.chain([Block::explanation(sentences::difference(report))]).collect()
}
