//! Filling a request allocates nothing, whatever it is filled with: counted by the allocator of this test's process.

use assay_scenario::{Drawn, Scenario, User};
use assay_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn values_rows_and_secrets_are_filled_in_without_allocating() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, column) in [("a.csv", "a"), ("b.csv", "b"), ("c.csv", "c")] {
        let rows: String = (0..5_000).map(|n| format!("{n}\n")).collect();
        std::fs::write(folder.path().join(file), format!("{column}\n{rows}")).expect("written");
    }
    let text = r#"
        schema = "assay.scenario/1"
        name = "fill"
        [values]
        pick = { kind = "range", from = 0, to = 99999 }
        number = { kind = "counter", from = 1 }
        [[data]]
        file = "a.csv"
        [[data]]
        file = "b.csv"
        order = "random"
        [[data]]
        file = "c.csv"
        order = "once"
        [[operation]]
        name = "all"
        path = "/{pick}/{number}/{a}/{b}/{c}"
        headers = { X-Key = "${env:PATH}" }
    "#;
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).expect("written");
    let scenario = Scenario::read(&path).expect("a right scenario");
    let mut user = User::new(1, 0, 0, &scenario, &scenario.shared());
    let (mut drawn, mut out) = (Drawn::default(), Vec::new());
    let mut fill = || {
        out.clear();
        drawn.begin(&scenario);
        user.fill(&scenario, &scenario.operations[0].path, &mut drawn, &mut out);
        user.fill(&scenario, &scenario.operations[0].headers, &mut drawn, &mut out);
        assert_eq!(drawn.used_up(), None);
    };
    // The buffers grow to the longest request.
    (0..2_000).for_each(|_| fill());
    let before = allocations();
    (0..2_000).for_each(|_| fill());
    assert_eq!(allocations() - before, 0);
}
