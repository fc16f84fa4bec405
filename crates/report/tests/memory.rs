//! A process's memory as people see it: golden files, sums, hostile values, snapshots that lack almost everything.

use crate::golden;
use crate::kafka;
use assay_model::*;
use assay_report::*;
use expect_test::expect_file;

pub fn view(width: u16, extent: Extent) -> TerminalView {
    TerminalView { width, color: false, extent }
}

fn tree(report: &MemoryReport, width: u16) -> String {
    in_full(report, view(width, Extent::Biggest(24)))
}

pub fn in_full(report: &MemoryReport, view: TerminalView) -> String {
    memory::document(report, &[], None).terminal(view)
}

#[test]
fn the_forms_of_the_sample_are_the_golden_files() {
    let biggest = Extent::Biggest(24);
    golden::expect_with("memory/snapshot", &memory::document(&kafka::snapshot(), &[], None), biggest);
    let (snapshots, advice) = (kafka::snapshots(), kafka::advice());
    let last = snapshots.last().expect("snapshots");
    let recorded = memory::document(last, &snapshots, Some(&advice)).terminal(view(80, biggest));
    expect_file!["golden/memory/snapshot-of-record-80.txt"].assert_eq(&recorded);
    let few = Extent::Biggest(6);
    golden::expect_with("memory/change", &memory::change(&kafka::change(), &[]), few);
    golden::expect("memory/advice", &memory::advice(&kafka::advice()));
    golden::expect(
        "memory/running",
        &memory::running(
            &running(),
            Some("2 processes could not be read; one of them: no CAP_SYS_PTRACE; add it"),
        ),
    );
}

fn running() -> RunningJvms {
    let jvm = |pid, rss_bytes, version: Option<&str>, program: &str| RunningJvm {
        pid,
        rss_bytes,
        version: version.map(str::to_owned),
        program: program.to_owned(),
    };
    RunningJvms {
        schema: schema::MEMORY_JVMS.to_owned(),
        jvms: vec![
            jvm(4242, Some(426_143_744), Some("17.0.15+6-Debian-1deb12u1"), "kafka.Kafka"),
            jvm(951, None, None, "org.elasticsearch.bootstrap.Elasticsearch"),
        ],
        not_readable: 2,
    }
}

#[test]
fn what_the_page_alone_has_is_named_in_the_other_forms() {
    let (snapshots, advice) = (kafka::snapshots(), kafka::advice());
    let document = memory::document(&snapshots[40], &snapshots, Some(&advice));
    let named = "Only on the page: the charts: areas over time, resident bytes by source; \
                 Memory limit; Stacks of threads; Flags.";
    let text = document.terminal(view(140, Extent::All)).replace('\n', " ");
    assert!(text.contains(named), "{text}");
    assert!(document.markdown().contains(named), "{}", document.markdown());
}

#[test]
fn a_short_answer_has_the_name_the_findings_each_with_its_step_and_the_biggest_entries() {
    let text = memory::document(&kafka::snapshot(), &[], None).terminal(view(80, Extent::Short));
    assert!(text.starts_with("Memory of kafka.Kafka (4242)\n"), "{text}");
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    let order = [
        "406.4 MiB resident",
        "retained-by-malloc",
        "→ Trim it now",
        "malloc-arenas",
        "Java heap  ",
        "--all",
    ];
    assert!(order.map(at).is_sorted(), "{text}");
    let areas = text.lines().filter(|line| line.contains(" MiB  ") && line.contains(" %  "));
    assert!(10 <= areas.count(), "{text}");
    assert_eq!(text.matches("→ Trim it now").count(), 1, "the step stands once: {text}");
}

#[test]
fn a_process_with_few_areas_has_a_line_for_each_and_the_rest_of_many_is_one_line() {
    let mut few = kafka::snapshot();
    few.entries.retain(|entry| entry.path[0] == "Java heap" || entry.path[0] == "code");
    assert!(!tree(&few, 80).contains("smaller areas"));
    let many = tree(&kafka::snapshot(), 80);
    let rest = many.lines().find(|line| line.contains("smaller areas")).expect("a line for the rest");
    let resident: f64 = kafka::snapshot().areas[9..].iter().map(|area| area.resident_bytes as f64).sum();
    assert!(rest.contains(&format!("{:.1} MiB", resident / f64::from(1 << 20))), "{rest}");
}

