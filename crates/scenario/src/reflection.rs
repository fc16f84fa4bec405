//! Server reflection of gRPC: which questions a server is asked for the schema of a scenario's services, and what its answers say. No
//! sockets: who loads sends the questions.
//!
//! Messages after `grpc/reflection/v1/reflection.proto` of the gRPC project; `v1alpha` has the same.

use crate::compile::compile;
use crate::grpc::put_message;
use crate::outside::{Outside, Sent, sent_file};
use crate::{Scenario, ScenarioError};
use assay_text::near::hint;
use prost_reflect::prost::{self, Message};
use prost_reflect::prost_types::FileDescriptorProto;
use std::collections::{BTreeMap, VecDeque};

/// Paths of the method, the newest first: a server may have but one of them.
pub const REFLECTION_PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
/// Most files of a schema.
const FILES_MAX: usize = 4096;
/// Most bytes of a schema.
const SCHEMA_BYTES_MAX: usize = 16 << 20;
/// Whatever it holds, a server lists its services.
const ALL_SERVICES: &str = "*";
/// A code of gRPC.
const NOT_FOUND: i32 = 5;

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Request {
    #[prost(oneof = "Question", tags = "3, 4, 7")]
    question: Option<Question>,
}

/// What a server is asked.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
#[prost(prost_path = "prost_reflect::prost")]
enum Question {
    #[prost(string, tag = "3")]
    File(String),
    /// The file that defines a service.
    #[prost(string, tag = "4")]
    Service(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Response {
    #[prost(oneof = "Answer", tags = "4, 6, 7")]
    answer: Option<Answer>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
#[prost(prost_path = "prost_reflect::prost")]
enum Answer {
    #[prost(message, tag = "4")]
    Files(Files),
    #[prost(message, tag = "6")]
    Services(Services),
    #[prost(message, tag = "7")]
    Refused(Refused),
}

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Files {
    /// A `FileDescriptorProto` each.
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "prost_reflect::prost")]
struct Refused {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// A schema while a server is asked for it.
#[derive(Debug)]
pub struct Reflection {
    questions: VecDeque<Question>,
    /// By name.
    files: BTreeMap<String, Vec<u8>>,
    bytes: usize,
    /// The service that the server does not have.
    missing: String,
}

impl Reflection {
    fn new(services: &[String]) -> Reflection {
        let questions = services.iter().cloned().map(Question::Service).collect();
        Reflection { questions, files: BTreeMap::new(), bytes: 0, missing: String::new() }
    }

    /// The body of the next question; none where all are answered.
    pub fn question(&self) -> Option<Vec<u8>> {
        let request = Request { question: Some(self.questions.front()?.clone()) };
        let mut body = Vec::new();
        let written = put_message(&mut body, false, |out| request.encode(out).map_err(|why| why.to_string()));
        written.ok().map(|()| body)
    }

    /// Takes the message of an answer to the last question.
    ///
    /// # Errors
    /// It holds no schema, with the reason.
    pub fn answered(&mut self, message: &[u8]) -> Result<(), String> {
        let unfit =
            |error: prost::DecodeError| format!("its answer is not an answer of reflection ({error})");
        let asked = self.questions.pop_front();
        match (Response::decode(message).map_err(unfit)?.answer, asked) {
            (Some(Answer::Files(Files { files })), _) => {
                files.into_iter().try_for_each(|file| self.take(file))
            }
            (Some(Answer::Services(of)), _) => {
                let missing = &self.missing;
                let hint = hint(missing, of.services.iter().map(|service| service.name.as_str()));
                Err(format!("it has no service {missing:?}{hint}"))
            }
            (Some(Answer::Refused(Refused { code: NOT_FOUND, .. })), Some(Question::Service(name))) => {
                self.missing = name;
                self.questions.push_front(Question::Services(ALL_SERVICES.to_owned()));
                Ok(())
            }
            (Some(Answer::Refused(Refused { code, message })), _) => {
                Err(format!("it refused with code {code}: {message:?}"))
            }
            (None, _) => Err("its answer is empty".to_owned()),
        }
    }

    /// Takes a file, and asks for what it imports.
    fn take(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let unfit = |error: prost::DecodeError| format!("its answer holds no file of a schema ({error})");
        let file = FileDescriptorProto::decode(bytes.as_slice()).map_err(unfit)?;
        self.bytes += bytes.len();
        if SCHEMA_BYTES_MAX < self.bytes || FILES_MAX <= self.files.len() {
            return Err(format!("its schema has more than {FILES_MAX} files or 16 MiB"));
        }
        self.files.insert(file.name().to_owned(), bytes);
        self.questions.extend(file.dependency.into_iter().map(Question::File));
        // Most servers send what a file imports with it.
        let files = &self.files;
        self.questions.retain(|of| !matches!(of, Question::File(name) if files.contains_key(name)));
        Ok(())
    }

    /// What was learned as a set of descriptors: `FileDescriptorSet`, whose files have the number that they have in an answer.
    fn set(self) -> Vec<u8> {
        Files { files: self.files.into_values().collect() }.encode_to_vec()
    }
}

impl Scenario {
    /// The questions for the schema of its services; none where it is known.
    pub fn reflection(&self) -> Option<Reflection> {
        (!self.asked_services.is_empty()).then(|| Reflection::new(&self.asked_services))
    }

    /// The scenario with what the server answered.
    ///
    /// # Errors
    /// Its methods and messages do not fit the schema.
    pub fn reflected(self, schema: Reflection) -> Result<Scenario, ScenarioError> {
        let name = self.name.clone();
        let mut sent = Sent::from(self);
        if let Some(first) = sent.files.first_mut() {
            *first = sent_file(&schema.set());
        }
        let (text, source) = (sent.text.clone(), format!("scenario {name}"));
        compile(&text, &source, &Outside::Sent(sent)).map_err(ScenarioError::Mistakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::{compile_proto, message_of};

    const SCENARIO: &str = r#"
        schema = "assay.scenario/1"
        name = "test"
        [grpc]
        reflection = true
        [[operation]]
        name = "place"
        grpc = "shop.Orders/Place"
        body = '{"user": "u7"}'
    "#;

    /// The files of a schema that imports another.
    fn files() -> Vec<Vec<u8>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("shop.proto");
        let shop = "syntax = \"proto3\"; package shop; import \"order.proto\";
                    service Orders { rpc Place(Order) returns (Order); }";
        let order = "syntax = \"proto3\"; package shop; message Order { string user = 1; }";
        std::fs::write(&path, shop).expect("room");
        std::fs::write(folder.path().join("order.proto"), order).expect("room");
        Files::decode(compile_proto(&path).expect("a right schema").as_slice()).expect("a set").files
    }

    fn answer(answer: Answer) -> Vec<u8> {
        Response { answer: Some(answer) }.encode_to_vec()
    }

    fn scenario(text: &str) -> Scenario {
        Scenario::parse(text, "test.toml").expect("a right scenario")
    }

    /// The question, as a server reads it.
    fn asked(schema: &Reflection) -> Question {
        let body = schema.question().expect("a question");
        let (_, message) = message_of(&body).expect("a message");
        Request::decode(message).expect("a request").question.expect("a question")
    }

    #[test]
    fn a_server_is_asked_for_each_service_and_for_what_its_answer_lacks() {
        let scenario = scenario(SCENARIO);
        assert!(scenario.calls_grpc());
        let mut schema = scenario.reflection().expect("to be asked");
        assert_eq!(asked(&schema), Question::Service("shop.Orders".to_owned()));
        let name = |file: &[u8]| FileDescriptorProto::decode(file).expect("a file").name().to_owned();
        let of = |wanted: &str| files().into_iter().filter(|file| name(file) == wanted).collect();
        schema.answered(&answer(Answer::Files(Files { files: of("shop.proto") }))).expect("an answer");
        assert_eq!(asked(&schema), Question::File("order.proto".to_owned()));
        schema.answered(&answer(Answer::Files(Files { files: of("order.proto") }))).expect("an answer");
        assert_eq!(schema.question(), None);
        let reflected = scenario.reflected(schema).expect("it fits");
        assert!(reflected.reflection().is_none() && reflected.operations[0].grpc.is_some());
        let sent = serde_json::to_string(&reflected).expect("JSON");
        let injected: Scenario = serde_json::from_str(&sent).expect("the same");
        assert!(injected.reflection().is_none() && injected.operations[0].grpc.is_some());
    }

    #[test]
    fn a_server_that_sends_all_at_once_is_asked_once() {
        let mut schema = scenario(SCENARIO).reflection().expect("to be asked");
        let mut all = files();
        all.reverse();
        schema.answered(&answer(Answer::Files(Files { files: all }))).expect("an answer");
        assert_eq!(schema.question(), None);
    }

    #[test]
    fn a_service_that_is_not_there_is_named_with_the_nearest() {
        let text = SCENARIO.replace("shop.Orders", "shop.Order");
        let mut schema = scenario(&text).reflection().expect("to be asked");
        let refused = Refused { code: NOT_FOUND, message: "no".to_owned() };
        schema.answered(&answer(Answer::Refused(refused))).expect("asked for a list");
        assert_eq!(asked(&schema), Question::Services("*".to_owned()));
        let services = vec![Service { name: "shop.Orders".to_owned() }];
        let error = schema.answered(&answer(Answer::Services(Services { services }))).expect_err("none");
        assert!(error.contains("no service \"shop.Order\"") && error.contains("shop.Orders"), "{error}");
    }

    #[test]
    fn what_does_not_fit_the_schema_is_said_once_it_is_known() {
        for (wrong, said) in [("Orders/Plaec", "unknown method"), ("Orders/Watch", "unknown method")] {
            let scenario = scenario(&SCENARIO.replace("Orders/Place", wrong));
            let mut schema = scenario.reflection().expect("to be asked");
            schema.answered(&answer(Answer::Files(Files { files: files() }))).expect("an answer");
            let error = scenario.reflected(schema).expect_err("wrong").to_string();
            assert!(error.contains(said), "{error}");
        }
        let wrong = Scenario::parse(&SCENARIO.replace("shop.Orders/Place", "Place"), "test.toml");
        assert!(wrong.expect_err("no service").to_string().contains("package.Service/Method"));
        for both in ["reflection = true\nschema = \"x.proto\"", "", "reflection = false"] {
            let wrong = Scenario::parse(&SCENARIO.replace("reflection = true", both), "test.toml");
            assert!(wrong.expect_err("neither or both").to_string().contains("either schema"), "{both}");
        }
    }

    #[test]
    fn any_bytes_as_an_answer_are_an_error_or_an_answer() {
        for bytes in [b"".as_slice(), b"\xff", b"\x22\x05\x0a\x03abc", b"\x3a\x02\x08\x0c"] {
            let mut schema = scenario(SCENARIO).reflection().expect("to be asked");
            assert!(schema.answered(bytes).is_err(), "{bytes:?}");
        }
    }
}
