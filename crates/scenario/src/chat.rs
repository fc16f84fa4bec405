//! Chat: rooms, and what their users say.

use crate::file::ChatFile;

/// Longest message, bytes.
pub const MESSAGE_BYTES_MAX: usize = 896;

const ROOM_USERS_MAX: usize = 1_000;

/// Users who say something to all others of their room.
#[derive(Debug, Clone)]
pub struct Chat {
    /// Of each room.
    pub room_users: usize,
    message_bytes: usize,
    pub(crate) timeout_ns: u64,
}

impl Chat {
    /// As the file says. What is wrong goes to `wrong`.
    pub(crate) fn of(file: &ChatFile, wrong: &mut dyn FnMut(String)) -> Chat {
        let ChatFile { room_users, message_bytes, timeout_ms } = *file;
        for (name, value, least, most) in [
            ("room_users", room_users as u64, 2, ROOM_USERS_MAX as u64),
            ("message_bytes", message_bytes as u64, 1, MESSAGE_BYTES_MAX as u64),
            ("timeout_ms", timeout_ms, 1, 3_600_000),
        ] {
            if !(least..=most).contains(&value) {
                wrong(format!("{name} {value} is not from {least} to {most}"));
            }
        }
        Chat { room_users, message_bytes, timeout_ns: timeout_ms.saturating_mul(1_000_000) }
    }

    /// What they say: always the same, so that it can be compared.
    pub fn text(&self) -> Vec<u8> {
        (b'a'..=b'z').cycle().take(self.message_bytes).collect()
    }
}
