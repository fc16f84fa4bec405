//! Swap of this machine in compressed memory, for tests.

use crate::Turn;
use crate::turn;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A device of compressed memory that is swapped to; gone when dropped. One test has it at a time.
#[derive(Debug)]
pub struct TestSwap {
    number: String,
    _turn: Turn,
}

impl TestSwap {
    /// So many MiB; an error says why there can be none here.
    ///
    /// # Errors
    /// Without zram, root or the programs of util-linux.
    pub fn new(mib: u64) -> Result<TestSwap, String> {
        let turn = turn("swap");
        let number =
            fs::read_to_string("/sys/class/zram-control/hot_add").map_err(|e| format!("no zram: {e}"))?;
        let swap = TestSwap { number: number.trim().to_owned(), _turn: turn };
        let size = Path::new("/sys/block").join(format!("zram{}/disksize", swap.number));
        fs::write(size, (mib << 20).to_string()).map_err(|e| format!("no zram: {e}"))?;
        swap.run("mkswap")?;
        swap.run("swapon")?;
        Ok(swap)
    }

    fn run(&self, program: &str) -> Result<(), String> {
        let mut command = Command::new(program);
        command.arg(format!("/dev/zram{}", self.number)).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program}: {status}")),
            Err(e) => Err(format!("{program}: {e}")),
        }
    }
}

impl Drop for TestSwap {
    fn drop(&mut self) {
        let _ = self.run("swapoff");
        let _ = fs::write(format!("/sys/block/zram{}/reset", self.number), "1");
        let _ = fs::write("/sys/class/zram-control/hot_remove", &self.number);
    }
}
