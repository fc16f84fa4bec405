//! Keys of a study's figures.

use super::super::grid::Grid;
use assay_kit::key::{self, line_mark, marks};
use assay_kit::stack::fill_class;
use assay_model::Area;

/// Key of the series: colour, marker and dash by level of the first factor.
pub fn series_key(grid: &Grid) -> String {
    let item = |(index, level): (usize, &String)| (line_mark(grid.looks[index], false), level.clone());
    marks(&grid.series.iter().enumerate().map(item).collect::<Vec<_>>())
}

/// Key of the areas that occur: colour and pattern.
pub fn area_key(occurs: impl Fn(&Area) -> bool) -> String {
    let areas = Area::ALL.into_iter().filter(|area| occurs(area));
    key::fills(areas.map(|area| (fill_class(area.look()), area.title())))
}