#[test]
fn kinds_of_pages_are_in_the_headline_where_they_are_unusual_and_in_a_sentence_always() {
    let kinds = |change: fn(&mut PageKinds, u64)| {
        let mut snapshot = kafka::snapshot();
        for entry in &mut snapshot.entries {
            let bytes = entry.resident_bytes;
            change(entry.pages.as_mut().expect("the sample has them"), bytes);
        }
        tree(&snapshot, 140).replace('\n', " ")
    };
    let usual = kinds(|_, _| {});
    assert!(usual.contains("By kind of page: ") && !usual.contains("views of shared memory; "), "{usual}");
    let shared = kinds(|pages, bytes| *pages = PageKinds { shared_bytes: bytes, ..PageKinds::default() });
    assert!(
        shared.contains("outside the Java heap; 406.4 MiB (100.0 %) are views of shared memory"),
        "{shared}"
    );
    assert!(shared.contains("the kernel does not report huge pages"), "{shared}");
    let mut earlier = kafka::snapshot();
    earlier.entries.iter_mut().for_each(|entry| entry.pages = None);
    assert!(!tree(&earlier, 140).contains("By kind of page"), "an earlier version did not count them");
}

#[test]
fn every_leaf_is_shown_on_demand() {
    let snapshot = kafka::snapshot();
    let all = in_full(&snapshot, view(140, Extent::All));
    for entry in &snapshot.entries {
        let name = entry.path.last().expect("the sample's paths are not empty");
        assert!(all.contains(name.as_str()), "{name}");
    }
    assert!(!all.contains(" more "));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 72, 80, 120, 200] {
        for snapshot in [kafka::snapshot(), kafka::hostile_snapshot()] {
            golden::fits(&tree(&snapshot, width), width);
        }
    }
}

#[test]
fn areas_in_the_tree_add_up_to_the_rss() {
    let snapshot = kafka::snapshot();
    let sum: u64 = snapshot.areas.iter().map(|a| a.resident_bytes).sum();
    assert_eq!(sum, snapshot.rss_bytes, "the sample itself");
    let text = tree(&snapshot, 100);
    assert!(text.contains("Total equals RSS: ") && text.contains("difference 0 B"), "{text}");
}

#[test]
fn entries_that_do_not_add_up_are_not_said_to() {
    let mut snapshot = kafka::snapshot();
    snapshot.entries[3].resident_bytes += 8192;
    let text = tree(&snapshot, 100);
    assert!(text.contains("difference +8.0 KiB") && !text.contains("Total equals RSS"), "{text}");
}

