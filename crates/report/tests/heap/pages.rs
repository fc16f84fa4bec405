//! Heaps in every mode as people see them: golden files, sums, hostile values, forms that hold nothing.

use super::sample;
use crate::golden;
use assay_report::*;

fn view(width: u16) -> TerminalView {
    TerminalView { width, color: false, extent: Extent::All }
}

/// What each golden file is of.
fn documents() -> Vec<(&'static str, Document)> {
    vec![
        ("heap-prediction", heap::document(&sample::prediction(), 10)),
        ("heap-layout", heap::layouts(&sample::layouts())),
        ("heap-layout-loader", heap::layouts(&sample::loader_layouts())),
        ("heap-layout-contended", heap::layouts(&sample::contended_layouts())),
        ("heap-modes", heap::modes(&sample::modes::modes())),
    ]
}

#[test]
fn texts_of_the_sample_are_the_golden_files() {
    for (name, document) in documents() {
        golden::expect(name, &document);
    }
}

#[test]
fn a_dump_without_its_version_is_of_all_releases_that_it_can_be() {
    let mut heap = sample::prediction();
    let dump = heap.dump.as_mut().expect("a dump");
    (dump.jdk, dump.jdk_version) = (None, Some("15 to 18".to_owned()));
    let text = heap::document(&heap, 10).terminal(view(120));
    assert!(text.contains("Heap of JDK 15 to 18, read from"), "{text}");
}

#[test]
fn a_heap_that_lies_elsewhere_than_computed_is_a_contradiction() {
    let mut modes = sample::modes::modes();
    let text = heap::modes(&modes).terminal(view(100));
    assert!(!text.contains("as computed, but"), "{text}");
    let cell =
        modes.cells.iter_mut().find(|c| c.computed_base_address.is_some() && c.verified_mode.is_some());
    let cell = cell.expect("a cell with both");
    cell.base_address = cell.computed_base_address.map(|base| base + (1 << 20));
    let text = heap::modes(&modes).terminal(view(100));
    assert!(text.contains("as computed, but not at the computed"), "{text}");
    assert!(text.contains("2 contradicted"), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 100, 140, 300] {
        let hostile = sample::hostile_prediction();
        let mut layouts = sample::loader_layouts();
        layouts.layouts.extend(hostile.example.clone());
        let texts = [
            heap::document(&sample::prediction(), 99).terminal(view(width)),
            heap::document(&hostile, 99).terminal(view(width)),
            heap::document(&sample::empty_prediction(), 9).terminal(view(width)),
            heap::layouts(&layouts).terminal(view(width)),
            heap::layouts(&sample::contended_layouts()).terminal(view(width)),
            heap::modes(&sample::modes::modes()).terminal(view(width)),
            heap::modes(&sample::modes::empty_modes()).terminal(view(width)),
        ];
        for text in texts {
            let widest = text.lines().max_by_key(|l| l.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= usize::from(width), "{widest:?} at {width}");
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202E}') && !text.contains("NaN"));
        }
    }
}

#[test]
fn styles_are_written_only_where_they_are_wanted() {
    let styled = TerminalView { color: true, ..view(100) };
    let plain = heap::document(&sample::prediction(), 5).terminal(view(100));
    let coloured = heap::document(&sample::prediction(), 5).terminal(styled);
    let mut bare = String::new();
    let mut rest = coloured.as_str();
    while let Some((text, after)) = rest.split_once("\x1b[") {
        bare += text;
        rest = after.split_once('m').expect("a style ends").1;
    }
    assert!(coloured.len() > plain.len());
    assert_eq!(bare + rest, plain);
}

#[test]
fn csv_has_every_class_in_every_model_and_adds_up() {
    let heap = sample::prediction();
    let mut out = Vec::new();
    heap::data(&heap).write_csv(&mut out).expect("a vector takes all bytes");
    let csv = String::from_utf8(out).expect("CSV is UTF-8");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("model,class,instances,bytes"));
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), heap.models.iter().map(|m| m.classes.len()).sum::<usize>());
    for model in &heap.models {
        let of_model = rows.iter().filter(|r| r[0] == model.name.name());
        let sum: u64 = of_model.map(|r| r[3].parse::<u64>().expect("bytes")).sum();
        assert_eq!(sum, model.total_bytes, "{}", model.name.name());
    }
}

fn page(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("the page is UTF-8")
}

