//! Which file of a crate uses which other, which folder which other, read from the sources, and the cycles in that.
//!
//! The rule for files. File A uses file B if A names an item that B defines: in a `use`, or by a path in its code (`crate::b::item`,
//! `super::item`, `b::item`), through whatever modules and re-exports the path leads. So
//! - that a parent declares its children is no use, and neither is a path that ends at a module;
//! - that a parent re-exports what a child defines (`pub use child::Item`) is a use only if the parent's own code names
//!   `Item` too; who imports it from the parent uses the child;
//! - an item that the parent itself defines (`super::Item`) is the parent's: a child that needs it, and a parent that needs
//!   the child, are a cycle. So is `use super::*` of a parent that calls the child;
//! - code for tests alone (`#[cfg(test)]`) is left out, as development dependencies are between crates.
//!
//! Methods are not found: a call `value.method()` names no file.
//!
//! The rule for folders. In each folder, its files and folders use each other in one direction, too: if a file in `check/` uses one in
//! `snapshot/`, none in `snapshot/` uses one in `check/`, also not by way of a file beside them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bounds re-exports that lead to each other.
const DEPTH_MAX: usize = 16;
const DEFINING: [&str; 8] = ["struct", "enum", "fn", "const", "static", "type", "trait", "union"];

/// A module: a file, or a part of one.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    parent: usize,
    children: BTreeMap<String, usize>,
    /// Items that it defines itself.
    defined: BTreeSet<String>,
    /// What it imports: the name here, and the path.
    imports: Vec<Import>,
    /// Paths of two or more names in its code.
    paths: BTreeSet<Vec<String>>,
    /// All names in its code outside of `use`.
    names: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Import {
    /// `*` for all of a module.
    name: String,
    path: Vec<String>,
    is_re_export: bool,
}

/// A crate's modules; the first is its root.
#[derive(Debug, Default)]
pub struct Imports {
    modules: Vec<Module>,
}

impl Imports {
    /// Of the crate whose root is this file.
    pub fn of(root: &Path) -> Imports {
        let mut imports = Imports::default();
        let folder = root.parent().expect("a folder").to_owned();
        imports.add_file(0, root, &folder);
        imports
    }

    fn add_file(&mut self, parent: usize, file: &Path, folder: &Path) -> usize {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let module = self.add_module(parent, file);
        self.scan(tokens, module, folder, true);
        module
    }

    fn add_module(&mut self, parent: usize, file: &Path) -> usize {
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        self.modules.len() - 1
    }

