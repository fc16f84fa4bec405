//! The dump of a small program.

use super::{Dump, Subs, id_of};

pub const OBJECT: u64 = 0x1000;
pub const STRING: u64 = 0x1010;
pub const NODE: u64 = 0x1020;
pub const NODES: u64 = 0x1030;
pub const BYTES: u64 = 0x1040;
pub const CLASS: u64 = 0x1050;
pub const VERSION: u64 = 0x1060;
pub const NEXT: u64 = 0x2001;
pub const VALUE: u64 = 0x2002;
pub const COUNT: u64 = 0x2003;
pub const VERSION_TEXT: u64 = 0x2004;
pub const RESOLVED: u64 = 0x2005;

/// Names and classes of a small program.
pub fn names(version: &str, id_bytes: usize) -> Dump {
    let mut dump = Dump::new(version, id_bytes);
    dump.class_named(OBJECT, "java/lang/Object");
    dump.class_named(STRING, "java/lang/String");
    dump.class_named(NODE, "demo/Node");
    dump.class_named(NODES, "[Ldemo/Node;");
    dump.class_named(BYTES, "[B");
    dump.class_named(CLASS, "java/lang/Class");
    dump.class_named(VERSION, "java/lang/VersionProps");
    let fields = [(NEXT, "next"), (VALUE, "value"), (COUNT, "count"), (VERSION_TEXT, "java_version")];
    for (id, text) in fields.into_iter().chain([(RESOLVED, "<resolved_references>")]) {
        dump.name(id, text);
    }
    dump
}

pub fn classes(dump: &Dump) -> Subs {
    let mut subs = dump.subs();
    subs.class(OBJECT, 0, &[], &[]);
    // JDKs up to 20 write fields backwards.
    subs.class(STRING, OBJECT, &[], &[(COUNT, 10), (VALUE, 2)]);
    subs.class(NODE, OBJECT, &[(RESOLVED, 2, 0), (COUNT, 11, 7)], &[(VALUE, 11), (NEXT, 2)]);
    subs.class(NODES, OBJECT, &[], &[]);
    subs.class(BYTES, OBJECT, &[], &[]);
    subs.class(CLASS, OBJECT, &[], &[]);
    subs.class(VERSION, OBJECT, &[(VERSION_TEXT, 2, 0x8000)], &[]);
    subs
}

/// 100 nodes, 10 arrays of 0 to 9 nodes, 20 arrays of bytes, one mirror of a type, and the string with the version.
pub fn objects(dump: &Dump, id_bytes: usize) -> Subs {
    let mut subs = dump.subs();
    subs.root(0x01, 0x9000, id_bytes);
    subs.root(0x05, OBJECT, 0);
    let mut string = vec![0, 0, 0, 0];
    string.extend(id_of(0x8010, id_bytes));
    subs.instance(0x8000, STRING, &string);
    subs.letters(0x8010, b"19.0.2");
    let mut at = 0x9000;
    for _ in 0..100 {
        subs.instance(at, NODE, &vec![1; 8 + id_bytes]);
        at += 24;
    }
    for length in 0..10 {
        subs.references(at, NODES, length);
        at += 64;
    }
    for length in 0..20 {
        subs.numbers(at, 8, length);
        at += 40;
    }
    subs.instance(0x7000, CLASS, &[0; 4]);
    subs
}

pub fn whole(version: &str, id_bytes: usize) -> Dump {
    let mut dump = names(version, id_bytes);
    let (classes, objects) = (classes(&dump), objects(&dump, id_bytes));
    dump.record(0x1c, &classes.bytes);
    dump.record(0x1c, &objects.bytes);
    dump.record(0x2c, &[]);
    dump
}
