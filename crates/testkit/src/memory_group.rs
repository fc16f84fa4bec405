//! A control group of this machine's memory controller.

use std::fs;
use std::path::{Path, PathBuf};

/// A new group; removed when dropped, which needs that it is empty.
pub struct MemoryGroup(PathBuf);

impl MemoryGroup {
    /// `None` where none can be made.
    pub fn new(name: &str) -> Option<MemoryGroup> {
        let name = format!("assay-test-{name}-{}", std::process::id());
        let roots = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].map(Path::new);
        let has_charge = |folder: &Path| {
            ["memory.usage_in_bytes", "memory.current"].iter().any(|file| folder.join(file).exists())
        };
        roots.into_iter().find_map(|root| {
            let folder = root.join(&name);
            fs::create_dir(&folder).ok()?;
            let group = MemoryGroup(folder);
            has_charge(&group.0).then_some(group)
        })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Limits what its processes may take, swap included; `false` where the kernel does not take that.
    pub fn limit(&self, bytes: u64) -> bool {
        let write = |file: &str, text: String| fs::write(self.0.join(file), text).is_ok();
        // Where there is no account of swap, memory alone is limited.
        if self.0.join("memory.max").exists() {
            let _ = write("memory.swap.max", "0".to_owned());
            return write("memory.max", bytes.to_string());
        }
        let is_limited = write("memory.limit_in_bytes", bytes.to_string());
        let _ = write("memory.memsw.limit_in_bytes", bytes.to_string());
        is_limited
    }

    /// The most that was charged to it; `None` where the kernel does not say.
    pub fn peak_bytes(&self) -> Option<u64> {
        let files = ["memory.max_usage_in_bytes", "memory.peak"].map(|file| self.0.join(file));
        files.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
