//! The methods that the JIT compilers are compiling.
//!
//! A compiler's thread has an environment (`ciEnv`, on its stack) for as long as it compiles one method; that has the task, and the task the
//! method. All are exported, in 8 to 28.

use crate::{Hotspot, JvmThread, Names};
use assay_model::ThreadKind;

/// A name of a method is an entry of the constant pool of its class: indexes have 16 bits.
const INDEX_BYTES: u64 = 2;

impl Hotspot<'_> {
    /// The methods under compilation, a compiler's thread each: `java.lang.String::hashCode`.
    pub fn compilations(&self, threads: &[JvmThread], names: &Names<'_>) -> Vec<String> {
        let compilers = threads.iter().filter(|thread| thread.kind == ThreadKind::Compiler);
        compilers.filter_map(|thread| self.compiled_by(thread, names)).collect()
    }

    fn compiled_by(&self, thread: &JvmThread, names: &Names<'_>) -> Option<String> {
        let environment = self.pointer(thread.address, &[("CompilerThread", "_env")])?;
        let task = self.pointer(environment, &[("ciEnv", "_task")])?;
        self.method_name(self.pointer(task, &[("CompileTask", "_method")])?, names)
    }

    /// Class and name of a method.
    fn method_name(&self, method: u64, names: &Names<'_>) -> Option<String> {
        let fixed = self.pointer(method, &[("Method", "_constMethod")])?;
        let pool = self.pointer(fixed, &[("ConstMethod", "_constants")])?;
        let class = names.class_of_klass(self.pointer(pool, &[("ConstantPool", "_pool_holder")])?)?;
        let source = self.source();
        let mut index = [0; INDEX_BYTES as usize];
        source.read(self.place(fixed, &[("ConstMethod", "_name_index")])?, &mut index).ok()?;
        // The entries lie behind the head of the pool, a word each.
        let entries = pool.checked_add(self.structs().size_of("ConstantPool")?)?;
        let entry = entries.checked_add(u64::from(u16::from_le_bytes(index)) * source.word_bytes())?;
        let name = names.symbol_at(source.word(entry)?)?;
        Some(format!("{class}::{name}"))
    }
}
