//! Whether an answer is right, and what its user takes from it.

use crate::coding::{Decoder, Undecodable};
use crate::error_kind::ErrorKind;
use crate::grpc::{self, GrpcStatus};
use crate::protocol::Answer;
use crate::quote;
use crate::remarks::Remarks;
use crate::request::{Request, RequestPart};
use crate::session::Session;
use crate::url::BaseUrl;
use assay_scenario::{Answered, Missed, Operation, Scenario, Secrets};

/// What is wrong with an answer.
pub(crate) enum Wrong<'a> {
    /// Its status is none of those expected.
    Status { follows: bool },
    /// Its body does not hold this.
    Without { text: &'a [u8], body: &'a [u8] },
    /// Its body cannot be decoded.
    Coded(Undecodable),
    /// It ended before so many events.
    Events { awaited: u32, counted: u32 },
    /// Its status of gRPC is none that all went well.
    Grpc(&'a GrpcStatus),
    /// Its message of gRPC cannot be read.
    Message(String),
    /// A value in it is longer than what is kept.
    TooLong { name: &'a str, bytes: usize },
}

impl Wrong<'_> {
    /// How it is counted.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Wrong::Status { .. } | Wrong::Grpc(_) => ErrorKind::Status,
            Wrong::Without { .. }
            | Wrong::Coded(_)
            | Wrong::Events { .. }
            | Wrong::Message(_)
            | Wrong::TooLong { .. } => ErrorKind::Content,
        }
    }

    /// What is wrong, for people.
    pub fn detail(&self, answer: &Answer, secrets: &Secrets) -> String {
        let status = answer.status;
        // A server may answer with what it was sent; what is cut off could not be recognized any more.
        let shown = |bytes: &[u8]| secrets.redacted(&text(bytes)).into_owned();
        let start_of = |bytes: &[u8]| quote::start_of(shown(bytes).as_bytes());
        match self {
            Wrong::Without { text, body } => {
                let instead = quote::instead_of(text, shown(body).as_bytes());
                let text = shown(text);
                let coding = self::text(&answer.coding);
                let of_coded =
                    if coding.is_empty() { String::new() } else { format!(" in its {coding} body") };
                format!("answered {status} without {text:?}{of_coded}: {instead}")
            }
            Wrong::Events { awaited, counted } => {
                let body = start_of(&answer.body);
                format!("answered {status}; its stream ended with {counted} of {awaited} events: {body}")
            }
            Wrong::Grpc(GrpcStatus { code: None, .. }) => {
                format!("answered {status} without a grpc-status: no answer of gRPC")
            }
            Wrong::Grpc(of @ GrpcStatus { code: Some(code), .. }) => {
                let name = grpc::name(*code).unwrap_or_default();
                let message = of.message();
                let says = if message.is_empty() { String::new() } else { start_of(message.as_bytes()) };
                let colon = if message.is_empty() { "" } else { ": " };
                format!("answered {name} ({code}){colon}{says}")
            }
            Wrong::Message(why) => format!("answered OK; {why}"),
            Wrong::Coded(why) => format!("answered {status}; {why}"),
            Wrong::TooLong { name, bytes } => {
                format!("answered {status}; the value {name:?} in it has {bytes} bytes, more than are kept")
            }
            Wrong::Status { follows } if !answer.location.is_empty() => {
                let to = start_of(&answer.location);
                let more = if *follows { "which leads too far" } else { "which is not followed" };
                format!("answered {status} to {to}, {more}")
            }
            Wrong::Status { .. } if answer.body.is_empty() => format!("answered {status}"),
            Wrong::Status { .. } => match Decoder::default().body(answer) {
                Ok(body) => format!("answered {status}: {}", start_of(body)),
                Err(why) => format!("answered {status}; {why}"),
            },
        }
    }
}

/// Bytes as text, those that are none escaped.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(
            chunk.invalid().iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from),
        );
    }
    text
}

/// The status by which an answer is counted: that of gRPC, which is below 100, where it answers a call of it.
pub(crate) fn status_of(operation: &Operation, answer: &Answer) -> u16 {
    let of_grpc = answer.grpc.code.filter(|_| operation.grpc.is_some() && operation.expects(answer.status));
    of_grpc.unwrap_or(answer.status)
}

/// What is reused from answer to answer of a run: the decoder of bodies, and what there is to remark.
#[derive(Default)]
pub(crate) struct Reused {
    decoder: Decoder,
    pub remarks: Remarks,
}

/// An answer, with what it answers.
#[derive(Clone, Copy)]
pub(crate) struct Exchanged<'a> {
    pub operation: &'a Operation,
    pub request: &'a Request,
    pub answer: &'a Answer,
}

impl<'a> Exchanged<'a> {
    /// Whether the answer is what its operation expects; its body, as far as that is needed.
    fn check<'d>(&self, decoder: &'d mut Decoder) -> Result<&'d [u8], Wrong<'d>>
    where
        'a: 'd,
    {
        let Exchanged { operation, request, answer } = *self;
        if !operation.expects(answer.status) {
            return Err(Wrong::Status { follows: operation.follow_redirects });
        }
        if let Some((awaited, counted)) = answer.events.counts().filter(|_| !answer.events.is_done()) {
            return Err(Wrong::Events { awaited, counted });
        }
        if operation.grpc.is_some() && answer.grpc.code != Some(0) {
            return Err(Wrong::Grpc(&answer.grpc));
        }
        let body = match (operation.keeps_body, &operation.grpc) {
            (false, _) => &[],
            (true, None) => decoder.body(answer).map_err(Wrong::Coded)?,
            (true, Some(method)) => decoder.message(answer, method).map_err(Wrong::Message)?,
        };
        match operation.lacks(request.part(RequestPart::Expected), body) {
            Some(text) if !operation.forgets_at(answer.status) => Err(Wrong::Without { text, body }),
            _ => Ok(body),
        }
    }

    /// What is wrong with the answer; nothing is taken from it.
    pub fn wrong<'d>(&self, reused: &'d mut Reused) -> Option<Wrong<'d>>
    where
        'a: 'd,
    {
        self.check(&mut reused.decoder).err()
    }

    /// Checks the answer. Its user gets the values of a correct one, and forgets those that the server no longer accepts.
    pub fn take<'d>(
        &self,
        session: &mut Session,
        scenario: &'a Scenario,
        base: &BaseUrl,
        Reused { decoder, remarks }: &'d mut Reused,
    ) -> Result<(), Wrong<'d>>
    where
        'a: 'd,
    {
        let Exchanged { operation, request, answer } = *self;
        let checked = self.check(decoder);
        if operation.forgets_at(answer.status) {
            session.forget(operation);
            return checked.map(drop);
        }
        let answered = Answered { body: checked?, head: &answer.head };
        let mut outcome = Ok(());
        session.extract(scenario, operation, &answered, (base, request), &mut |extract, found| {
            remarks.searched(extract, found, || scenario.instead_of(extract, &answered));
            if let Err(Missed::TooLong(bytes)) = found {
                outcome = Err(Wrong::TooLong { name: scenario.extracted(extract).0, bytes });
            }
        });
        outcome
    }
}
