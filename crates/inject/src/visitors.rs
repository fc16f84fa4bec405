//! Visitors of an injector that have not proved yet who they are.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most at once. A controller proves who it is within two round trips, and so many others would have to come meanwhile to send it away.
const VISITORS_MAX: usize = 32;

/// Those who are there, in the order in which they came. Where there are too many, the one who has been silent longest has to go: connections
/// that say nothing lock nobody out.
#[derive(Default)]
pub(crate) struct Visitors(Mutex<There>);

#[derive(Default)]
struct There {
    /// By number.
    visitors: VecDeque<(u64, TcpStream)>,
    numbers: u64,
}

impl Visitors {
    /// A visitor comes; gives its number.
    pub fn enter(&self, stream: &TcpStream) -> io::Result<u64> {
        let stream = stream.try_clone()?;
        let mut there = self.there();
        if VISITORS_MAX <= there.visitors.len()
            && let Some((_, longest)) = there.visitors.pop_front()
        {
            // Wakes its thread.
            let _ = longest.shutdown(Shutdown::Both);
        }
        there.numbers += 1;
        let number = there.numbers;
        there.visitors.push_back((number, stream));
        Ok(number)
    }

    /// A visitor is none any more; says whether it was not sent away before.
    pub fn leave(&self, number: u64) -> bool {
        let mut there = self.there();
        let before = there.visitors.len();
        there.visitors.retain(|(other, _)| *other != number);
        there.visitors.len() < before
    }

    fn there(&self) -> MutexGuard<'_, There> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
