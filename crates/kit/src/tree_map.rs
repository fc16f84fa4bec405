//! The tree map: areas as rectangles, what is in them as rectangles inside, and a view of its own for each branch that
//! can be opened. Every view is drawn here; the page only chooses which one it shows.

use crate::letters::{whole, within};
use crate::number::{bytes, percent};
use crate::squarify::{Rect, squarify};
use crate::svg::{Anchor, Svg};
use std::collections::BTreeSet;

/// Branches that have a view of their own, the areas first.
const VIEWS_MAX: usize = 40;
/// Rectangles inside one; smaller ones are drawn as one.
const TILES_MAX: usize = 40;
/// A rectangle below this size, in square units, is drawn together with others of its kind.
const TILE_MIN: f64 = 40.0;
const LABEL: f64 = 12.5;
/// Names of groups are bold, and bold letters wider.
const BOLD: f64 = LABEL * 1.12;
const LINE: f64 = 15.0;

/// Size of the drawing on screens, in user units.
pub const WIDE: (f64, f64) = (960.0, 400.0);
/// And on phones.
pub const NARROW: (f64, f64) = (344.0, 340.0);
/// And in a study's report, where there is one for each variant.
pub const SMALL: (f64, f64) = (340.0, 240.0);

/// One view of the map.
pub struct View {
    /// Anchor in the page.
    pub id: String,
    /// The branches above it, from the whole down: anchor and name.
    pub above: Vec<(String, String)>,
    /// What it shows, with its size.
    pub title: String,
    /// Drawing for screens.
    pub wide: String,
    /// Drawing for phones.
    pub narrow: String,
}

/// A part of the whole, and what is in it.
pub struct Tile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What a pointer shows behind name and size.
    pub note: String,
    /// What is in it, the biggest first.
    pub children: Vec<Tile>,
}

/// What a map shows.
pub struct TreeMapRoot<'a> {
    /// Its parts, the biggest first, each with the class of its fill.
    pub parts: &'a [(String, Tile)],
    /// Its size.
    pub bytes: u64,
    /// What it is: the name of the first view.
    pub name: &'a str,
    /// The whole that shares are parts of: `RSS`.
    pub of: &'a str,
}

/// A node that is drawn, with the anchor of its view and the look of its area.
#[derive(Clone)]
struct Item<'a> {
    node: &'a Tile,
    id: String,
    class: String,
}

fn items_of<'a>(whole: &TreeMapRoot<'a>) -> Vec<Item<'a>> {
    let item = |(index, (class, node)): (usize, &'a (String, Tile))| Item {
        node,
        id: format!("map-{index}"),
        class: class.clone(),
    };
    whole.parts.iter().enumerate().map(item).collect()
}

fn children_of<'a>(item: &Item<'a>) -> Vec<Item<'a>> {
    let child = |(index, node)| Item { node, id: format!("{}-{index}", item.id), class: item.class.clone() };
    item.node.children.iter().enumerate().map(child).collect()
}

/// Every view, the whole first.
pub fn views(of: &TreeMapRoot) -> Vec<View> {
    let whole = items_of(of);
    // Breadth first, so that a limit on their number leaves out the deepest.
    let mut queue: Vec<(Item, Vec<(String, String)>)> = Vec::new();
    let root = ("map".to_owned(), of.name.to_owned());
    let is_branch = |item: &Item| item.node.children.len() > 1;
    queue.extend(whole.iter().filter(|i| is_branch(i)).map(|item| (item.clone(), vec![root.clone()])));
    let mut next = 0;
    while next < queue.len().min(VIEWS_MAX) {
        let (item, mut above) = queue[next].clone();
        above.push((item.id.clone(), item.node.name.clone()));
        let branches = children_of(&item).into_iter().filter(is_branch);
        queue.extend(branches.map(|child| (child, above.clone())));
        next += 1;
    }
    queue.truncate(VIEWS_MAX);
    let open: BTreeSet<&str> = queue.iter().map(|(item, _)| item.id.as_str()).collect();
    let map = Map { open: &open, whole: of };
    let mut views = vec![map.view("map".to_owned(), Vec::new(), of.name, of.bytes, &whole)];
    for (item, above) in &queue {
        let children = children_of(item);
        views.push(map.view(item.id.clone(), above.clone(), &item.node.name, item.node.bytes, &children));
    }
    views
}

/// The whole as a picture without links.
pub fn picture(whole: &TreeMapRoot, size: (f64, f64), id: &str, title: &str) -> String {
    let map = Map { open: &BTreeSet::new(), whole };
    let items = items_of(whole);
    let mut svg = Svg::new(size.0, size.1);
    map.draw(&mut svg, &items, Rect { x: 0.0, y: 0.0, w: size.0, h: size.1 });
    svg.finish(id, title, &words(&items, whole.bytes))
}

/// What a map shows, for those who do not see it.
fn words(items: &[Item], rss_bytes: u64) -> String {
    let part =
        |i: &Item| format!("{}: {}, {}", i.node.name, bytes(i.node.bytes), percent(i.node.bytes, rss_bytes));
    items.iter().take(20).map(part).collect::<Vec<_>>().join(". ")
}

struct Map<'a> {
    open: &'a BTreeSet<&'a str>,
    whole: &'a TreeMapRoot<'a>,
}

