//! Rectangles of given areas that fill a rectangle, each as square as can be: the squarified tree map of Bruls,
//! Huizing and van Wijk (VisSym 2000).

/// A rectangle in user units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// The rectangle without a margin on each side and a strip at its top; of size 0 where that leaves nothing.
    pub fn inner(self, margin: f64, top: f64) -> Rect {
        let (w, h) = ((self.w - 2.0 * margin).max(0.0), (self.h - top - margin).max(0.0));
        Rect { x: self.x + margin, y: self.y + top, w, h }
    }
}

/// A rectangle for each size, in the order given; sizes should fall. Rectangles are proportional to the sizes and fill
/// `whole` without gap or overlap. Sizes that are not positive get a rectangle of no area.
pub fn squarify(sizes: &[f64], whole: Rect) -> Vec<Rect> {
    let total: f64 = sizes.iter().filter(|s| s.is_finite() && **s > 0.0).sum();
    let mut placed = Vec::with_capacity(sizes.len());
    if total <= 0.0 || whole.w <= 0.0 || whole.h <= 0.0 {
        placed.resize(sizes.len(), Rect { w: 0.0, h: 0.0, ..whole });
        return placed;
    }
    let scale = whole.w * whole.h / total;
    let areas: Vec<f64> =
        sizes.iter().map(|s| if s.is_finite() && *s > 0.0 { s * scale } else { 0.0 }).collect();
    let mut rest = whole;
    let mut from = 0;
    while from < areas.len() {
        let to = row_end(&areas, from, rest.w.min(rest.h));
        rest = lay_row(&areas[from..to], rest, &mut placed);
        from = to;
    }
    placed
}

/// End of the row that starts at `from`: the row grows as long as its worst shape gets no worse.
fn row_end(areas: &[f64], from: usize, side: f64) -> usize {
    let (mut sum, mut worst) = (0.0, f64::INFINITY);
    for (offset, area) in areas[from..].iter().enumerate() {
        sum += area;
        // The first has the largest area and the last the smallest.
        let (largest, smallest) = (areas[from], area.max(f64::MIN_POSITIVE));
        let shape = (side * side * largest / (sum * sum)).max(sum * sum / (side * side * smallest));
        if offset > 0 && worst < shape {
            return from + offset;
        }
        worst = shape;
    }
    areas.len()
}

/// Lays a row along the shorter side and returns what is left.
fn lay_row(row: &[f64], rest: Rect, placed: &mut Vec<Rect>) -> Rect {
    let sum: f64 = row.iter().sum();
    let upright = rest.h <= rest.w;
    let side = if upright { rest.h } else { rest.w };
    let thick = if side > 0.0 { (sum / side).min(if upright { rest.w } else { rest.h }) } else { 0.0 };
    let mut at = 0.0;
    for area in row {
        let long = if thick > 0.0 { area / thick } else { 0.0 };
        placed.push(if upright {
            Rect { x: rest.x, y: rest.y + at, w: thick, h: long }
        } else {
            Rect { x: rest.x + at, y: rest.y, w: long, h: thick }
        });
        at += long;
    }
    if upright {
        Rect { x: rest.x + thick, w: rest.w - thick, ..rest }
    } else {
        Rect { y: rest.y + thick, h: rest.h - thick, ..rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Rect = Rect { x: 10.0, y: 20.0, w: 600.0, h: 400.0 };

    fn overlap(a: Rect, b: Rect) -> f64 {
        let across = (a.x + a.w).min(b.x + b.w) - a.x.max(b.x);
        let down = (a.y + a.h).min(b.y + b.h) - a.y.max(b.y);
        across.max(0.0) * down.max(0.0)
    }

    #[test]
    fn the_paper_s_example_comes_out_as_printed() {
        // Sizes 6 6 4 3 2 2 1 in 6 by 4: the first two stand at the left, 3 wide and 2 high each.
        let rects = squarify(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], Rect { x: 0.0, y: 0.0, w: 6.0, h: 4.0 });
        assert_eq!(rects[0], Rect { x: 0.0, y: 0.0, w: 3.0, h: 2.0 });
        assert_eq!(rects[1], Rect { x: 0.0, y: 2.0, w: 3.0, h: 2.0 });
        let round = |v: f64| (v * 100.0).round() / 100.0;
        assert_eq!((round(rects[2].w), round(rects[2].h)), (1.71, 2.33));
    }

    #[test]
    fn rectangles_are_proportional_and_fill_the_whole_without_overlap() {
        let mut noise = 7u64;
        for count in 1..60 {
            let mut sizes: Vec<f64> = (0..count)
                .map(|_| {
                    noise =
                        noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    1.0 + (noise >> 40) as f64
                })
                .collect();
            sizes.sort_by(|a, b| b.total_cmp(a));
            let rects = squarify(&sizes, WHOLE);
            let total: f64 = sizes.iter().sum();
            for (index, (size, rect)) in sizes.iter().zip(&rects).enumerate() {
                let wanted = size / total * WHOLE.w * WHOLE.h;
                assert!((rect.w * rect.h - wanted).abs() < 1e-6 * WHOLE.w * WHOLE.h, "{count}: {index}");
                assert!((overlap(*rect, WHOLE) - wanted).abs() < 1e-6 * WHOLE.w * WHOLE.h, "inside");
                assert!(rects[..index].iter().all(|other| overlap(*rect, *other) < 1e-6), "{count}: {index}");
            }
        }
    }

    #[test]
    fn what_has_no_size_gets_no_area() {
        let rects = squarify(&[5.0, 0.0, f64::NAN], WHOLE);
        assert_eq!(rects.len(), 3);
        assert_eq!(rects[0], WHOLE);
        assert!(rects[1..].iter().all(|r| r.w * r.h == 0.0));
        assert!(squarify(&[0.0, -1.0], WHOLE).iter().all(|r| r.w * r.h == 0.0));
        assert!(squarify(&[], WHOLE).is_empty());
    }
}