    /// Takes tokens of a module; `folder` is where the files of its children are, `is_top` whether items are its own.
    fn scan(&mut self, tokens: TokenStream, module: usize, folder: &Path, is_top: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let name_at = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
            _ => None,
        };
        let is_punct = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == wanted);
        let is_path = |at: usize| is_punct(at, ':') && is_punct(at + 1, ':');
        let (mut at, mut is_public, mut path_attribute) = (0, false, None);
        while at < tokens.len() {
            if is_punct(at, '#') {
                let after = if is_punct(at + 1, '!') { at + 2 } else { at + 1 };
                let Some(TokenTree::Group(attribute)) = tokens.get(after) else {
                    at += 1;
                    continue;
                };
                let text = attribute.stream().to_string();
                at = after + 1;
                if text.starts_with("cfg") && text.contains("test") && !text.contains("not") {
                    at = end_of_item(&tokens, at);
                } else if let Some(path) = text.strip_prefix("path = ") {
                    path_attribute = Some(path.trim_matches('"').to_owned());
                }
                continue;
            }
            let Some(name) = name_at(at) else {
                if let TokenTree::Group(group) = &tokens[at] {
                    self.scan(group.stream(), module, folder, false);
                }
                if is_punct(at, ';') {
                    is_public = false;
                }
                at += 1;
                continue;
            };
            match name.as_str() {
                "pub" => {
                    is_public = true;
                    let is_limited = matches!(tokens.get(at + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                    at += if is_limited { 2 } else { 1 };
                }
                "use" => {
                    let end = (at..tokens.len()).find(|at| is_punct(*at, ';')).unwrap_or(tokens.len());
                    let mut found = Vec::new();
                    use_tree(&tokens[at + 1..end], &[], &mut found);
                    let found =
                        found.into_iter().map(|(name, path)| Import { name, path, is_re_export: is_public });
                    self.modules[module].imports.extend(found);
                    (at, is_public) = (end, false);
                }
                "mod" if name_at(at + 1).is_some() => {
                    let child_name = name_at(at + 1).unwrap_or_default();
                    let child = match tokens.get(at + 2) {
                        Some(TokenTree::Group(body)) => {
                            let file = self.modules[module].file.clone();
                            let child = self.add_module(module, &file);
                            self.scan(body.stream(), child, &folder.join(&child_name), true);
                            child
                        }
                        _ => {
                            let flat = folder.join(format!("{child_name}.rs"));
                            let nested = folder.join(&child_name).join("mod.rs");
                            let file = match path_attribute.take() {
                                Some(path) => {
                                    self.modules[module].file.parent().expect("a folder").join(path)
                                }
                                None if flat.exists() => flat,
                                None => nested,
                            };
                            self.add_file(module, &file, &folder.join(&child_name))
                        }
                    };
                    self.modules[module].children.insert(child_name, child);
                    (at, is_public) = (at + 3, false);
                }
                word if is_top && DEFINING.contains(&word) && name_at(at + 1).is_some() => {
                    let mut defined = at + 1;
                    // `const fn name`, `static mut NAME`
                    while name_at(defined).is_some_and(|n| {
                        DEFINING.contains(&n.as_str()) || ["mut", "unsafe"].contains(&n.as_str())
                    }) {
                        defined += 1;
                    }
                    self.modules[module].defined.extend(name_at(defined));
                    (at, is_public) = (defined + 1, false);
                }
                _ => {
                    let mut path = vec![name];
                    at += 1;
                    while is_path(at) && name_at(at + 2).is_some() {
                        path.extend(name_at(at + 2));
                        at += 3;
                    }
                    self.modules[module].names.insert(path[0].clone());
                    if 1 < path.len() {
                        self.modules[module].paths.insert(path);
                    }
                }
            }
        }
    }

    /// The module whose own item a path names; `None` for another crate's, a local name, and for a module as such.
    fn definer(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        self.walk(from, path, depth).and_then(|end| match end {
            End::Item(module) => Some(module),
            End::Module(_) => None,
        })
    }

    fn walk(&self, from: usize, path: &[String], depth: usize) -> Option<End> {
        let (first, rest) = path.split_first()?;
        if depth == DEPTH_MAX {
            return None;
        }
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (0, rest),
            "self" => (from, rest),
            "super" => (self.modules[from].parent, rest),
            name => match self.named(from, name, depth)? {
                End::Module(module) => (module, rest),
                item => return Some(item),
            },
        };
        while let Some((name, more)) = rest.split_first() {
            if name == "super" {
                module = self.modules[module].parent;
            } else {
                match self.named(module, name, depth) {
                    Some(End::Module(child)) => module = child,
                    Some(item) => return Some(item),
                    None => return None,
                }
            }
            rest = more;
        }
        Some(End::Module(module))
    }

    /// What a name is in a module.
    fn named(&self, module: usize, name: &str, depth: usize) -> Option<End> {
        let here = &self.modules[module];
        if let Some(child) = here.children.get(name) {
            return Some(End::Module(*child));
        }
        if here.defined.contains(name) {
            return Some(End::Item(module));
        }
        if name == "*" {
            return Some(End::Item(module));
        }
        if let Some(import) = here.imports.iter().find(|import| import.name == name) {
            // `use name::...` of another crate: its first name is not one of this module.
            return (import.path.first().is_none_or(|first| first != name))
                .then(|| self.walk(module, &import.path, depth + 1))
                .flatten();
        }
        let globs = here.imports.iter().filter(|import| import.name == "*");
        globs
            .filter_map(|glob| match self.walk(module, glob.path.split_last()?.1, depth + 1)? {
                End::Module(of) if of != module => Some(of),
                _ => None,
            })
            .find_map(|of| self.named(of, name, depth + 1))
    }

    /// Files by the files that they use, and by what.
    pub fn by_file(&self) -> Uses {
        let mut uses = Uses::new();
        for (at, module) in self.modules.iter().enumerate() {
            let is_used = |import: &&Import| !import.is_re_export || module.names.contains(&import.name);
            let imported = module.imports.iter().filter(is_used).map(|import| &import.path);
            for path in imported.chain(&module.paths) {
                let Some(definer) = self.definer(at, path, 0) else { continue };
                let file = &self.modules[definer].file;
                if *file != module.file {
                    let used = uses.entry(module.file.clone()).or_default();
                    used.entry(file.clone()).or_default().insert(path.join("::"));
                }
            }
        }
        uses
    }
}

