//! The tests of the crate as one program: each has its file. Only `allocations` is apart, which counts those of its whole process.

mod certificates;
mod chat;
mod dense;
mod http;
mod http2;
mod java_reads_the_log;
mod opening;
mod priority;
mod stalls;
mod tls;
mod truth;
mod virtual_time;
mod websocket;
mod window;
