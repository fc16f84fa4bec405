//! What each kind of frame does to a connection.

use super::fault::{self, Fault, REFUSED_STREAM};
use super::frame::{self, Head};
use super::{BLOCK_BYTES_MAX, Http2, WINDOW_BYTES};
use crate::protocol::{Event, Exchange, Failure};

/// A window that is narrower than this is opened anew.
const WINDOW_BYTES_LOW: i64 = 1 << 29;
const WINDOW_BYTES_MAX: i64 = (1 << 31) - 1;
/// Acknowledgments that may wait for a server that does not read.
const ACKNOWLEDGMENTS_MAX: u32 = 10_000;

impl Http2 {
    /// A whole frame.
    pub(super) fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Failure> {
        if self.block.is_some() && head.kind != frame::CONTINUATION {
            return Err(Fault::Interrupted.into());
        }
        if !self.is_ready && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            return Err(Fault::Preface.into());
        }
        if matches!(head.kind, frame::DATA | frame::HEADERS | frame::RST_STREAM)
            && (head.stream.is_multiple_of(2) || self.next_id <= head.stream)
        {
            return Err(Fault::Stream.into());
        }
        match head.kind {
            frame::DATA => self.data(head, payload, out),
            frame::HEADERS => self.headers(head, frame::content(head, payload)?, out),
            frame::CONTINUATION => self.continuation(head, payload, out),
            frame::RST_STREAM => self.reset(head, payload),
            frame::SETTINGS => self.settings(head, payload, out),
            frame::PUSH_PROMISE => Err(Fault::Push.into()),
            frame::PING if payload.len() != 8 => Err(Fault::FrameLength.into()),
            frame::PING if head.has(frame::ACK) => Ok(None),
            frame::PING => {
                self.acknowledge()?;
                frame::put(out, frame::PING, frame::ACK, 0, payload);
                Ok(None)
            }
            frame::GOAWAY => self.go_away(payload),
            frame::WINDOW_UPDATE => self.window_update(head, payload, out),
            // PRIORITY, and what later standards add: section 5.5.
            _ => Ok(None),
        }
    }

    fn data(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        let body = frame::content(head, payload)?;
        // Padding counts too, and so does what comes on a stream that was given up: sections 6.1 and 5.4.2.
        self.room -= head.length as i64;
        if self.room < 0 {
            return Err(Fault::Window.into());
        }
        if self.room < WINDOW_BYTES_LOW {
            let more = i64::from(WINDOW_BYTES) - self.room;
            self.room += more;
            frame::put_number(out, frame::WINDOW_UPDATE, 0, more as u32);
        }
        let Some(at) = self.stream_of(head.stream) else { return Ok(None) };
        let stream = &mut self.streams[at];
        stream.room -= head.length as i64;
        if stream.room < 0 {
            return Err(Fault::Window.into());
        }
        let before = stream.answer.events;
        if let Err(why) = stream.data(body) {
            return Ok(Some(self.fail(at, why, out)));
        }
        if stream.answer.events.is_done() && !head.has(frame::END_STREAM) {
            // Nothing waits for the work that goes on behind them.
            let keep_alive = self.abandon(at, out);
            return Ok(Some(Event::Answered { stream: at, keep_alive }));
        }
        if head.has(frame::END_STREAM) {
            return Ok(Some(self.ended(at, out)));
        }
        if stream.room < WINDOW_BYTES_LOW {
            let more = i64::from(WINDOW_BYTES) - stream.room;
            stream.room += more;
            frame::put_number(out, frame::WINDOW_UPDATE, head.stream, more as u32);
        }
        Ok(stream.answer.events.goes_on_from(before).then_some(Event::Streamed { stream: at }))
    }

    fn headers(&mut self, head: Head, block: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        if head.has(frame::END_HEADERS) {
            return self.whole_block(head, block, out);
        }
        self.block = Some((head, block.to_vec()));
        Ok(None)
    }

    fn continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Failure> {
        let Some((first, block)) = self.block.as_mut().filter(|(first, _)| first.stream == head.stream)
        else {
            return Err(Fault::Interrupted.into());
        };
        block.extend_from_slice(payload);
        // Empty frames without end would bring no length, but work.
        if BLOCK_BYTES_MAX < block.len() || (payload.is_empty() && !head.has(frame::END_HEADERS)) {
            return Err(Fault::HeadTooLong.into());
        }
        if !head.has(frame::END_HEADERS) {
            return Ok(None);
        }
        let (first, block) = (*first, std::mem::take(block));
        self.block = None;
        self.whole_block(first, &block, out)
    }

    /// Every block is decoded, since it changes the table, also where nobody waits for it any more.
    fn whole_block(&mut self, head: Head, block: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        let at = self.stream_of(head.stream);
        let inflater = self.inflater.as_mut().ok_or(Fault::Memory)?;
        let Some(at) = at else {
            inflater.block(block, |_, _| ())?;
            return Ok(None);
        };
        let stream = &mut self.streams[at];
        stream.begin_block();
        inflater.block(block, |name, value| stream.header(name, value))?;
        let is_last = head.has(frame::END_STREAM);
        if let Err(why) = stream.end_block(is_last) {
            return Ok(Some(self.fail(at, why, out)));
        }
        Ok(is_last.then(|| self.ended(at, out)))
    }

    fn reset(&mut self, head: Head, payload: &[u8]) -> Result<Option<Event>, Failure> {
        let code = frame::number(payload)?;
        let Some(at) = self.stream_of(head.stream) else { return Ok(None) };
        self.free(at);
        let why = fault::name(code);
        Ok(Some(Event::Failed { stream: at, is_undone: code == REFUSED_STREAM, why }))
    }

    fn settings(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Failure> {
        if head.has(frame::ACK) {
            return Ok(None);
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() || head.stream != 0 {
            return Err(Fault::FrameLength.into());
        }
        let (was_ready, allowed_before) = (self.is_ready, self.streams_max);
        for [a, b, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*a, *b]) {
                1 => self.deflater.table(value),
                3 => self.streams_max = value as usize,
                4 => self.set_stream_window(i64::from(value))?,
                5 if !(16_384..=16_777_215).contains(&value) => return Err(Fault::Setting.into()),
                // As large as what is copied at once.
                5 => self.frame_bytes_max = (value as usize).min(64 << 10),
                _ => (),
            }
        }
        self.acknowledge()?;
        frame::put(out, frame::SETTINGS, frame::ACK, 0, &[]);
        self.is_ready = true;
        self.send_bodies(out);
        Ok((was_ready && self.streams_max != allowed_before).then_some(Event::Room))
    }

    fn set_stream_window(&mut self, bytes: i64) -> Result<(), Fault> {
        if WINDOW_BYTES_MAX < bytes {
            return Err(Fault::Setting);
        }
        // It may become less than nothing: section 6.9.2.
        let more = bytes - self.stream_window;
        self.stream_window = bytes;
        for stream in self.streams.iter_mut().filter(|stream| stream.id != 0) {
            stream.window += more;
            if WINDOW_BYTES_MAX < stream.window {
                return Err(Fault::WindowUpdate);
            }
        }
        Ok(())
    }

    fn send_bodies(&mut self, out: &mut Vec<u8>) {
        for at in 0..self.streams.len() {
            if self.streams[at].id != 0 && !self.streams[at].is_whole() {
                self.send_body(at, out);
            }
        }
    }

    fn window_update(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event>, Failure> {
        let more = i64::from(frame::number(payload)? & 0x7fff_ffff);
        if head.stream == 0 {
            self.window += more;
            if more == 0 || WINDOW_BYTES_MAX < self.window {
                return Err(Fault::WindowUpdate.into());
            }
            self.send_bodies(out);
        } else if let Some(at) = self.stream_of(head.stream) {
            self.streams[at].window += more;
            if more == 0 || WINDOW_BYTES_MAX < self.streams[at].window {
                return Ok(Some(self.fail(at, "a window beyond 2 GiB, or widened by nothing", out)));
            }
            self.send_body(at, out);
        }
        Ok(None)
    }

    /// Section 6.8. A server that leaves for an error answers nothing any more.
    fn go_away(&mut self, payload: &[u8]) -> Result<Option<Event>, Failure> {
        let last = frame::number(payload)? & 0x7fff_ffff;
        let code = frame::number(payload.get(4..).unwrap_or_default())?;
        // One that leaves in steps says so several times, and leaves once.
        if self.last_answered.is_none() || code != fault::NO_ERROR {
            self.goodbye = Some(code);
        }
        if code != fault::NO_ERROR {
            let text = String::from_utf8_lossy(&payload[8..payload.len().min(200)]).into_owned();
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            let name = fault::name(code);
            let said = if text.is_empty() { String::new() } else { format!(", and says {text:?}") };
            return Err(Failure::Protocol(
                format!("the server ends the connection with {name}{said}").into(),
            ));
        }
        self.last_answered = Some(self.last_answered.map_or(last, |before| before.min(last)));
        Ok(Some(Event::Leaving))
    }

    fn acknowledge(&mut self) -> Result<(), Fault> {
        self.acknowledgments += 1;
        if ACKNOWLEDGMENTS_MAX < self.acknowledgments { Err(Fault::Flood) } else { Ok(()) }
    }
}
