//! Writes dumps for tests, straight from the format's description: shares nothing with the reader.

pub mod small;

/// Gives a few bytes at a time.
pub struct Trickle<'a>(&'a [u8], usize);

impl<'a> Trickle<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Trickle(bytes, 1)
    }
}

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 31 % 97 + 1;
        let count = self.1.min(into.len()).min(self.0.len());
        into[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// A dump in the making.
#[derive(Clone)]
pub struct Dump {
    pub bytes: Vec<u8>,
    id_bytes: usize,
}

impl Dump {
    /// With a header; `version` is `1.0.2`.
    pub fn new(version: &str, id_bytes: usize) -> Dump {
        let mut bytes = format!("JAVA PROFILE {version}\0").into_bytes();
        bytes.extend((id_bytes as u32).to_be_bytes());
        bytes.extend(1_700_000_000_000_u64.to_be_bytes());
        Dump { bytes, id_bytes }
    }

    pub fn subs(&self) -> Subs {
        Subs { bytes: Vec::new(), id_bytes: self.id_bytes }
    }

    pub fn record(&mut self, tag: u8, body: &[u8]) {
        self.header(tag, body.len() as u32);
        self.bytes.extend(body);
    }

    /// A record's header alone.
    pub fn header(&mut self, tag: u8, length: u32) {
        self.bytes.push(tag);
        self.bytes.extend([0; 4]);
        self.bytes.extend(length.to_be_bytes());
    }

    pub fn name(&mut self, id: u64, text: &str) {
        let mut body = id_of(id, self.id_bytes);
        body.extend(text.as_bytes());
        self.record(0x01, &body);
    }

    pub fn load_class(&mut self, class: u64, name: u64) {
        let mut body = vec![0, 0, 0, 1];
        body.extend(id_of(class, self.id_bytes));
        body.extend([0; 4]);
        body.extend(id_of(name, self.id_bytes));
        self.record(0x02, &body);
    }

    /// A name and the class that has it.
    pub fn class_named(&mut self, class: u64, text: &str) {
        self.name(class + 1, text);
        self.load_class(class, class + 1);
    }
}

/// Sub-records in the making.
#[derive(Clone)]
pub struct Subs {
    pub bytes: Vec<u8>,
    id_bytes: usize,
}

impl Subs {
    fn id(&mut self, id: u64) {
        self.bytes.extend(id_of(id, self.id_bytes));
    }

    fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_be_bytes());
    }

    pub fn root(&mut self, tag: u8, id: u64, further_bytes: usize) {
        self.bytes.push(tag);
        self.id(id);
        self.bytes.extend(vec![0; further_bytes]);
    }

    /// Statics have a name, a type and a value; fields a name and a type (2 is a reference, 4 to 11 are numbers).
    pub fn class(&mut self, id: u64, above: u64, statics: &[(u64, u8, u64)], fields: &[(u64, u8)]) {
        self.bytes.push(0x20);
        self.id(id);
        self.u32(0);
        self.id(above);
        self.bytes.extend(vec![0; 5 * self.id_bytes]);
        self.u32(16);
        // One constant: index 1, an int.
        self.bytes.extend([0, 1, 0, 1, 10, 0, 0, 0, 0]);
        self.bytes.extend((statics.len() as u16).to_be_bytes());
        for (name, kind, value) in statics {
            self.id(*name);
            self.bytes.push(*kind);
            let bytes = size_of(*kind, self.id_bytes);
            self.bytes.extend(&value.to_be_bytes()[8 - bytes..]);
        }
        self.bytes.extend((fields.len() as u16).to_be_bytes());
        for (name, kind) in fields {
            self.id(*name);
            self.bytes.push(*kind);
        }
    }

    pub fn instance(&mut self, id: u64, class: u64, fields: &[u8]) {
        self.bytes.push(0x21);
        self.id(id);
        self.u32(0);
        self.id(class);
        self.u32(fields.len() as u32);
        self.bytes.extend(fields);
    }

    pub fn references(&mut self, id: u64, class: u64, length: u32) {
        self.bytes.push(0x22);
        self.id(id);
        self.u32(0);
        self.u32(length);
        self.id(class);
        self.bytes.extend(vec![0; length as usize * self.id_bytes]);
    }

    pub fn numbers(&mut self, id: u64, kind: u8, length: u32) {
        self.numbers_head(0x23, id, kind, length);
        self.bytes.extend(vec![0; length as usize * size_of(kind, self.id_bytes)]);
    }

    /// The head of an array of numbers alone.
    pub fn numbers_head(&mut self, tag: u8, id: u64, kind: u8, length: u32) {
        self.bytes.push(tag);
        self.id(id);
        self.u32(0);
        self.u32(length);
        self.bytes.push(kind);
    }

    /// An array with these bytes as letters.
    pub fn letters(&mut self, id: u64, letters: &[u8]) {
        self.numbers_head(0x23, id, 8, letters.len() as u32);
        self.bytes.extend(letters);
    }
}

pub fn id_of(id: u64, id_bytes: usize) -> Vec<u8> {
    id.to_be_bytes()[8 - id_bytes..].to_vec()
}

fn size_of(kind: u8, id_bytes: usize) -> usize {
    match kind {
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        7 | 11 => 8,
        _ => id_bytes,
    }
}