impl Map<'_> {
    fn view(&self, id: String, above: Vec<(String, String)>, name: &str, sum: u64, items: &[Item]) -> View {
        let title =
            format!("{name}: {}, {} of {}", bytes(sum), percent(sum, self.whole.bytes), self.whole.of);
        let draw = |size: (f64, f64), id: String| {
            let mut svg = Svg::new(size.0, size.1);
            self.draw(&mut svg, items, Rect { x: 0.0, y: 0.0, w: size.0, h: size.1 });
            svg.finish_group(&id, &title, &words(items, self.whole.bytes))
        };
        let (wide, narrow) = (draw(WIDE, format!("{id}-wide")), draw(NARROW, format!("{id}-narrow")));
        View { id, above, title, wide, narrow }
    }

    fn draw(&self, svg: &mut Svg, items: &[Item], whole: Rect) {
        for (item, rect) in placed(items, whole) {
            let Placed::One(item) = item else {
                self.rest(svg, &item, rect);
                continue;
            };
            let tip = self.tip(item.node);
            let opens = self.open.contains(item.id.as_str());
            if opens {
                svg.open_link(&format!("#{}", item.id), &format!("{tip}; open"));
            }
            self.group(svg, item, rect, &tip);
            if opens {
                svg.close_link();
            }
        }
    }

    /// A rectangle with its name, and what is in it where there is room.
    fn group(&self, svg: &mut Svg, item: &Item, rect: Rect, tip: &str) {
        let roomy = rect.w > 76.0 && rect.h > 58.0 && item.node.children.len() > 1;
        if !roomy {
            svg.rect((rect.x, rect.y), (rect.w, rect.h), &format!("{} outer", item.class), tip);
            label(svg, rect, &item.node.name, Some(item.node.bytes));
            return;
        }
        svg.rect((rect.x, rect.y), (rect.w, rect.h), "area head outer", tip);
        let sum = bytes(item.node.bytes);
        let room = rect.w - 10.0;
        let with_sum = whole(&format!("{}  {sum}", item.node.name), room, BOLD);
        let name = with_sum.unwrap_or_else(|| within(&item.node.name, room, BOLD));
        svg.text((rect.x + 5.0, rect.y + LINE), Anchor::Start, "head-name", &name);
        for (child, inside) in placed(&children_of(item), rect.inner(3.0, LINE + 6.0)) {
            match child {
                Placed::One(child) => {
                    let tip = self.tip(child.node);
                    svg.rect((inside.x, inside.y), (inside.w, inside.h), &child.class, &tip);
                    label(svg, inside, &child.node.name, Some(child.node.bytes));
                }
                rest => self.rest(svg, &rest, inside),
            }
        }
    }

    fn rest(&self, svg: &mut Svg, rest: &Placed, rect: Rect) {
        let Placed::Rest { number, sum, class } = rest else { return };
        let name = format!("{number} more");
        let tip =
            format!("{name}: {}, {} of {}", bytes(*sum), percent(*sum, self.whole.bytes), self.whole.of);
        svg.rect((rect.x, rect.y), (rect.w, rect.h), class, &tip);
        label(svg, rect, &name, None);
    }

    fn tip(&self, node: &Tile) -> String {
        let share = percent(node.bytes, self.whole.bytes);
        format!("{}: {}, {share} of {}{}", node.name, bytes(node.bytes), self.whole.of, node.note)
    }
}

/// What a rectangle stands for.
enum Placed<'a, 'b> {
    One(&'b Item<'a>),
    Rest { number: usize, sum: u64, class: String },
}

/// Rectangles for items, the smallest ones together in one.
fn placed<'a, 'b>(items: &'b [Item<'a>], whole: Rect) -> Vec<(Placed<'a, 'b>, Rect)> {
    let total: f64 = items.iter().map(|i| i.node.bytes as f64).sum();
    let seen = |item: &Item| item.node.bytes as f64 / total * whole.w * whole.h >= TILE_MIN;
    let shown = items.iter().take(TILES_MAX).take_while(|item| seen(item)).count();
    let mut things: Vec<(Placed, f64)> =
        items[..shown].iter().map(|item| (Placed::One(item), item.node.bytes as f64)).collect();
    let rest = &items[shown..];
    let sum = rest.iter().fold(0u64, |sum, item| sum.saturating_add(item.node.bytes));
    if sum > 0 {
        let one_area = rest.iter().all(|item| item.class == rest[0].class);
        let class = if one_area { rest[0].class.clone() } else { "area mixed".to_owned() };
        things.push((Placed::Rest { number: rest.len(), sum, class }, sum as f64));
    }
    things.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sizes: Vec<f64> = things.iter().map(|thing| thing.1).collect();
    things.into_iter().map(|thing| thing.0).zip(squarify(&sizes, whole)).collect()
}

/// Name and size in a rectangle, as far as they fit.
fn label(svg: &mut Svg, rect: Rect, name: &str, sum: Option<u64>) {
    let fitting = |text: &str| whole(text, rect.w - 8.0, LABEL);
    if rect.h < LINE + 5.0 {
        return;
    }
    let Some(name) = fitting(name) else { return };
    svg.text((rect.x + 4.0, rect.y + LINE - 1.0), Anchor::Start, "lab", &name);
    let Some(sum) = sum.and_then(|sum| fitting(&bytes(sum))) else { return };
    if rect.h >= 2.0 * LINE + 5.0 {
        svg.text((rect.x + 4.0, rect.y + 2.0 * LINE - 1.0), Anchor::Start, "val", &sum);
    }
}
