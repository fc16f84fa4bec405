//! The tree map of a snapshot: all views of it, of which the page shows one (`web/memory.js`); forms without drawings have a line for each area.

use super::area_rows;
use super::tree::{self, AreaNode};
use assay_kit::document::Figure;
use assay_kit::key;
use assay_kit::stack::fill_class;
use assay_kit::text::html;
use assay_kit::tree_map::{View, views};
use assay_model::{Area, MemoryReport};

/// The map, with areas as its key.
pub fn figure(areas: &[AreaNode], report: &MemoryReport) -> Figure {
    let has = |area: &Area| tree::area_bytes(areas, *area) > 0;
    let key =
        key::fills(Area::ALL.into_iter().filter(has).map(|area| (fill_class(area.look()), area.title())));
    let views = views(&tree::map(&tree::tiles(areas), report.rss_bytes));
    let drawings = format!("<div class=\"map\">\n{}</div>\n", views.iter().map(view).collect::<String>());
    let rows = area_rows::rows(areas, report.rss_bytes);
    let figure = Figure::new("memory-map", "areas and entries by size", drawings).key(key);
    match areas.is_empty() {
        true => figure,
        false => figure.in_text(move |columns, ink| area_rows::draw(&rows, columns, ink)),
    }
    .caption("Area is resident memory. Choose one to see its parts. Esc goes back up.")
}

/// A view, under the way back to the whole.
fn view(view: &View) -> String {
    let class = if view.above.is_empty() { "view whole" } else { "view" };
    let link =
        |(id, name): &(String, String)| format!("<a href=\"#{}\"><bdi>{}</bdi></a> › ", html(id), html(name));
    let above: String = view.above.iter().map(link).collect();
    format!(
        "<div class=\"{class}\" id=\"{}\">\n<p class=\"crumbs\">{above}<strong><bdi>{}</bdi></strong></p>\n\
         <div class=\"map-wide\">{}</div><div class=\"map-narrow\">{}</div>\n</div>\n",
        html(&view.id),
        html(&view.title),
        view.wide,
        view.narrow
    )
}
