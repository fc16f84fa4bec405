//! The JVMs of the machine, by the kernel's names of their threads.

use assay_linux::ProcRoot;
use assay_model::JvmsOfMachine;

/// Every HotSpot JVM has one.
const VM_THREAD: &str = "VM Thread";
/// Threads of collectors that work side by side, as the kernel cuts their names (JDK 17 to 25).
const GC_WORKERS: [&str; 3] = ["GC Thread#", "ZWorker", "Shenandoah GC T"];

/// Those whose threads may be listed; `None` where processes may not.
pub(crate) fn jvms_of_machine(proc: &ProcRoot) -> Option<JvmsOfMachine> {
    let mut jvms = JvmsOfMachine::default();
    for process in proc.read_processes().ok()? {
        let Ok(names) = proc.read_thread_names(process.pid) else { continue };
        if names.iter().any(|name| name == VM_THREAD) {
            let is_worker = |name: &&String| GC_WORKERS.iter().any(|own| name.starts_with(own));
            jvms.processes += 1;
            jvms.gc_threads += names.iter().filter(is_worker).count() as u64;
        }
    }
    Some(jvms)
}
