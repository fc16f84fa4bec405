//! The page docs/reference/metrics.md: every metric of studies, every figure of GC logs, every family of OpenMetrics.

use super::commands::prose;
use assay_model::{
    Better, EMULATED, Exposition, Feels, GC_FIGURES, GcFigure, LatencyLimit, METRICS, Metric, PER_BENCHMARK,
    PER_PROCESS,
};
use assay_report::gc::openmetrics_families;
use std::fmt::Write;

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Metrics\n\nGenerated from the program, by `UPDATE_EXPECT=1 cargo test -p assay --test all \
            reference::`. A name ends with the unit. A metric that could not be measured has no value. It is \
            never 0.\n",
    );
    add_studies(&mut page);
    add_figures(&mut page);
    add_families(&mut page);
    page
}

fn add_studies(page: &mut String) {
    page.push_str(
        "\n## Studies\n\nThe keys of `metrics` in `summary.json` and `trial.json`, and the names in `assay \
            run STUDY --fail-if`.\n\n- *Always*: every study of a server has it, and a problem gives the \
            reason if it is missing. The rest need an observer or a kind of load.\n- *Others change it*: \
            other processes on the machine change it. *Some* marks CPU time, which changes less than times \
            and rates. If a block has no better window, its value comes from a disturbed one.\n- *Each \
            start*: it may differ between starts of the same server by an unknown amount. With one server of \
            each variant (design `resident`), no difference in it is shown. In the other metrics, a \
            difference beyond 5 % is.\n",
    );
    add_metrics("Of a server", METRICS, "", page);
    page.push_str("\n### Of a limit\n\n");
    head(page);
    // One name for all limits: the number stands where the study's limit does.
    let of_limit = Metric::rate_at_limit(&LatencyLimit::of_all(10.0));
    let named = |text: &str| text.replace("10", "N");
    row(page, &named(&of_limit.id), &named(&of_limit.title), &of_limit);
    let of_one =
        Metric::rate_at_limit(&LatencyLimit { limit_ms: 10.0, operation: Some("OPERATION".to_owned()) });
    row(page, &named(&of_one.id), &named(&of_one.title), &of_one);
    add_metrics("Of a benchmark", PER_BENCHMARK, "/NAME", page);
    add_metrics("Processes of a trial", PER_PROCESS, "/ROLE", page);
    add_metrics("Emulated guests", EMULATED, "", page);
}

fn add_metrics(title: &str, metrics: &[Metric], behind: &str, page: &mut String) {
    let _ = writeln!(page, "\n### {title}\n");
    head(page);
    for metric in metrics {
        row(page, &format!("{}{behind}", metric.id), &metric.title, metric);
    }
}

fn head(page: &mut String) {
    page.push_str(
        "| name | what | unit | better | always | others change it | each start | how it is measured |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
}

fn row(page: &mut String, id: &str, title: &str, metric: &Metric) {
    let better = match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    };
    let mark = |holds: bool| if holds { "yes" } else { "" };
    let always = mark(!metric.on_request);
    let others = match metric.feels {
        Feels::Nothing => "",
        Feels::CpuTime => "some",
        Feels::Time => "yes",
    };
    let starts = mark(metric.start_percent_max.is_none());
    let _ = writeln!(
        page,
        "| `{id}` | {} | {} | {better} | {always} | {others} | {starts} | {} |",
        cell(title),
        cell(metric.unit),
        cell(metric.source)
    );
}

fn add_figures(page: &mut String) {
    page.push_str(
        "\n## GC logs\n\nThe figures of `assay gc --csv`, and the names in `assay gc --fail-if` and `assay gc \
            diff`. The last column has their OpenMetrics names. A dash: a family with labels has it, or the \
            scraper derives it.\n\n| name | unit | what | OpenMetrics |\n| --- | --- | --- | --- |\n",
    );
    for figure in GC_FIGURES {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            figure.id,
            cell(figure.unit),
            cell(figure.help),
            exposed(figure)
        );
    }
}

fn exposed(figure: &GcFigure) -> String {
    match figure.exposition {
        Exposition::Counter => format!("`assay_gc_{}_total`", figure.id),
        Exposition::CounterAs(name) => format!("`assay_gc_{name}_total`"),
        Exposition::Gauge => format!("`assay_gc_{}`", figure.id),
        Exposition::Unexposed => "–".to_owned(),
    }
}

fn add_families(page: &mut String) {
    page.push_str(
        "\n## OpenMetrics\n\nThe series that `assay gc LOG --follow --openmetrics PORT` serves: [Metrics for \
            Prometheus and Grafana](../how-to/monitoring.md). Counters and summaries count from the \
            beginning of the log. Quantiles, in the first series of a summary under the label `quantile`, \
            cover the whole log. A family is missing if the log lacks its figures.\n\n| series | type | \
            labels | what |\n| --- | --- | --- | --- |\n",
    );
    for family in openmetrics_families() {
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        let series: Vec<String> = family.series().iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            series.join(", "),
            family.kind,
            labels.join(", "),
            cell(family.help)
        );
    }
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}
