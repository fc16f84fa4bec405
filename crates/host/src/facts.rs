//! Facts about this machine, gathered into the forms that are stored.

use assay_linux::{
    CgroupLimits, CpuInfo, LinuxError, MemInfo, OsRelease, ProcRoot, Processors, Resource, SysRoot,
};
use assay_model::{HostFacts, JvmFacts, Problem, Provenance, schema};
use std::collections::BTreeMap;

/// The program and host that make a stored file. `assay_version` is the program's own.
pub fn provenance(proc: &ProcRoot, assay_version: &str) -> Provenance {
    gather_provenance(proc, assay_version, &mut Vec::new())
}

/// The conditions of a run. `jvms` are those that it uses, `problems` those that are known already. What cannot be read is
/// absent, with a problem.
pub fn host_facts(
    proc: &ProcRoot,
    sys: &SysRoot,
    assay_version: &str,
    jvms: Vec<JvmFacts>,
    mut problems: Vec<Problem>,
) -> HostFacts {
    let provenance = gather_provenance(proc, assay_version, &mut problems);
    let limits = noted(proc.read_cgroups(sys, None).and_then(|g| g.read_limits()), &mut problems);
    let CgroupLimits { cpus, memory_bytes } = limits.unwrap_or_default();
    let pressure = noted(proc.read_pressure(Resource::Cpu), &mut problems).flatten();
    HostFacts {
        schema: schema::HOST.to_owned(),
        transparent_huge_pages: noted(sys.read_transparent_huge_pages(), &mut problems).flatten(),
        cpu_governor: noted(sys.read_cpu_governor(), &mut problems).flatten(),
        hypervisor: hypervisor(proc, sys, &mut problems),
        cgroup_cpu_limit: cpus,
        cgroup_memory_limit_bytes: memory_bytes,
        boot_id: noted(proc.read_boot_id(), &mut problems),
        allowed_processors: Processors::allowed().ok().map(|processors| processors.to_string()),
        kernel_settings: kernel_settings(proc, &mut problems),
        swap_bytes: proc.read_meminfo().ok().and_then(|m| m.swap_total_bytes),
        cpu_pressure_some_percent: pressure.map(|p| p.some.avg10_percent),
        provenance,
        jvms,
        problems,
    }
}

fn gather_provenance(proc: &ProcRoot, assay_version: &str, problems: &mut Vec<Problem>) -> Provenance {
    let MemInfo { total_bytes, .. } = noted(proc.read_meminfo(), problems).unwrap_or_default();
    let CpuInfo { model, .. } = noted(proc.read_cpuinfo(), problems).unwrap_or_default();
    let os = noted(OsRelease::read(), problems).flatten();
    Provenance {
        assay_version: assay_version.to_owned(),
        kernel: noted(proc.read_kernel_release(), problems),
        os: os.and_then(|os| os.pretty_name),
        architecture: std::env::consts::ARCH.to_owned(),
        cpu_model: model,
        // Respects the affinity mask and the control group's limit, as the program itself does.
        cpus: std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok()),
        memory_bytes: total_bytes,
    }
}

/// What a kubelet changes unless it is told not to (`--protect-kernel-defaults`): a host that has one is another host.
const OF_KUBELETS: [&str; 5] = [
    "vm.overcommit_memory",
    "vm.panic_on_oom",
    "kernel.panic",
    "kernel.panic_on_oops",
    "kernel.keys.root_maxkeys",
];

fn kernel_settings(proc: &ProcRoot, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
    let mut read =
        |name: &&str| Some(((*name).to_owned(), noted(proc.read_setting(name), problems).flatten()?));
    OF_KUBELETS.iter().filter_map(&mut read).collect()
}

/// The hypervisor's name, or that it gives none. Only the processor reports reliably that there is one (x86): the firmware
/// of a machine without one names a maker too.
fn hypervisor(proc: &ProcRoot, sys: &SysRoot, problems: &mut Vec<Problem>) -> Option<String> {
    let is_virtual = proc.read_cpuinfo().is_ok_and(|info| info.hypervisor_flag);
    is_virtual.then(|| {
        let name = noted(sys.read_hypervisor_name(), problems).flatten();
        name.unwrap_or_else(|| "a hypervisor that does not give its name".to_owned())
    })
}

fn noted<T>(read: Result<T, LinuxError>, problems: &mut Vec<Problem>) -> Option<T> {
    read.inspect_err(|e| problems.push(Problem::from(e))).ok()
}
