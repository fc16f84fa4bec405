//! Purpose of a function of libjvm, by the class that it belongs to.
//!
//! HotSpot's classes say where they belong by how their names begin or end; others are listed. A function of no class, or of one that is
//! not here, has no group. Held by: `functions_have_the_group_of_their_class`.

use assay_model::CodePlace::{self, *};

/// Classes by the end of their names, before what they begin with: `G1BarrierSetC2` is the compiler's part of G1.
const ENDS: [(CodePlace, &[&str]); 1] = [(JvmCompiler, &["Node", "C1", "C2", "Assembler"])];

/// By their beginning, behind which another word begins.
const BEGINNINGS: [(CodePlace, &[&str]); 3] = [
    (
        JvmCollector,
        &["G1", "Z", "X", "Shenandoah", "PS", "ParCompact", "Serial", "MarkSweep", "GC", "GenCollected"],
    ),
    (JvmCompiler, &["ci", "Phase", "LIR", "LinearScan", "C1", "C2", "JVMCI", "Type"]),
    (JvmRuntime, &["Jfr", "Jvmti", "Safepoint", "StackWatermark", "Continuation"]),
];

/// By their whole names.
const CLASSES: [(CodePlace, &[&str]); 4] = [
    (
        JvmCollector,
        &[
            "CollectedHeap",
            "DefNewGeneration",
            "TenuredGeneration",
            "Generation",
            "CardTable",
            "CardTableRS",
            "OopOopIterateDispatch",
            "OopOopIterateBoundedDispatch",
            "OopOopIterateBackwardsDispatch",
            "MutableSpace",
            "ContiguousSpace",
            "CompactibleSpace",
            "HeapRegion",
            "HeapRegionManager",
            "HeapRegionRemSet",
            "ReferenceProcessor",
            "WeakProcessor",
            "StringDedup",
            "OopStorage",
            "OopStorageSetWeakParState",
            "ParallelScavengeHeap",
            "ParallelCompact",
            "GangWorker",
            "WorkGang",
            "AbstractGangWorker",
            "WorkerThread",
            "WorkerThreads",
            "TaskTerminator",
            "ParallelTaskTerminator",
            "FreeListAllocator",
            "TaskQueueSetSuper",
            "AgeTable",
            "PreservedMarks",
            "MemAllocator",
            "ThreadLocalAllocBuffer",
            "GenMarkSweep",
            "ConcurrentGCThread",
            "DirtyCardQueueSet",
            "BlockOffsetTable",
            "ObjArrayAllocator",
            "SatbMarkQueueSet",
            "SATBMarkQueueSet",
        ],
    ),
    (
        JvmCompiler,
        &[
            "Compile",
            "CompileBroker",
            "CompileTask",
            "CompileQueue",
            "Compilation",
            "CompilationPolicy",
            "Compiler",
            "AbstractCompiler",
            "Parse",
            "GraphKit",
            "GraphBuilder",
            "IdealKit",
            "LibraryCallKit",
            "Matcher",
            "SuperWord",
            "VLoopAnalyzer",
            "VTransform",
            "ConnectionGraph",
            "IdealLoopTree",
            "Canonicalizer",
            "RangeCheckEliminator",
            "BCEscapeAnalyzer",
            "IR",
            "IRScope",
            "BlockBegin",
            "ComputeLinearScanOrder",
            "GlobalValueNumbering",
            "ValueMap",
            "ValueStack",
            "ValueNumberingVisitor",
            "InlineTree",
            "CallGenerator",
            "ParseGenerator",
            "PredictedCallGenerator",
            "LateInlineCallGenerator",
            "MemoryGraphFixer",
            "Scheduling",
            "RegMask",
            "IndexSet",
            "IndexSetIterator",
            "LRG",
            "LRG_List",
            "FrameMap",
            "MethodLiveness",
            "Dependencies",
            "CodeBuffer",
            "DebugInformationRecorder",
            "StringConcat",
            "State",
            "Block",
            "Block_Array",
            "Block_List",
            "Node_Array",
            "Node_List",
            "Unique_Node_List",
            "NodeHash",
            "PhiResolver",
            "MoveResolver",
            "Optimizer",
            "NullCheckEliminator",
            "UnionFind",
            "JVMState",
            "Instruction",
            "Interval",
            "CodeInstaller",
            "CompilerToVM",
        ],
    ),
    (
        JvmClasses,
        &[
            "ClassFileParser",
            "ClassFileStream",
            "ClassLoader",
            "ClassLoaderData",
            "ClassLoaderDataGraph",
            "ClassLoaderExt",
            "ClassVerifier",
            "Verifier",
            "StackMapFrame",
            "StackMapTable",
            "StackMapReader",
            "VerificationType",
            "SystemDictionary",
            "SystemDictionaryShared",
            "Dictionary",
            "PlaceholderTable",
            "LoaderConstraintTable",
            "SymbolTable",
            "Symbol",
            "InstanceKlass",
            "Klass",
            "ArrayKlass",
            "ObjArrayKlass",
            "KlassFactory",
            "ConstantPool",
            "ConstantPoolCache",
            "ConstantPoolCacheEntry",
            "ConstMethod",
            "Method",
            "Rewriter",
            "LinkResolver",
            "DefaultMethods",
            "FieldLayout",
            "FieldLayoutBuilder",
            "klassVtable",
            "klassItable",
            "Modules",
            "ModuleEntry",
            "ModuleEntryTable",
            "PackageEntryTable",
            "MetaspaceShared",
            "FileMapInfo",
            "HeapShared",
            "Metaspace",
            "metaspace",
            "VM_RedefineClasses",
            "Annotations",
            "BytecodeConstants",
            "CDSConfig",
            "AOTLinkedClassTable",
        ],
    ),
    (
        JvmRuntime,
        &[
            "InterpreterRuntime",
            "SharedRuntime",
            "OptoRuntime",
            "Runtime1",
            "JVMCIRuntime",
            "Deoptimization",
            "ObjectMonitor",
            "ObjectSynchronizer",
            "LightweightSynchronizer",
            "BiasedLocking",
            "BasicLock",
            "JavaThread",
            "Thread",
            "Threads",
            "ThreadsSMRSupport",
            "ThreadSafepointState",
            "ThreadLocalHandshakes",
            "HandshakeState",
            "Handshake",
            "Monitor",
            "Mutex",
            "MutexLocker",
            "Parker",
            "ParkEvent",
            "PlatformMonitor",
            "PlatformEvent",
            "VMThread",
            "VM_Operation",
            "VMOperation",
            "WatcherThread",
            "JavaCalls",
            "Exceptions",
            "java_lang_Throwable",
            "vframeStream",
            "vframeStreamCommon",
            "frame",
            "StackWalk",
            "OopMapSet",
            "OopMapCache",
            "OopMapCacheEntry",
            "GenerateOopMap",
            "nmethod",
            "CodeCache",
            "CompiledMethod",
            "CodeBlob",
            "NMethodSweeper",
            "CompiledIC",
            "MethodHandles",
            "os",
            "JNIHandles",
            "JNIHandleBlock",
            "Reflection",
            "StringTable",
            "AccessInternal",
            "Events",
            "ThreadInVMfromJava",
            "freeze_internal",
            "thaw_internal",
            "FreezeBase",
            "ThawBase",
            "CodeHeap",
            "ICacheStubInterface",
            "ProgrammableUpcallHandler",
            "UpcallLinker",
        ],
    ),
];