fn page(report: &MemoryReport, snapshots: &[MemoryReport], advice: Option<&Advice>) -> String {
    let mut out = Vec::new();
    memory::document(report, snapshots, advice).write_html(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("the page is UTF-8")
}

#[test]
fn the_page_refers_to_nothing_outside_itself_and_is_the_same_each_time() {
    let (snapshots, advice) = (kafka::snapshots(), kafka::advice());
    let first = page(&snapshots[40], &snapshots, Some(&advice));
    assert_eq!(first, page(&snapshots[40], &snapshots, Some(&advice)));
    for reference in ["http:", "https:", "@import", "fetch(", "src=", "xmlhttprequest"] {
        assert!(!first.to_lowercase().contains(reference), "{reference} in the page");
    }
    for target in first.split("href=\"").skip(1) {
        assert!(target.starts_with('#') || target.starts_with("data:,\""), "{}", &target[..40]);
    }
}

#[test]
fn every_link_of_the_map_leads_to_a_view_and_every_view_but_the_whole_has_a_way_up() {
    let page = page(&kafka::snapshot(), &[], None);
    let ids: Vec<&str> =
        page.split(" id=\"map").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect();
    let links: Vec<&str> =
        page.split("href=\"#map").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect();
    assert!(links.len() > 20, "{}", links.len());
    for link in &links {
        assert!(ids.contains(link), "#map{link}");
    }
    let views = page.matches("class=\"view").count();
    assert_eq!(page.matches("class=\"view whole\"").count(), 1);
    assert_eq!(page.matches("<a href=\"#map\">").count(), views - 1, "ways to the whole");
}

#[test]
fn the_page_of_a_look_that_lacks_almost_everything_is_made() {
    let mut snapshot = kafka::snapshot();
    snapshot.entries.clear();
    snapshot.areas.clear();
    snapshot.sources.clear();
    snapshot.rss_bytes = 0;
    snapshot.jvm = None;
    snapshot.allocator = None;
    snapshot.cgroup = None;
    snapshot.outside_rss = OutsideRss::default();
    snapshot.threads.clear();
    snapshot.findings.clear();
    let page = page(&snapshot, &[snapshot.clone(), snapshot.clone()], None);
    assert!(page.contains("not a JVM that could be read") && !page.contains("NaN"));
    assert!(tree(&snapshot, 80).contains("not a JVM that could be read"));
}

#[test]
fn hostile_names_are_text_on_the_page_and_do_nothing_on_the_terminal() {
    let snapshot = kafka::hostile_snapshot();
    let page = page(&snapshot, &[snapshot.clone(), snapshot.clone()], None);
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own script");
    for output in [page, tree(&snapshot, 100)] {
        assert!(!output.contains('\u{202E}') && !output.contains('\u{1b}'));
        assert!(!output.contains("NaN"));
    }
}

#[test]
fn the_page_of_a_change_shows_its_causes() {
    let mut out = Vec::new();
    memory::change(&kafka::change(), &kafka::snapshots())
        .write_html(&mut out)
        .expect("a vector takes all bytes");
    let page = String::from_utf8(out).expect("the page is UTF-8");
    assert!(page.contains("direct: java.nio.DirectByteBuffer") && page.contains("Areas over time"));
    assert!(!page.contains("NaN"));
}

#[test]
fn a_terminal_shows_as_many_causes_as_asked_for() {
    let change = kafka::change();
    assert!(change.causes.len() > 2, "the sample itself");
    let shown = |entries| memory::change(&change, &[]).terminal(view(120, entries));
    assert!(shown(Extent::Biggest(1)).contains(&format!("{} more rows", change.causes.len() - 1)));
    assert!(!shown(Extent::All).contains(" more rows"));
}

/// Quick snapshots, and a full one now and then.
fn watched() -> memory::Watch {
    let mut watch = memory::Watch::new();
    for (index, snapshot) in kafka::snapshots().into_iter().enumerate() {
        let full = index % 8 == 0;
        watch.add(snapshot.clone(), false);
        if full {
            watch.add(snapshot, true);
        }
    }
    watch
}

#[test]
fn the_line_for_a_pipe_is_the_golden_file() {
    expect_file!["golden/memory-watch-line.txt"].assert_eq(&watched().line(160));
    assert_eq!(watched().line(80), "2026-03-01T10:10:00Z  RSS 503.6 MiB  +15.4 MiB/min");
}

#[test]
fn rows_of_a_watch_say_what_grows_and_are_ordered_as_asked() {
    let watch = watched();
    let rss = watch.rss();
    assert_eq!((rss.resident.as_str(), rss.per_minute.as_str()), ("503.6 MiB", "+15.4 MiB"));
    assert_eq!(rss.since_start, "+97.3 MiB");
    assert!((1..=10).contains(&rss.over_time(10).chars().count()), "{}", rss.over_time(10));
    let names = |order| watch.areas(order).iter().map(|row| row.name).collect::<Vec<_>>();
    let growth = names(memory::WatchOrder::Growth);
    assert_eq!(growth[..3], ["direct and mapped buffers", "Java heap", "GC structures"]);
    assert_eq!(names(memory::WatchOrder::Size)[..2], ["Java heap", "direct and mapped buffers"]);
    let (by_name, mut sorted) = (names(memory::WatchOrder::Name), growth);
    sorted.sort_by_key(|name| name.to_lowercase());
    assert_eq!(by_name, sorted);
    let entries = watch.entries(Area::Buffers);
    let first = &entries[0];
    assert_eq!(first.name, "direct: java.nio.DirectByteBuffer");
    assert_eq!((first.resident.as_str(), first.since_start.as_str()), ("102.6 MiB", "+98.5 MiB"));
}

#[test]
fn an_area_that_only_owners_tell_has_a_dash_where_they_were_not_looked_for() {
    let mut quick = kafka::snapshot();
    quick.depth = Some(SnapshotDepth::Structures);
    quick.areas.retain(|area| area.area != Area::JvmWork);
    let mut watch = memory::Watch::new();
    watch.add(quick.clone(), false);
    assert!(
        watch
            .areas(memory::WatchOrder::Name)
            .iter()
            .all(|row| row.owners == "-" && row.name != "JVM internal")
    );
    assert!(watch.owners().is_none() && watch.entries(Area::JvmWork).is_empty());
    watch.add(kafka::snapshot(), true);
    let rows = watch.areas(memory::WatchOrder::Name);
    let row = rows.iter().find(|row| row.name == "JVM internal").expect("the full snapshot tells it");
    assert_eq!((row.resident.as_str(), row.per_minute.as_str(), row.since_start.as_str()), ("-", "-", "-"));
    assert!(row.owners.ends_with("MiB"), "{}", row.owners);
}

#[test]
fn a_quick_look_does_not_call_memory_ownerless_and_each_unknown_piece_has_its_kind() {
    let view = view(140, Extent::All);
    let mut snapshot = kafka::snapshot();
    let region = UnknownPiece {
        kind: PieceKind::Region,
        what: "7f00-7f01 rw-p".to_owned(),
        ..snapshot.unknown[0].clone()
    };
    snapshot.unknown.push(region);
    let full = in_full(&snapshot, view);
    for (kind, what) in
        [("block", "blocks of 4,112 bytes"), ("block", "blocks of 32 bytes"), ("region", "7f00-7f01")]
    {
        let line =
            full.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what} in {full}"));
        assert!(line.starts_with(kind), "{line}");
    }
    assert!(full.contains("(53.0 KiB malloc, no known owner, 0 B no known region)"), "both kinds: {full}");
    assert!(!full.contains("not searched for"));
    snapshot.depth = Some(SnapshotDepth::Structures);
    let quick = memory::document(&snapshot, &[], None).markdown();
    assert!(
        quick.contains("This is a quick sample") && quick.contains("owners were not searched for"),
        "{quick}"
    );
    assert!(!quick.contains("no rule could name"), "{quick}");
}

