//! What the unit tests of this crate share.

use std::io::{Result, Write};
use std::sync::{Arc, Mutex};

/// A writer whose bytes can be read after another thread wrote them.
#[derive(Clone, Default)]
pub struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().expect("no writer panicked"))
    }
}

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.lock().expect("no writer panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
