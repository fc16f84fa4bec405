//! Forms of HTML pages, as browsers take them apart: the fields of one, and what forms there are.

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};

/// A form of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FormName {
    /// By its `id` or `name`, or by its `action`, which begins with `/` or a scheme; of that the path.
    Named(String),
    /// By its place on the page, from 1.
    Number(usize),
}

impl FormName {
    /// The value of the `form` attribute by which a field outside a form belongs to it.
    fn id(&self) -> Option<&[u8]> {
        match self {
            FormName::Named(name) => Some(name.as_bytes()),
            FormName::Number(_) => None,
        }
    }

    fn is(&self, number: usize, form: &Form) -> bool {
        match self {
            FormName::Number(wanted) => *wanted == number,
            FormName::Named(wanted) => {
                let is_it = |text: &Option<Vec<u8>>| text.as_deref() == Some(wanted.as_bytes());
                // What follows it differs between sessions.
                let path = form
                    .action
                    .as_deref()
                    .and_then(|action| action.split(|byte| b"?;#".contains(byte)).next());
                is_it(&form.id)
                    || is_it(&form.name)
                    || wanted.contains('/') && path == Some(wanted.as_bytes())
            }
        }
    }
}

/// What a page says of a form.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub id: Option<Vec<u8>>,
    pub name: Option<Vec<u8>>,
    pub action: Option<Vec<u8>>,
    /// Names of the fields that stand in it.
    pub fields: Vec<Vec<u8>>,
}

/// A field of a form that has a name and is sent.
pub(crate) struct Field<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
    pub is_hidden: bool,
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<Vec<u8>> {
    tag.attributes.get(name.as_bytes()).map(|value| value.to_vec())
}

fn form_of(tag: &StartTag<()>) -> Form {
    let [id, name, action] = ["id", "name", "action"].map(|key| attribute(tag, key));
    Form { id, name, action, fields: Vec::new() }
}

fn tokens(body: &[u8]) -> impl Iterator<Item = Token<()>> {
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles contain no tags.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(body, emitter).flatten()
}

/// Goes through the fields of a form, or of all of them; says whether the form is there. A field belongs to the form that it stands in,
/// or whose `id` its own `form` attribute names (HTML, 4.10.18.3).
pub(crate) fn fields(body: &[u8], form: Option<&FormName>, each: &mut dyn FnMut(&Field)) -> bool {
    let (mut is_there, mut is_within, mut forms) = (form.is_none(), form.is_none(), 0);
    let mut id = form.and_then(FormName::id).map(<[u8]>::to_vec);
    for token in tokens(body) {
        match (token, form) {
            (Token::StartTag(tag), Some(wanted)) if **tag.name == *b"form" => {
                let this = form_of(&tag);
                forms += 1;
                is_within = wanted.is(forms, &this);
                is_there |= is_within;
                if is_within && this.id.is_some() {
                    id = this.id;
                }
            }
            (Token::EndTag(tag), Some(_)) if **tag.name == *b"form" => is_within = false,
            (Token::StartTag(tag), _) if **tag.name == *b"input" => {
                let belongs = match attribute(&tag, "form") {
                    Some(of) => form.is_none() || id.as_deref() == Some(&of),
                    None => is_within,
                };
                let name = attribute(&tag, "name").filter(|name| !name.is_empty());
                let (Some(name), true, false) =
                    (name, belongs, tag.attributes.contains_key(b"disabled".as_slice()))
                else {
                    continue;
                };
                let value = attribute(&tag, "value").unwrap_or_default();
                let is_hidden =
                    attribute(&tag, "type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"hidden"));
                each(&Field { name: &name, value: &value, is_hidden });
            }
            _ => (),
        }
    }
    is_there
}

/// The forms of a page, at most so many.
pub(crate) fn forms(body: &[u8], count_max: usize) -> Vec<Form> {
    let (mut all, mut is_within): (Vec<Form>, bool) = (Vec::new(), false);
    for token in tokens(body) {
        match token {
            Token::StartTag(tag) if **tag.name == *b"form" => {
                if all.len() == count_max {
                    break;
                }
                all.push(form_of(&tag));
                is_within = true;
            }
            Token::EndTag(tag) if **tag.name == *b"form" => is_within = false,
            Token::StartTag(tag) if **tag.name == *b"input" && is_within => {
                if let (Some(form), Some(name)) = (all.last_mut(), attribute(&tag, "name")) {
                    form.fields.push(name);
                }
            }
            _ => (),
        }
    }
    all
}

/// The name of the first field with this value.
pub(crate) fn field_with(body: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let mut found = None;
    fields(body, None, &mut |one: &Field| {
        if found.is_none() && one.value == value {
            found = Some(one.name.to_vec());
        }
    });
    found
}