#[test]
fn pages_refer_to_nothing_outside_themselves_and_are_the_same_each_time() {
    let make = || {
        let (heap, layouts, modes) =
            (sample::prediction(), sample::contended_layouts(), sample::modes::modes());
        [
            page(|out| heap::document(&heap, 10).write_html(out)),
            page(|out| heap::layouts(&layouts).write_html(out)),
            page(|out| heap::modes(&modes).write_html(out)),
        ]
    };
    let pages = make();
    assert_eq!(pages, make());
    for page in pages {
        for reference in ["http:", "https:", "@import", "fetch(", "src=", "xmlhttprequest"] {
            assert!(!page.to_lowercase().contains(reference), "{reference} in the page");
        }
        for target in page.split("href=\"").skip(1) {
            assert!(target.starts_with('#') || target.starts_with("data:,\""), "{}", &target[..40]);
        }
        assert!(!page.contains("NaN") && !page.contains(">inf"));
    }
}

#[test]
fn every_page_has_one_action_of_one_sentence() {
    let mut modes = sample::modes::modes();
    modes.advice.clear();
    let heap = sample::prediction();
    let empty = sample::empty_prediction();
    let layouts = sample::layouts();
    let pages = [
        page(|out| heap::modes(&modes).write_html(out)),
        page(|out| heap::modes(&sample::modes::modes()).write_html(out)),
        page(|out| heap::document(&heap, 10).write_html(out)),
        page(|out| heap::document(&empty, 10).write_html(out)),
        page(|out| heap::layouts(&layouts).write_html(out)),
    ];
    for page in pages {
        let actions: Vec<&str> = page.split("<p class=\"action\"><bdi>").skip(1).collect();
        let action = actions.first().and_then(|a| a.split("</bdi>").next()).expect("an action");
        assert_eq!(actions.len(), 1);
        assert!(action.starts_with('→') && !action.contains(". "), "{action}");
    }
}

#[test]
fn the_page_of_modes_says_whose_addresses_it_draws() {
    let mut modes = sample::modes::modes();
    modes.address_map_java = Some("/opt/jdk <25>".to_owned());
    let drawn = page(|out| heap::modes(&modes).write_html(out));
    assert!(drawn.contains("Addresses in /opt/jdk &lt;25&gt;, to scale"), "the JVM of the map");
    modes.address_map_java = None;
    assert!(page(|out| heap::modes(&modes).write_html(out)).contains("Addresses to scale"));
}

#[test]
fn hostile_names_are_text_and_forms_that_hold_nothing_make_pages() {
    let hostile = sample::hostile_prediction();
    let mut modes = sample::modes::modes();
    for cell in &mut modes.cells {
        cell.java = "\"><script>alert(1)</script>\u{202E}".to_owned();
        cell.collector = "<b>\u{1b}[31m".to_owned();
        cell.decided_by = "\"'><script>".to_owned();
        cell.max_heap_bytes = cell.max_heap_bytes.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    for range in &mut modes.address_map {
        std::mem::swap(&mut range.start_address, &mut range.end_address);
        range.what = "</svg><script>".to_owned();
    }
    modes.thresholds.iter_mut().for_each(|c| c.largest_max_heap_bytes = u64::MAX);
    modes.address_map_java = Some("<script>".to_owned());
    let empty = sample::empty_prediction();
    let nothing = assay_model::HeapLayouts { layouts: vec![], ..sample::layouts() };
    let pages = [
        page(|out| heap::document(&hostile, 10).write_html(out)),
        page(|out| heap::document(&empty, 10).write_html(out)),
        page(|out| heap::layouts(&nothing).write_html(out)),
        page(|out| heap::modes(&modes).write_html(out)),
        page(|out| heap::modes(&sample::modes::empty_modes()).write_html(out)),
    ];
    for page in pages {
        assert_eq!(page.matches("<script>").count(), 1, "only the page's own script");
        assert!(!page.contains('\u{202E}') && !page.contains('\u{1b}') && !page.contains("NaN"));
    }
    let text = heap::modes(&modes).terminal(view(80));
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn classes_beyond_the_table_are_summed_in_its_last_row() {
    let mut heap = sample::prediction();
    for model in &mut heap.models {
        for index in 0..400u64 {
            let name = format!("com.example.Generated{index}");
            model.classes.push(assay_model::ClassFootprint { name, instances: 1, bytes: 16 });
            model.total_bytes += 16;
        }
    }
    let page = page(|out| heap::document(&heap, 10).write_html(out));
    let table =
        page.split("id=\"by-model\"").nth(1).expect("the table").split("</table>").next().expect("its end");
    let bytes = |row: &str| -> Vec<u64> {
        let cells = row.split("data-bytes=\"").skip(1);
        cells.map(|c| c.split('"').next().and_then(|n| n.parse().ok()).expect("bytes")).collect()
    };
    let (head, body) = table.split_once("<tbody>").expect("a body");
    let mut sums = vec![0; heap.models.len()];
    for row in body.split("<tr").skip(1) {
        bytes(row).into_iter().zip(&mut sums).for_each(|(b, sum)| *sum += b);
    }
    assert_eq!(bytes(head), sums);
    assert!(body.contains("more classes") && body.contains("class=\"rest\""));
}
