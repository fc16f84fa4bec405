//! Load from several injectors, which may be on several hosts, that act as one generator; or from several threads of this process
//! ([`Threads`]).
//!
//! A controller ([`Injectors`], a [`assay_load::LoadSource`]) hands each injector ([`serve`]) the scenario and its part of the
//! load, has all begin at one instant, and adds up what they recorded. Their histograms have the same buckets, so the sum
//! is that of one recorder of every request, to the bit
//! (`histograms_of_a_divided_stream_are_those_of_one_recorder`); percentiles are never averaged.
//!
//! # Protocol `assay-inject/7`
//!
//! One TCP connection for each injector, a handshake of the Noise protocol in which both prove that they know the token,
//! and then messages in JSON ([`message`]), encrypted and authenticated ([`session`]). A frame is a length (2 bytes,
//! big-endian) and a message of Noise; a message of ours takes as many frames as it needs, 32 MiB at most.
//!
//! ```text
//! injector                                        controller
//!    name of the protocol, in the clear ->
//!                                       <-        e      (Noise_NNpsk0_25519_ChaChaPoly_SHA256; psk: SHA-256 of the token)
//!    e, ee                              ->               or an empty frame: another token
//!    ------ from here on all is encrypted, under keys of this connection alone ------
//!                                       <-        name of the protocol: it has the keys
//!                                       <-        prepare: URL, scenario, connections, users, seed
//!    prepared                           ->
//!                                       <-        arm: window, part of the load
//!    armed (connections are open)       ->
//!                                       <-        ping   (several: round trips that compare the clocks)
//!    pong: own clock                    ->
//!                                       <-        start: instant, in the injector's clock
//!    beat: counts so far                ->        each 100 ms, also while idle
//!                                       <-        ping, each 200 ms during a window
//!    result: counts, histograms, ...    ->        once drained; then the next arm
//!                                       <-        stop, for an early end
//! ```
//!
//! - The token is never sent, and an eavesdropper sees neither scenario nor results, also if the token becomes known later.
//!   A frame that was changed, repeated, left out or exchanged ends the session.
//! - An injector from which nothing comes for [`SILENCE_MAX`] is lost. What it did since its last beat, and all its
//!   response times, are unknown; they are never counted as zero, and the window is invalid.
//! - An injector that hears nothing from its controller for [`CONTROLLER_SILENCE_MAX`] during a window, or loses the
//!   connection, ends its load. It writes no file.
//! - Clocks: of several round trips the fastest gives the offset of an injector's `CLOCK_MONOTONIC`, with half of that
//!   trip as its uncertainty ([`ClockOffset`]). Measured before and after each window.

mod accept;
#[cfg(any(test, fuzzing))]
pub mod any_bytes_tests;
mod clock_offset;
mod frame;
mod greeting;
mod group;
mod injector;
mod link;
mod merge;
mod message;
mod session;
#[cfg(test)]
mod session_tests;
mod share;
mod threads;
mod token;
mod visitors;
mod window;
mod worker;

pub use clock_offset::ClockOffset;
pub use group::{InjectorAddress, Injectors, InjectorsConfig};
pub use injector::{InjectorEvent, serve};
pub use threads::Threads;
pub use token::Token;

use std::time::Duration;

/// Silence after which an injector counts as lost. It beats eight times in it; what is left of the second in which a loss
/// is to be noticed is for a host that is slow to wake us (held by `check_loss` in tests/remote.rs).
pub const SILENCE_MAX: Duration = Duration::from_millis(800);
/// Silence of the controller after which an injector ends its load. The controller pings ten times in it.
pub const CONTROLLER_SILENCE_MAX: Duration = Duration::from_secs(2);
/// How often an injector reports its progress.
const BEAT_EVERY: Duration = Duration::from_millis(100);
/// How often the controller pings during a window.
const PING_EVERY: Duration = Duration::from_millis(200);
