//! Makes and verifies layout packs from the debug information of a libjvm. (Distributions compress it: decompress it
//! first, `objcopy --decompress-debug-sections libjvm.debug plain.debug`.)
//!
//! - `layout_pack show plain.debug TYPE...` prints the fields of types with offsets and types, those of base classes
//!   and of nested objects included;
//! - `layout_pack fill plain.debug crates/jdk/releases/17.toml` prints the file with the values of that file, of a 32-bit JVM
//!   under `pack_32`: a pack is made by writing its keys with 0;
//! - `layout_pack verify plain.debug crates/jdk/releases/17.toml` says what differs, and fails if anything does.

use gimli::{AttributeValue, DebuggingInformationEntry as Entry, EndianSlice, LittleEndian, UnitRef};
use object::{Object, ObjectSection, ReadCache};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;

type Reader<'d> = EndianSlice<'d, LittleEndian>;
type Failure = Box<dyn std::error::Error>;

/// Namespaces and classes within each other.
const DEPTH_MAX: usize = 64;
/// How deep `show` goes into nested objects.
const NESTED_MAX: usize = 4;

/// A class as the debug information has it.
#[derive(Debug, Default, Clone)]
struct Layout {
    size: u64,
    /// Name, offset, type. Base classes are named `<base>`.
    fields: Vec<(String, u64, String)>,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, file, rest @ ..] = &arguments[..] else {
        return Err("usage: layout_pack show|fill|verify FILE TYPE...|PACK".into());
    };
    match command.as_str() {
        "show" => show(file, rest),
        "fill" | "verify" => {
            let [pack] = rest else { return Err("one pack, please".into()) };
            fill(file, pack, command == "verify")
        }
        _ => Err(format!("no such command: {command}").into()),
    }
}

fn is_32_bit(file: &str) -> Result<bool, Failure> {
    let cache = ReadCache::new(File::open(file)?);
    Ok(!object::File::parse(&cache)?.is_64())
}

fn show(file: &str, types: &[String]) -> Result<(), Failure> {
    let layouts = read_layouts(file, &|_| true)?;
    for name in types {
        match layouts.get(name) {
            Some(layout) => {
                println!("{name}: {} bytes", layout.size);
                show_fields(&layouts, layout, 0, "", 0);
            }
            None => println!("{name}: not there"),
        }
    }
    Ok(())
}

fn show_fields(layouts: &HashMap<String, Layout>, layout: &Layout, base: u64, path: &str, depth: usize) {
    for (field, offset, type_name) in &layout.fields {
        let path = if field == "<base>" { path.to_owned() } else { format!("{path}.{field}") };
        if field != "<base>" {
            println!("  {:6} {path}: {type_name}", base + offset);
        }
        if let Some(nested) = layouts.get(type_name).filter(|_| depth < NESTED_MAX) {
            show_fields(layouts, nested, base + offset, &path, depth + 1);
        }
    }
}

fn fill(file: &str, pack: &str, verify: bool) -> Result<(), Failure> {
    let text = std::fs::read_to_string(pack)?;
    let release: toml::Table = toml::from_str(&text)?;
    let section = if is_32_bit(file)? { "pack_32" } else { "pack" };
    let types = release.get(section).and_then(|pack| pack.get("types"));
    let types = types.ok_or_else(|| format!("no [{section}.types] in it"))?;
    let heading = format!("{section}.types.");
    let types: BTreeMap<String, BTreeMap<String, u64>> = types.clone().try_into()?;
    // Base classes are needed too, and not known before they are met.
    let layouts = read_layouts(file, &|_| true)?;
    let (mut differing, mut type_name) = (0, String::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            type_name = name.strip_prefix(&heading).map_or("", |name| name.trim_matches('"')).to_owned();
        }
        let key = line
            .split_once(" = ")
            .filter(|_| !type_name.is_empty() && !line.starts_with('#'))
            .map(|(field, _)| field);
        let Some(key) = key else {
            if !verify {
                println!("{line}");
            }
            continue;
        };
        let field = key.trim_matches('"');
        let is = layouts.get(&type_name).and_then(|layout| match field {
            "sizeof" => Some(layout.size),
            field => offset_of(&layouts, layout, field, 0),
        });
        let stated = types.get(&type_name).and_then(|fields| fields.get(field));
        if verify && is.as_ref() != stated {
            differing += 1;
            println!("{type_name}::{field}: {stated:?} in the pack, {is:?} in the file");
        } else if !verify {
            match is {
                Some(offset) => println!("{key} = {offset}"),
                None => println!("# {type_name}::{field}: not there"),
            }
        }
    }
    if differing != 0 {
        return Err(format!("{differing} values differ").into());
    }
    Ok(())
}

/// A field by name, that of a base class too, or by path through nested objects: `_hrm._regions`.
fn offset_of(layouts: &HashMap<String, Layout>, layout: &Layout, path: &str, depth: usize) -> Option<u64> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    if let Some((_, offset, type_name)) = layout.fields.iter().find(|(name, ..)| name == first) {
        return match rest {
            Some(rest) => Some(offset + offset_of(layouts, layouts.get(type_name)?, rest, depth + 1)?),
            None => Some(*offset),
        };
    }
    let bases = layout.fields.iter().filter(|(name, ..)| name == "<base>" && depth < DEPTH_MAX);
    bases
        .filter_map(|(_, offset, base)| {
            Some(offset + offset_of(layouts, layouts.get(base)?, path, depth + 1)?)
        })
        .next()
}

