//! Asks a server of gRPC for the schema of its services, before the first load.

use crate::awaited::{STREAM, answer};
use crate::coding::unpacked;
use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::grpc;
use crate::request::{Request, RequestPart};
use assay_scenario::{GRPC_HEADERS, REFLECTION_PATHS, Reflection};
use std::time::{Duration, Instant};

/// How long all answers may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A code of gRPC.
const UNIMPLEMENTED: u16 = 12;

/// The schema that the server has, by the newest version of reflection that it speaks.
///
/// # Errors
/// It cannot be reached, speaks neither, or lacks a service.
pub(crate) fn asked(endpoint: &Endpoint, mut schema: Reflection) -> Result<Reflection, String> {
    let mut connection = endpoint.connection(0);
    let until = Instant::now() + PATIENCE;
    let mut versions = REFLECTION_PATHS.iter();
    let mut path = versions.next();
    while let (Some(body), Some(version)) = (schema.question(), path) {
        let request = request(endpoint, version, &body);
        match ask(&mut connection, endpoint, &request, until)? {
            Some(message) => schema.answered(&message)?,
            None => path = versions.next(),
        }
    }
    match path {
        Some(_) => Ok(schema),
        None => Err("it offers no server reflection (grpc.reflection.v1, v1alpha)".to_owned()),
    }
}

fn request(endpoint: &Endpoint, path: &str, body: &[u8]) -> Request {
    let mut request = Request::default();
    request.clear();
    request.write(RequestPart::Method, |out| out.extend_from_slice(b"POST"));
    request.write(RequestPart::Target, |out| {
        out.extend_from_slice(endpoint.base.prefix.as_bytes());
        out.extend_from_slice(path.as_bytes());
    });
    request.write(RequestPart::Headers, |out| out.extend_from_slice(GRPC_HEADERS));
    request.write(RequestPart::Body, |out| out.extend_from_slice(body));
    (request.has_body, request.keeps_body) = (true, true);
    request
}

/// The message of the answer; none where the server does not have the method.
fn ask(
    connection: &mut Connection,
    endpoint: &Endpoint,
    request: &Request,
    until: Instant,
) -> Result<Option<Vec<u8>>, String> {
    if !answer(connection, &endpoint.addresses, request, until, &|_, _| false)? {
        connection.close();
    }
    let answer = connection.answer(STREAM);
    match (answer.status, answer.grpc.code) {
        (200, Some(0)) => unpacked(answer, &mut Vec::new()).map(|message| Some(message.to_vec())),
        (200, Some(UNIMPLEMENTED)) | (404, _) => Ok(None),
        (200, Some(code)) => {
            let name = grpc::name(code).unwrap_or_default();
            Err(format!("reflection answered {name} ({code}): {}", answer.grpc.message()))
        }
        (status, _) => Err(format!("reflection answered {status}: no answer of gRPC")),
    }
}
