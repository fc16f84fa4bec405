//! Unary methods of gRPC: from the schema of a service and a message as JSON to the bytes that are sent, and from those of an answer back
//! to JSON, for checks and values.

use assay_text::near::hint;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost_reflect::prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    SerializeOptions,
};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

/// Before each message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;
/// Messages within messages that are looked into.
const DEPTH_MAX: usize = 100;

/// Reads a schema: a `.proto` file, with what it imports from beside it, or a set of descriptors as `protoc --descriptor_set_out
/// --include_imports` writes it. Gives the set.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn compile_proto(path: &Path) -> Result<Vec<u8>, String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let wrong = |error: protox::Error| format!("cannot read {}: {error}", path.display());
    let mut compiler = protox::Compiler::new([folder]).map_err(wrong)?;
    compiler.include_imports(true).open_file(path).map_err(wrong)?;
    Ok(compiler.encode_file_descriptor_set())
}

/// Whether a file holds a schema as people write it.
pub(crate) fn is_proto(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("proto"))
}

/// The services of a schema.
pub(crate) struct Services(DescriptorPool);

impl Services {
    /// Of a set of descriptors.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(set: &[u8]) -> Result<Services, String> {
        let fix = "make it by `protoc --descriptor_set_out=FILE --include_imports`, or name the .proto file";
        DescriptorPool::decode(set)
            .map(Services)
            .map_err(|error| format!("is not a whole set of descriptors ({error}); {fix}"))
    }

    /// A method by its name, `package.Service/Method`.
    ///
    /// # Errors
    /// There is none of that name, or it is not unary.
    pub fn method(&self, name: &str) -> Result<UnaryMethod, String> {
        let methods = || self.0.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        let name_of = |method: &prost_reflect::MethodDescriptor| {
            format!("{}/{}", method.parent_service().full_name(), method.name())
        };
        let Some(method) = methods().find(|method| name_of(method) == name) else {
            let known: Vec<String> = methods().map(|method| name_of(&method)).collect();
            let hint = hint(name, known.iter().map(String::as_str));
            return Err(format!("unknown method {name:?}{hint}; methods are named package.Service/Method"));
        };
        if method.is_client_streaming() || method.is_server_streaming() {
            return Err(format!("method {name:?} is streaming; only unary methods are supported"));
        }
        Ok(UnaryMethod { input: method.input(), output: method.output(), compresses: false })
    }
}

/// The message of a body that holds one, and whether it is compressed.
///
/// # Errors
/// The body holds no message, or not one alone.
pub fn message_of(body: &[u8]) -> Result<(bool, &[u8]), String> {
    let (prefix, message) = body.split_at_checked(PREFIX_BYTES).ok_or("its body holds no message")?;
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    if message.len() != length {
        let come = message.len();
        return Err(format!("its body holds {come} bytes where its message has {length}"));
    }
    Ok((prefix[0] != 0, message))
}

/// Appends a message as the body of a request: what `write` appends, and its prefix.
pub(crate) fn put_message(
    out: &mut Vec<u8>,
    is_compressed: bool,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    out.push(u8::from(is_compressed));
    let at = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES - 1]);
    write(out)?;
    let length = u32::try_from(out.len() - at - (PREFIX_BYTES - 1));
    let length = length.map_err(|_| "is longer than 4 GiB".to_owned())?;
    out[at..at + PREFIX_BYTES - 1].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// A method that has one message as request and one as answer.
#[derive(Debug, Clone)]
pub struct UnaryMethod {
    input: MessageDescriptor,
    output: MessageDescriptor,
    /// Its requests are compressed (gzip).
    compresses: bool,
}

impl UnaryMethod {
    /// With requests that are compressed (gzip), or not.
    pub(crate) fn compressing(self, compresses: bool) -> UnaryMethod {
        UnaryMethod { compresses, ..self }
    }

    /// Appends a message, which is JSON, as it is sent.
    ///
    /// # Errors
    /// It does not fit the schema.
    pub fn write(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let options = DeserializeOptions::new();
        let message = DynamicMessage::deserialize_with_options(self.input.clone(), &mut reader, &options)
            .and_then(|message| reader.end().map(|()| message))
            .map_err(|error| format!("is not a {}: {error}", self.input.full_name()))?;
        put_message(out, self.compresses, |out| {
            if !self.compresses {
                return message.encode(out).map_err(|error| error.to_string());
            }
            let mut encoder = GzEncoder::new(out, Compression::default());
            encoder.write_all(&message.encode_to_vec()).map_err(|error| error.to_string())?;
            encoder.finish().map(drop).map_err(|error| error.to_string())
        })
    }

    /// Appends a message of an answer ([`message_of`]) as JSON: with the fields that have their defaults, named as in JSON
    /// (`lowerCamelCase`).
    ///
    /// # Errors
    /// It is none of the schema.
    pub fn read(&self, message: &[u8], json: &mut Vec<u8>) -> Result<(), String> {
        let unfit =
            |error: &dyn std::fmt::Display| format!("its body is not a {}: {error}", self.output.full_name());
        let message = DynamicMessage::decode(self.output.clone(), message).map_err(|error| unfit(&error))?;
        let options = SerializeOptions::new().skip_default_fields(false);
        message
            .serialize_with_options(&mut serde_json::Serializer::new(json), &options)
            .map_err(|error| unfit(&error))
    }

    /// What is wrong with a message whose values may be others: it is no JSON, or names a field that the schema does not have.
    pub(crate) fn mistake(&self, json: &str) -> Option<String> {
        match serde_json::from_str(json) {
            Ok(value) => unknown_field(&self.input, &value, json, 0),
            Err(error) => Some(format!("is not JSON: {error}")),
        }
    }
}