fn read_layouts(file: &str, wanted: &dyn Fn(&str) -> bool) -> Result<HashMap<String, Layout>, Failure> {
    let cache = ReadCache::new(File::open(file)?);
    let object = object::File::parse(&cache)?;
    let load = |id: gimli::SectionId| -> Result<Reader<'_>, Failure> {
        let Some(section) = object.section_by_name(id.name()) else {
            return Ok(EndianSlice::new(&[], LittleEndian));
        };
        if section.compressed_file_range()?.format != object::CompressionFormat::None {
            return Err(
                format!("{} is compressed: objcopy --decompress-debug-sections first", id.name()).into()
            );
        }
        Ok(EndianSlice::new(section.data()?, LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(load)?;
    let mut layouts = HashMap::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        read_unit(unit.unit_ref(&dwarf), wanted, &mut layouts)?;
    }
    Ok(layouts)
}

fn read_unit(
    unit: UnitRef<'_, Reader<'_>>,
    wanted: &dyn Fn(&str) -> bool,
    layouts: &mut HashMap<String, Layout>,
) -> Result<(), Failure> {
    // Names of all types first, since members refer forward.
    let mut names: HashMap<gimli::UnitOffset, String> = HashMap::new();
    let mut scopes: Vec<(isize, String)> = Vec::new();
    let mut classes = BTreeSet::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        scopes.retain(|(scope, _)| *scope < depth);
        let is_scope = matches!(
            entry.tag(),
            gimli::DW_TAG_namespace
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
        );
        let is_named_type = matches!(
            entry.tag(),
            gimli::DW_TAG_base_type | gimli::DW_TAG_typedef | gimli::DW_TAG_enumeration_type
        );
        if !is_scope && !is_named_type {
            continue;
        }
        let own = match (name_of(unit, entry)?, entry.attr_value(gimli::DW_AT_specification)) {
            (Some(name), _) => qualified(&scopes, &name),
            (None, Some(AttributeValue::UnitRef(declared))) => {
                names.get(&declared).cloned().unwrap_or_default()
            }
            _ => String::new(),
        };
        names.insert(entry.offset(), own.clone());
        if is_scope {
            if entry.tag() != gimli::DW_TAG_namespace && entry.attr(gimli::DW_AT_byte_size).is_some() {
                classes.insert(entry.offset());
            }
            let short = own.rsplit("::").next().unwrap_or_default().to_owned();
            scopes.push((depth, short));
        }
    }
    for class in classes {
        let name = &names[&class];
        if !name.is_empty() && wanted(name) && !layouts.contains_key(name) {
            layouts.insert(name.clone(), read_class(unit, class, &names)?);
        }
    }
    Ok(())
}

fn qualified(scopes: &[(isize, String)], name: &str) -> String {
    let mut text = String::new();
    for (_, scope) in scopes.iter().take(DEPTH_MAX).filter(|(_, scope)| !scope.is_empty()) {
        text.push_str(scope);
        text.push_str("::");
    }
    text + name
}

fn read_class<'d>(
    unit: UnitRef<'_, Reader<'d>>,
    class: gimli::UnitOffset,
    names: &HashMap<gimli::UnitOffset, String>,
) -> Result<Layout, Failure> {
    let mut tree = unit.entries_tree(Some(class))?;
    let root = tree.root()?;
    let size = root.entry().attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value());
    let mut layout = Layout { size: size.unwrap_or_default(), fields: Vec::new() };
    let mut children = root.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let offset = entry.attr_value(gimli::DW_AT_data_member_location).and_then(|v| v.udata_value());
        let name = match entry.tag() {
            gimli::DW_TAG_member => name_of(unit, entry)?,
            gimli::DW_TAG_inheritance => Some("<base>".to_owned()),
            _ => None,
        };
        if let (Some(offset), Some(name)) = (offset, name) {
            layout.fields.push((name, offset, type_of(unit, entry, names, 0)?));
        }
    }
    Ok(layout)
}

fn name_of<'d>(unit: UnitRef<'_, Reader<'d>>, entry: &Entry<Reader<'d>>) -> Result<Option<String>, Failure> {
    let Some(name) = entry.attr_value(gimli::DW_AT_name) else { return Ok(None) };
    Ok(Some(unit.attr_string(name)?.to_string_lossy().into_owned()))
}

fn type_of<'d>(
    unit: UnitRef<'_, Reader<'d>>,
    entry: &Entry<Reader<'d>>,
    names: &HashMap<gimli::UnitOffset, String>,
    depth: usize,
) -> Result<String, Failure> {
    let Some(AttributeValue::UnitRef(offset)) = entry.attr_value(gimli::DW_AT_type) else {
        return Ok("void".to_owned());
    };
    if let Some(name) = names.get(&offset) {
        return Ok(name.clone());
    }
    if DEPTH_MAX < depth {
        return Ok(String::new());
    }
    let target = unit.entry(offset)?;
    let inner = type_of(unit, &target, names, depth + 1)?;
    Ok(match target.tag() {
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => format!("{inner}*"),
        gimli::DW_TAG_array_type => format!("{inner}[]"),
        gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => inner,
        _ => format!("? {inner}"),
    })
}
