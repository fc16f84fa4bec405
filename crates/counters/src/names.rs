//! Roles by the kernel's names of threads, for those that ended before the JVM's list could be read.
//!
//! The JVM gives the first letters of a thread's name to the kernel, so that threads of one pool share them there, too. Anybody may take
//! such a name: what follows from it is inferred.

use crate::jvm::Label;
use crate::role::pool_of;
use assay_model::ThreadRole;
use std::collections::HashMap;

/// Names that are kept; a program that gives each thread a name of its own has no pools to learn.
const NAMES_MAX: usize = 10_000;

/// What threads of a kernel name were, of those that the JVM lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct KernelNames {
    /// `None` where threads of one name have several roles.
    by_pool: HashMap<String, Option<Shared>>,
}

/// A role that all threads of a kernel name have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shared {
    role: ThreadRole,
    /// The Java name of the pool, if it is but one.
    pool: Option<String>,
}

impl KernelNames {
    /// Takes note of a thread that the JVM lists, or is sure not to list.
    pub(crate) fn note(&mut self, kernel_name: &str, label: &Label) {
        // A part that could not be read may hold anything.
        if !label.is_whole && label.role == ThreadRole::Unknown {
            return;
        }
        let kernel_pool = pool_of(kernel_name);
        let pool = pool_of(&label.name);
        if let Some(known) = self.by_pool.get_mut(&kernel_pool) {
            let same = known.take().filter(|known| known.role == label.role);
            *known = same.map(|known| Shared { pool: known.pool.filter(|of| *of == pool), ..known });
        } else if self.by_pool.len() < NAMES_MAX {
            self.by_pool.insert(kernel_pool, Some(Shared { role: label.role, pool: Some(pool) }));
        }
    }

    /// Role and name of the pool that threads of this kernel name belong to, as far as others of that name show it.
    pub(crate) fn infer(&self, kernel_name: &str) -> Option<(ThreadRole, String)> {
        let kernel_pool = pool_of(kernel_name);
        let shared = self.by_pool.get(&kernel_pool)?.as_ref()?;
        (shared.role != ThreadRole::Unknown)
            .then(|| (shared.role, shared.pool.clone().unwrap_or(kernel_pool)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(role: ThreadRole, name: &str) -> Label {
        Label { role, is_inferred: false, name: name.to_owned(), is_whole: true }
    }

    fn names(known: &[(&str, ThreadRole, &str)]) -> KernelNames {
        let mut names = KernelNames::default();
        known.iter().for_each(|(kernel_name, role, name)| names.note(kernel_name, &label(*role, name)));
        names
    }

    #[test]
    fn a_thread_of_a_known_name_is_taken_for_one_of_that_pool() {
        let names = names(&[
            ("C2 CompilerThre", ThreadRole::C2, "C2 CompilerThread0"),
            ("http-nio-8080-e", ThreadRole::Application, "http-nio-8080-exec-1"),
            ("http-nio-8080-e", ThreadRole::Application, "http-nio-8080-exec-12"),
        ]);
        assert_eq!(names.infer("C2 CompilerThre"), Some((ThreadRole::C2, "C2 CompilerThread*".to_owned())));
        let pool = "http-nio-8080-exec-*".to_owned();
        assert_eq!(names.infer("http-nio-8080-e"), Some((ThreadRole::Application, pool)));
        assert_eq!(names.infer("worker-1"), None, "a name that no listed thread has");
    }

    #[test]
    fn a_name_that_threads_of_several_roles_have_tells_nothing() {
        let names = names(&[
            ("ForkJoinPool-1-", ThreadRole::Application, "ForkJoinPool-1-worker-1"),
            ("ForkJoinPool-1-", ThreadRole::Carrier, "ForkJoinPool-1-worker-1"),
            ("ForkJoinPool-1-", ThreadRole::Application, "ForkJoinPool-1-worker-2"),
            ("native", ThreadRole::Unknown, "native"),
        ]);
        assert_eq!(names.infer("ForkJoinPool-1-"), None);
        assert_eq!(names.infer("native"), None, "threads of this name are not the JVM's");
    }

    #[test]
    fn pools_whose_names_begin_alike_share_the_kernel_s_name() {
        let names = names(&[
            ("Default Executo", ThreadRole::Application, "Default Executor-thread-1"),
            ("Default Executo", ThreadRole::Application, "Default Executor-timer-1"),
        ]);
        assert_eq!(
            names.infer("Default Executo"),
            Some((ThreadRole::Application, "Default Executo".to_owned()))
        );
    }
}