/// A field in a message that its type does not have, with its line.
fn unknown_field(of: &MessageDescriptor, value: &Value, json: &str, depth: usize) -> Option<String> {
    // Types of Google's own have forms of their own in JSON.
    if DEPTH_MAX < depth || of.full_name().starts_with("google.protobuf.") {
        return None;
    }
    let Value::Object(fields) = value else { return None };
    fields.iter().find_map(|(name, value)| {
        let Some(field) = of.get_field_by_json_name(name).or_else(|| of.get_field_by_name(name)) else {
            let hint = hint(
                name,
                of.fields()
                    .map(|field| field.json_name().to_owned())
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str),
            );
            let before = json.find(&format!("\"{name}\"")).map_or("", |at| &json[..at]);
            let line = before.matches('\n').count() + 1;
            return Some(format!("line {line}: {} has no field {name:?}{hint}", of.full_name()));
        };
        within(&field, value, json, depth + 1)
    })
}

fn within(field: &FieldDescriptor, value: &Value, json: &str, depth: usize) -> Option<String> {
    match (field.kind(), value) {
        (Kind::Message(_), Value::Object(_)) if field.is_map() => None,
        (Kind::Message(of), Value::Array(all)) if field.is_list() => {
            all.iter().find_map(|one| unknown_field(&of, one, json, depth))
        }
        (Kind::Message(of), one) => unknown_field(&of, one, json, depth),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = r#"
        syntax = "proto3";
        package shop;
        message Item { string sku = 1; int32 count = 2; }
        message Order { string user_id = 1; repeated Item items = 2; }
        message Receipt { int64 id = 1; string state = 2; }
        service Orders {
            rpc Place(Order) returns (Receipt);
            rpc Watch(Order) returns (stream Receipt);
        }
    "#;

    fn services() -> Services {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.proto");
        std::fs::write(&path, SHOP).expect("room");
        Services::of(&compile_proto(&path).expect("a right schema")).expect("a whole set")
    }

    #[test]
    fn a_message_is_encoded_as_the_guide_of_protocol_buffers_says() {
        let place = services().method("shop.Orders/Place").expect("unary");
        let mut out = Vec::new();
        place.write(br#"{"userId":"u7","items":[{"sku":"a","count":150}]}"#, &mut out).expect("it fits");
        // Field 1 "u7"; field 2 of 6 bytes: field 1 "a", field 2 the varint 150.
        let message = b"\x0a\x02u7\x12\x06\x0a\x01a\x10\x96\x01";
        assert_eq!(out, [&[0, 0, 0, 0, message.len() as u8], message.as_slice()].concat());
    }

    #[test]
    fn an_answer_is_read_as_json_with_its_defaults() {
        let place = services().method("shop.Orders/Place").expect("unary");
        let read = |body: &[u8]| {
            let mut json = Vec::new();
            let (_, message) = message_of(body)?;
            place.read(message, &mut json).map(|()| String::from_utf8(json).expect("JSON"))
        };
        assert_eq!(read(b"\0\0\0\0\x02\x08\x07").as_deref(), Ok(r#"{"id":"7","state":""}"#));
        assert!(read(b"\0\0\0\0\x02\x08").expect_err("cut").contains("1 bytes where its message has 2"));
        assert!(read(b"\0\0\0\0\x01\x08").expect_err("cut").contains("not a shop.Receipt"));
        assert!(read(b"").expect_err("nothing").contains("no message"));
    }

    #[test]
    fn a_compressed_message_says_so_and_unpacks_to_the_plain_one() {
        use std::io::Read;
        let place = services().method("shop.Orders/Place").expect("unary");
        let json = br#"{"userId":"u7","items":[{"sku":"a","count":150}]}"#;
        let (mut plain, mut compressed, mut unpacked) = (Vec::new(), b"before".to_vec(), Vec::new());
        place.write(json, &mut plain).expect("it fits");
        place.compressing(true).write(json, &mut compressed).expect("it fits");
        let (is_compressed, message) = message_of(&compressed[6..]).expect("a message");
        assert!(is_compressed && !message_of(&plain).expect("a message").0);
        flate2::read::GzDecoder::new(message).read_to_end(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, plain[PREFIX_BYTES..]);
    }

    #[test]
    fn a_method_that_is_not_there_and_one_that_streams_are_said() {
        let wrong = |name: &str| services().method(name).expect_err("wrong");
        assert!(wrong("shop.Orders/Plaec").contains("shop.Orders/Place"), "the nearest name");
        assert!(wrong("shop.Orders/Watch").contains("only unary methods are supported"));
        assert!(Services::of(b"syntax = \"proto3\";").err().expect("no set").contains("protoc"));
    }

    #[test]
    fn a_field_that_is_not_there_is_named_with_its_line() {
        let place = services().method("shop.Orders/Place").expect("unary");
        let json = "{\n\"userId\": \"1\",\n\"items\": [{\"sku\": \"1\", \"cuont\": 1}]}";
        let mistake = place.mistake(json).expect("a mistake");
        assert!(
            mistake.contains("line 3: shop.Item has no field \"cuont\"") && mistake.contains("`count`"),
            "{mistake}"
        );
        assert_eq!(place.mistake("{\"user_id\": \"1\"}"), None, "also by its name in the schema");
        assert!(place.mistake("{").expect("no JSON").contains("is not JSON"));
        let unfit =
            place.write(b"{\"items\":[{\"count\":\"many\"}]}", &mut Vec::new()).expect_err("no number");
        assert!(unfit.contains("is not a shop.Order: ") && unfit.contains("line 1"), "{unfit}");
    }
}
