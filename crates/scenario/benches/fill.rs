//! What filling a request costs: with a drawn value, as always, and beside it, in the same run, with a row of a file, which must not
//! cost more. `cargo bench -p assay-scenario --bench fill`

use assay_scenario::{Drawn, Scenario, User};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn scenario(folder: &std::path::Path, order: &str) -> Scenario {
    let rows: String = (0..100_000).map(|n| format!("{n},user-{n}\n")).collect();
    std::fs::write(folder.join("rows.csv"), format!("id,user\n{rows}")).expect("written");
    let text = format!(
        r#"
        schema = "assay.scenario/1"
        name = "fill"
        [values]
        pick = {{ kind = "range", from = 0, to = 99999 }}
        [[data]]
        file = "rows.csv"
        order = "{order}"
        [[operation]]
        name = "value"
        path = "/items/{{pick}}?again={{pick}}"
        [[operation]]
        name = "row"
        path = "/items/{{id}}?user={{user}}"
    "#
    );
    let path = folder.join("fill.toml");
    std::fs::write(&path, text).expect("written");
    Scenario::read(&path).expect("a right scenario")
}

fn fill(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, order, operation) in
        [("value", "random", 0), ("row in order", "sequential", 1), ("row at random", "random", 1)]
    {
        let scenario = scenario(folder.path(), order);
        let mut user = User::new(1, 0, 0, &scenario, &scenario.shared());
        let (mut drawn, mut out) = (Drawn::default(), Vec::new());
        criterion.bench_function(name, |bench| {
            bench.iter(|| {
                out.clear();
                drawn.begin(&scenario);
                user.fill(&scenario, &scenario.operations[operation].path, &mut drawn, &mut out);
                black_box(out.len())
            });
        });
    }
}

criterion_group!(benches, fill);
criterion_main!(benches);
