//! Rules that more than one number decides.

mod jvm;
mod limits;
mod memory;
mod network;
mod processors;
mod proxy;

use super::view::{Judged, Judgement, View};
use assay_model::HostRule;

/// What the rule's own judge says.
pub(super) fn judge(view: &View<'_>) -> Judgement {
    match view.rule.id {
        HostRule::ThpThreadStacks => memory::thp_thread_stacks(view),
        HostRule::ThpRequested => memory::thp_requested(view),
        HostRule::HugePagesUnused => memory::huge_pages_unused(view),
        HostRule::HugePagesDelivered => memory::huge_pages_delivered(view),
        HostRule::SwapUsed => memory::swap_used(view),
        HostRule::Swappiness => memory::swappiness(view),
        HostRule::Overcommit => memory::overcommit(view),
        HostRule::NumaBalancing => memory::numa_balancing(view),
        HostRule::NumaSpanned => memory::numa_spanned(view),
        HostRule::MappingsHeadroom => limits::mappings(view),
        HostRule::MemoryAvailable => memory::available(view),
        HostRule::MemoryPressure | HostRule::CpuPressure | HostRule::IoPressure => processors::pressure(view),
        HostRule::HeapsOverMemory => memory::heaps_over_memory(view),
        HostRule::HeapOverContainer => memory::heap_over_container(view),
        HostRule::ContainerUnseen => memory::container_unseen(view),
        HostRule::MallocArenas => memory::malloc_arenas(view),
        HostRule::Governor | HostRule::EnergyPreference => processors::all_performance(view),
        HostRule::Smt => processors::smt(view),
        HostRule::OfflineProcessors => processors::offline(view),
        HostRule::Steal => processors::steal(view),
        HostRule::LoadAverage => processors::load_average(view),
        HostRule::Prefetcher => processors::prefetcher(view),
        HostRule::Throttled => processors::throttled(view),
        HostRule::GcThreadsOverLimit => processors::gc_threads_over_limit(view),
        HostRule::GcThreadsSum => processors::gc_threads_sum(view),
        HostRule::SerialByDefault => jvm::serial_by_default(view),
        HostRule::ReceiveOnOneCpu => network::receive_on_one_cpu(view),
        HostRule::ReceiveSteering => network::receive_steering(view),
        HostRule::PacketsDropped => network::packets_dropped(view),
        HostRule::ReceiveBudget => network::receive_budget(view),
        HostRule::AcceptOverflow => network::counted(view, "ListenOverflows"),
        HostRule::SynQueue => network::counted(view, "TCPReqQFullDrop"),
        HostRule::LocalPorts => network::local_ports(view),
        HostRule::ConnectionTracking => network::connection_tracking(view),
        HostRule::AdapterNode => network::adapter_node(view),
        HostRule::OpenFiles => limits::open_files(view),
        HostRule::OpenFilesOfMachine => limits::open_files_of_machine(view),
        HostRule::ThreadsOfMachine => limits::threads_of_machine(view),
        HostRule::ThreadsOfGroup => limits::threads_of_group(view),
        HostRule::ProcessesOfUser => limits::processes_of_user(view),
        HostRule::CompressedOopsThreshold => jvm::compressed_oops_threshold(view),
        HostRule::CodeCache => jvm::code_cache(view),
        HostRule::ThreadStackSize => jvm::thread_stack_size(view),
        HostRule::GcLog => jvm::gc_log(view),
        HostRule::HeapDumpOnOom => jvm::heap_dump_on_oom(view),
        HostRule::NumaWithoutNodes => jvm::numa_without_nodes(view),
        HostRule::StackTraceOmitted => jvm::stack_trace_omitted(view),
        HostRule::Atomics => jvm::atomics(view),
        HostRule::ProxyConnections => proxy::connections(view),
        HostRule::ProxyRequestsPerConnection => proxy::requests_per_connection(view),
        HostRule::ProxyUpstreamKeepalive => proxy::upstream_keepalive(view),
        HostRule::ProxyAccessLog => proxy::access_log(view),
        HostRule::ProxyOpenFiles => proxy::open_files(view),
        id => Err(Judged::unknown(format!("no judge for {id}"))),
    }
}
