//! The integration tests of this crate, linked as one program; each file is a module. `allocations` is a program of its own: it replaces
//! the global allocator.

mod at_once;
mod certificates;
mod chat;
mod dense;
mod gate;
mod http;
mod http2;
mod java_reads_the_log;
mod omission;
mod opening;
mod priority;
mod stalls;
mod tls;
mod truth;
mod virtual_time;
mod websocket;
mod window;