/// Files, or folders, by those that they use, and by what.
pub type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// For each folder below a source folder: what its entries use of each other. An entry is a folder with all that is in it, or a file that
/// has no folder; the file of a module belongs to the folder of its name. What a module's own file (`mod.rs`, `lib.rs`, `main.rs`) uses
/// is left out, since it stands above the entries.
pub fn by_entry(files: &Uses, source: &Path) -> BTreeMap<PathBuf, Uses> {
    let mut levels: BTreeMap<PathBuf, Uses> = BTreeMap::new();
    for (file, used) in files {
        for (other, names) in used {
            let common = file.ancestors().find(|folder| other.starts_with(folder));
            let Some(folder) = common.filter(|folder| folder.starts_with(source)) else { continue };
            let (Some(from), Some(to)) = (entry(folder, file), entry(folder, other)) else { continue };
            if from != to {
                let used = levels.entry(folder.to_owned()).or_default().entry(from).or_default();
                used.entry(to).or_default().extend(names.iter().cloned());
            }
        }
    }
    levels
}

/// The entry of a folder that a file belongs to; `None` for the folder's own file.
fn entry(folder: &Path, file: &Path) -> Option<PathBuf> {
    let name = file.strip_prefix(folder).ok()?.iter().next()?;
    let entry = folder.join(name).with_extension("");
    (!["mod", "lib", "main"].iter().any(|own| entry.ends_with(own))).then_some(entry)
}

/// Sets of files, or folders, that use each other, directly or through others.
pub fn cycles(uses: &Uses) -> Vec<BTreeSet<PathBuf>> {
    let reached_from = |start: &PathBuf| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(file) = open.pop() {
            for next in uses.get(file).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
        uses.keys().map(|file| (file, reached_from(file))).collect();
    let mut cycles: Vec<BTreeSet<PathBuf>> = Vec::new();
    for (file, from) in &reached {
        let is_back = |other: &&PathBuf| reached.get(other).is_some_and(|from| from.contains(*file));
        let cycle: BTreeSet<PathBuf> = from.iter().filter(is_back).cloned().collect();
        if !cycle.is_empty() && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

enum End {
    Module(usize),
    /// An item of this module.
    Item(usize),
}

/// Behind the item that begins here: its block or semicolon.
fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(p) if [';', ','].contains(&p.as_char()) => return at + 1,
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The names that a `use` brings in, with their paths.
fn use_tree(tokens: &[TokenTree], before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let mut path = before.to_vec();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) if *ident == "as" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                    found.push((name.to_string(), path));
                }
                return;
            }
            TokenTree::Ident(ident) if *ident == "self" && !path.is_empty() && tokens.len() == 1 => {}
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Punct(p) if p.as_char() == '*' => path.push("*".to_owned()),
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
                for part in inner.split(is_comma).filter(|part| !part.is_empty()) {
                    use_tree(part, &path, found);
                }
                return;
            }
            _ => {}
        }
    }
    found.push((path.last().cloned().unwrap_or_default(), path));
}