#[test]
fn a_look_that_left_owners_out_says_why_and_how_to_get_them_as_text_and_as_a_page() {
    let snapshot = kafka::snapshot_without_owners();
    let page = page(&snapshot, &[], None).replace("&#39;", "'").replace("<span class=\"kept\">", "");
    let page = page.replace("</span>", "");
    let text = in_full(&snapshot, view(140, Extent::All)).replace('\n', " ");
    let mut watch = memory::Watch::new();
    watch.add(snapshot.clone(), true);
    assert!(watch.owners().is_none(), "no column of owners that were not looked for");
    let sentence = memory::owners_left_out_sentence(snapshot.owners_left_out.as_ref().expect("just set"));
    for shown in [&page, &text, &sentence] {
        for part in
            ["Depth structures", "not split", "16,384.0 MiB", "8.00 s", "assay memory 4242 --depth owners"]
        {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
}

#[test]
fn full_snapshots_of_two_depths_are_not_compared_entry_by_entry_and_their_areas_over_time_say_so() {
    let owners = kafka::snapshot();
    let mut structures = kafka::snapshot();
    structures.depth = Some(SnapshotDepth::Structures);
    structures.monotonic_ns += 60_000_000_000;
    structures.entries[0].resident_bytes += 1 << 30;
    let mut watch = memory::Watch::new();
    watch.add(owners.clone(), true);
    watch.add(structures.clone(), true);
    let entries = watch.entries(Area::JavaHeap);
    assert!(!entries.is_empty() && entries.iter().all(|entry| entry.since_start == "-"), "{entries:?}");
    let page = page(&structures, &[owners, structures.clone()], None);
    assert!(page.contains("areas jump without growth"));
}

fn verdict(kind: GrowthKind) -> GrowthVerdict {
    let rate_bytes_per_s = Estimate { estimate: 524_288.0, low: Some(500_000.0), high: Some(550_000.0) };
    let grower = Grower {
        path: ["Java heap", "static field app.Cache.entries"].map(str::to_owned).to_vec(),
        ground: GrowthGround::LiveObjects,
        rate_bytes_per_s,
        since: "2026-03-01T10:00:00Z".to_owned(),
        since_ns: 60_000_000_000,
        before_bytes: 10 << 20,
        after_bytes: 40 << 20,
        explanation: "it holds 40.0 MiB in 9 objects: app.Entry 40.0 MiB in 9 objects".to_owned(),
    };
    GrowthVerdict {
        kind,
        snapshots: 7,
        elapsed_ns: 60_000_000_000,
        growing: (kind == GrowthKind::Growing).then_some(grower).into_iter().collect(),
        come_back_after_ns: (kind == GrowthKind::TooShort).then_some(60_000_000_000),
        evidence: vec!["live objects of the Java heap: 12.0 MiB at first".to_owned()],
    }
}

#[test]
fn a_verdict_on_growth_says_what_grows_how_fast_and_since_when() {
    let said = |kind| memory::growth_sentence(&verdict(kind));
    assert_eq!(
        said(GrowthKind::Growing),
        "Growing: Java heap: static field app.Cache.entries, +30.0 MiB a minute (+28.6 MiB to +31.5 MiB), since 2026-03-01T10:00:00Z \
         (7 snapshots over 60.0 s)"
    );
    let change = MemoryChange { growth: Some(verdict(GrowthKind::Growing)), ..kafka::change() };
    let text = memory::change(&change, &[]).terminal(view(200, Extent::All));
    assert!(
        text.contains("→ Begin with the continuing growth: Java heap: static field app.Cache.entries."),
        "{text}"
    );
    assert!(said(GrowthKind::LevelledOff).starts_with("Levelled off: nothing grows noticeably any more"));
    assert!(said(GrowthKind::Garbage).starts_with("Garbage, not a leak: "));
    assert!(said(GrowthKind::TooShort).starts_with("Too short to tell: come back after 60.0 s"));
}

#[test]
fn the_first_screen_of_a_change_begins_with_the_verdict_whatever_it_is() {
    let kinds = [
        (GrowthKind::Growing, "Growing: "),
        (GrowthKind::LevelledOff, "Levelled off: "),
        (GrowthKind::Garbage, "Garbage, not a leak: "),
        (GrowthKind::TooShort, "Too short to tell: "),
    ];
    for (kind, begin) in kinds {
        let change = MemoryChange { growth: Some(verdict(kind)), ..kafka::change() };
        let text = memory::change(&change, &[]).terminal(view(80, Extent::Short));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("RSS ") && lines[3].starts_with(begin), "{text}");
        assert_eq!(
            text.contains("Nothing to do."),
            ["Lev", "Gar"].iter().any(|of| begin.starts_with(of)),
            "{text}"
        );
        assert!(lines.len() <= 40, "{text}");
    }
    let plain = memory::change(&kafka::change(), &[]).terminal(view(80, Extent::Short));
    assert!(plain.lines().nth(2).is_some_and(|line| line.starts_with("RSS ")), "{plain}");
}

#[test]
fn the_verdict_is_in_every_form_of_a_change_and_of_a_record() {
    let change = MemoryChange { growth: Some(verdict(GrowthKind::Growing)), ..kafka::change() };
    let snapshot = MemoryReport { growth: Some(verdict(GrowthKind::Growing)), ..kafka::snapshot() };
    let documents = [memory::change(&change, &[]), memory::document(&snapshot, &[], None)];
    for document in documents {
        for text in [document.terminal(view(200, Extent::All)), document.markdown()] {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("static field app.Cache.entries"), "{words}");
            assert!(words.contains("app.Entry 40.0 MiB in 9 objects"), "{words}");
            assert!(words.contains("live objects of the Java heap: 12.0 MiB at first"), "{words}");
        }
        let mut page = Vec::new();
        document.write_html(&mut page).expect("a vector takes all bytes");
        let page = String::from_utf8(page).expect("the page is UTF-8").replace("<wbr>", "");
        assert!(page.contains("id=\"growth\"") && page.contains("app.Cache.entries"), "{page}");
    }
}