/// The group of a function, by its readable name.
pub(crate) fn jvm_group_of(function: &str) -> CodePlace {
    let Some(class) = class_of(function) else { return Jvm };
    let is_word_next = |rest: &str| rest.starts_with(|next: char| next.is_ascii_uppercase() || next == '_');
    let begins = |names: &[&str]| names.iter().any(|name| class.strip_prefix(name).is_some_and(is_word_next));
    let in_rows = |rows: &[(CodePlace, &[&str])], holds: &dyn Fn(&[&str]) -> bool| {
        rows.iter().find(|(_, names)| holds(names)).map(|(group, _)| *group)
    };
    in_rows(&CLASSES, &|names| names.contains(&class.as_str()))
        .or_else(|| {
            in_rows(&ENDS, &|names| names.iter().any(|end| class.len() > end.len() && class.ends_with(end)))
        })
        .or_else(|| in_rows(&BEGINNINGS, &begins))
        .unwrap_or(Jvm)
}

/// The outermost class or namespace in `void Outer<Args>::Inner::function<T>(int)`; `None` for a function of none.
fn class_of(function: &str) -> Option<String> {
    let mut depth = 0u32;
    let mut name = String::new();
    for c in function.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            // The text before it is the return type.
            ' ' if depth == 0 => name.clear(),
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    name.split_once("::").map(|(class, _)| class.to_owned()).filter(|class| !class.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_group_of_their_class() {
        let groups = [
            ("G1ParScanThreadState::trim_queue_to_threshold(unsigned int)", JvmCollector),
            (
                "void OopOopIterateDispatch<G1CMOopClosure>::Table::oop_oop_iterate<InstanceKlass, narrowOop>(G1CMOopClosure*, oopDesc*, Klass*)",
                JvmCollector,
            ),
            ("ZMark::drain(ZMarkContext*)", JvmCollector),
            ("PSPromotionManager::drain_stacks_depth(bool)", JvmCollector),
            ("G1BarrierSetC2::load_at_resolved(C2Access&, Type const*) const", JvmCompiler),
            ("PhaseIdealLoop::build_loop_late_post(Node*)", JvmCompiler),
            ("AddINode::Ideal(PhaseGVN*, bool)", JvmCompiler),
            ("ciMethod::get_flow_analysis()", JvmCompiler),
            ("LIRGenerator::do_If(If*)", JvmCompiler),
            (
                "ClassFileParser::parse_methods(ClassFileStream const*, bool, bool*, bool*, Thread*)",
                JvmClasses,
            ),
            ("SystemDictionary::resolve_or_null(Symbol*, Handle, Handle, Thread*)", JvmClasses),
            ("ObjectMonitor::enter(JavaThread*)", JvmRuntime),
            ("SafepointSynchronize::begin()", JvmRuntime),
            ("os::javaTimeNanos()", JvmRuntime),
            ("JVM_CurrentTimeMillis", Jvm),
            ("circus::run()", Jvm),
            ("Zebra::run()", Jvm),
            ("(anonymous namespace)::helper()", Jvm),
            ("", Jvm),
            ("<<<>", Jvm),
        ];
        for (function, group) in groups {
            assert_eq!(jvm_group_of(function), group, "{function}");
        }
    }

    #[test]
    fn no_class_stands_in_two_rows() {
        let mut names: Vec<&str> = CLASSES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let before = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}
