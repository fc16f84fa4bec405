//! A server of gRPC that is asked for its schema.

use super::grpc::{PLACE, SHOP, gzip, is_call, load, packed, placed, reply, run};
use super::server::{Reply, Request, Settings, serve};
use super::{CLOSED, is_fine};
use assay_load::Http;
use protox::prost_reflect::prost::Message;

const V1: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const V1_ALPHA: &str = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

/// The scenario with reflection instead of the schema.
fn scenario() -> String {
    PLACE.replace("schema = \"shop.proto\"", "reflection = true")
}

/// A field of bytes in a message: its key, a length of two bytes, the bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    [&[number << 3 | 2, (length & 127) as u8 | 128, (length >> 7) as u8], bytes].concat()
}

/// `SHOP` as a file of descriptors.
fn file() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shop.proto"), SHOP).expect("room");
    protox::compile(["shop.proto"], [folder.path()]).expect("a right schema").file[0].encode_to_vec()
}

/// Answers the question for `shop.Orders` (field 4 of a request), and to any other the list of services.
fn reflected(request: &Request, file: &[u8]) -> Reply {
    let ok = [("grpc-status", "0")];
    match &request.body[5..] {
        // Compressed without having been asked for it, as servers of gRPC's C core do.
        b"\x22\x0bshop.Orders" => packed(&gzip(&field(4, &field(1, file))), &[("grpc-encoding", "gzip")]),
        [0x22, ..] => reply(b"\x3a\x02\x08\x05", &ok),
        b"\x3a\x01*" => reply(&field(6, &field(1, &field(1, b"shop.Orders"))), &ok),
        _ => Reply::Reset(1),
    }
}

fn unimplemented() -> Reply {
    let headers = vec![("grpc-status", "12".to_owned()), ("content-type", "application/grpc".to_owned())];
    Reply::Answer { status: 200, headers, body: Vec::new() }
}

#[test]
fn the_schema_is_had_from_a_server_of_either_version_before_the_load() {
    for version in [V1, V1_ALPHA] {
        let file = file();
        let server = serve(Settings::default(), move |request| match request.path() {
            path if path == version && is_call(request) => reflected(request, &file),
            V1 | V1_ALPHA => unimplemented(),
            _ => placed(),
        });
        let measured =
            load(&server, &scenario(), &CLOSED, |one| one.operations.iter().all(|of| 0 < of.requests));
        is_fine(&measured);
        assert_eq!(measured.operations.len(), 2, "the questions are in no figure");
    }
}

#[test]
fn a_server_that_does_not_give_its_schema_is_named_with_the_reason_and_the_remedy() {
    let file = file();
    let of_file = move |request: &Request| reflected(request, &file);
    let orders = scenario();
    let order = orders.replace("shop.Orders", "shop.Order");
    let plaec = orders.replace("Orders/Place", "Orders/Plaec");
    type Answers = Box<dyn Fn(&Request) -> Reply + Send + Sync>;
    let cases: [(Answers, &str, &str); 5] = [
        (Box::new(|_| unimplemented()), &orders, "no server reflection"),
        (Box::new(|_| reply(b"", &[("grpc-status", "16")])), &orders, "UNAUTHENTICATED (16)"),
        (Box::new(|_| super::ok("hello")), &orders, "no answer of gRPC"),
        (Box::new(of_file.clone()), &order, "no service \"shop.Order\"; did you mean `shop.Orders`"),
        (Box::new(of_file), &plaec, "unknown method \"shop.Orders/Plaec\""),
    ];
    for (answers, text, said) in cases {
        let server = serve(Settings::default(), answers);
        let error = run(&server.url, text, Http::Two { streams: 1 }, (&CLOSED, 200)).expect_err("no schema");
        let error = error.to_string();
        assert!(error.contains(said), "{error}");
        assert_eq!(error.contains("schema = \"FILE.proto\""), error.contains("reflection:"), "{error}");
    }
}
