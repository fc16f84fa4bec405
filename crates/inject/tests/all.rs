//! The integration tests of this crate, linked as one program; each file is a module.

#[path = "../../load/tests/certificates/mod.rs"]
mod certificates;
#[expect(dead_code, reason = "the tests of the generator need faults of every kind")]
#[path = "../../load/tests/chat/server.rs"]
mod chat_server;
#[expect(dead_code, reason = "the tests of the generator need servers of every kind")]
#[path = "../../load/tests/http2/server.rs"]
mod http2_server;
mod places;
mod protocols;
mod remote;
mod threads;
#[path = "../../load/tests/websocket/server.rs"]
mod websocket_server;
