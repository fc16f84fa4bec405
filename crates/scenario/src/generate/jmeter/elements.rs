//! The elements of a JMeter plan: properties by name, tables of names and values, extractors.

use crate::extract::ValueLocation;
use crate::generate::imported::pointer;
use memchr::memmem::Finder;
use regex::bytes::Regex;
use roxmltree::{Document, Node, ParsingOptions};

/// Most elements and texts of a plan.
const NODES_MAX: u32 = 2_000_000;

/// Takes a plan apart. Entities of its own are refused: they may grow without end.
pub(super) fn parse(text: &str) -> Result<Document<'_>, String> {
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| error.to_string())
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a, 'input>(pub Node<'a, 'input>);

impl<'a, 'input> Element<'a, 'input> {
    pub fn tag(&self) -> &'a str {
        self.0.tag_name().name()
    }

    /// The name of a property.
    pub fn name(&self) -> &'a str {
        self.0.attribute("name").unwrap_or_default()
    }

    /// The name that people gave it.
    pub fn label(&self) -> &'a str {
        self.0.attribute("testname").unwrap_or_default()
    }

    pub fn is_enabled(&self) -> bool {
        self.0.attribute("enabled") != Some("false")
    }

    pub fn children(self) -> impl Iterator<Item = Element<'a, 'input>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    pub fn own_text(&self) -> &'a str {
        self.0.text().unwrap_or_default()
    }

    /// The property of this name.
    pub fn inner(self, name: &str) -> Option<Element<'a, 'input>> {
        self.children().find(|child| child.name() == name)
    }

    /// The text of the property of this name; empty without one.
    pub fn text(self, name: &str) -> &'a str {
        self.inner(name).map_or("", |child| child.own_text()).trim()
    }

    pub fn collection(self, name: &str) -> Option<Element<'a, 'input>> {
        self.inner(name)
    }
}

/// The elements of a collection, each as a name and a value.
pub(super) fn pairs(collection: Option<Element<'_, '_>>, keys: (&str, &str)) -> Vec<(String, String)> {
    let pair = |one: Element<'_, '_>| (one.text(keys.0).to_owned(), one.text(keys.1).to_owned());
    collection
        .into_iter()
        .flat_map(Element::children)
        .map(pair)
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

/// The values of a collection's elements, whether or not they have names.
pub(super) fn values(collection: Option<Element<'_, '_>>, key: &str) -> Vec<String> {
    collection.into_iter().flat_map(Element::children).map(|one| one.text(key).to_owned()).collect()
}

/// What an extractor takes and under which name; absent for what is none, and why where there is nothing like it here.
pub(super) fn extractor(one: Element<'_, '_>) -> Option<Result<(String, ValueLocation), String>> {
    let tag = one.tag();
    let (variable, place) = match tag {
        "RegexExtractor" => (one.text("RegexExtractor.refname"), of_regex(one)),
        "JSONPostProcessor" => {
            let path = one.text("JSONPostProcessor.jsonPathExprs");
            let place = pointer(path).filter(|_| !path.contains(';')).map(ValueLocation::Json);
            (one.text("JSONPostProcessor.referenceNames"), place)
        }
        "BoundaryExtractor" => {
            let finder = |text: &str| Box::new(Finder::new(text.as_bytes()).into_owned());
            let [after, before] =
                ["lboundary", "rboundary"].map(|end| one.text(&format!("BoundaryExtractor.{end}")));
            let is_whole = !after.is_empty() && !before.is_empty();
            let place =
                is_whole.then(|| ValueLocation::Between { after: finder(after), before: finder(before) });
            (one.text("BoundaryExtractor.refname"), place)
        }
        "HtmlExtractor" => (one.text("HtmlExtractor.refname"), of_field(one)),
        "XPathExtractor" | "XPath2Extractor" | "JMESPathExtractor" => ("", None),
        _ => return None,
    };
    Some(match place.filter(|_| !variable.is_empty()) {
        Some(place) => Ok((variable.to_owned(), place)),
        None => Err(format!("{tag} of {variable:?}: write it as an [extract]")),
    })
}

/// Of the body or of a header: its first group, which is all that is taken here.
fn of_regex(one: Element<'_, '_>) -> Option<ValueLocation> {
    let is_of_body = matches!(one.text("RegexExtractor.useHeaders"), "" | "false" | "unescaped");
    let takes_first = matches!(one.text("RegexExtractor.template"), "" | "$1$")
        && matches!(one.text("RegexExtractor.match_number"), "" | "0" | "1");
    let regex = Regex::new(one.text("RegexExtractor.regex")).ok()?;
    (is_of_body && takes_first && regex.captures_len() > 1).then_some(ValueLocation::Regex(regex))
}

/// The value of a form's field, the one thing of HTML that is taken by its name here: `input[name=csrf]`.
fn of_field(one: Element<'_, '_>) -> Option<ValueLocation> {
    let selector = one.text("HtmlExtractor.expr");
    let (_, rest) = selector.split_once("input[name=").or_else(|| selector.split_once("[name="))?;
    let (field, behind) = rest.split_once(']')?;
    let field = field.trim_matches(['"', '\'']);
    let is_value = one.text("HtmlExtractor.attribute") == "value" && behind.is_empty() && !field.is_empty();
    is_value.then(|| ValueLocation::Field { form: None, field: field.to_owned() })
}
