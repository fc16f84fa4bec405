//! Limits of what is read of class paths, and why a class could not be.

use crate::predict::ClassNotFound;
use std::io;
use std::path::PathBuf;

/// Names that are looked through for one like that which was not found.
pub(super) const NAMES_MAX: usize = 500_000;

/// A class file has at most some MB; a jar may claim more.
pub(super) const CLASS_BYTES_MAX: u64 = 64 << 20;

/// Why a class path does not give a class.
#[derive(Debug, thiserror::Error)]
pub enum ClassPathError {
    /// A place cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The place.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A place is neither a folder, nor a jar, nor the home of a JDK; or it is damaged.
    #[error("{}: {what}", path.display())]
    NoClasses {
        /// The place.
        path: PathBuf,
        /// Its kind instead.
        what: String,
    },
    /// No place has the class.
    #[error(transparent)]
    NotFound(#[from] ClassNotFound),
    /// A class has a super class that no place has.
    #[error(
        "{class} extends {super_class}, which is not in the class path, and its fields count too. Add a JDK's \
            home to the class path for the JDK's own classes"
    )]
    NoSuperClass {
        /// The class.
        class: String,
        /// Its super class.
        super_class: String,
    },
    /// Classes that extend each other, or too many of them.
    #[error("the super classes of {class} have no end")]
    NoEnd {
        /// The class.
        class: String,
    },
    /// A class file is none.
    #[error("{class} in {}: {what}", path.display())]
    BadClassFile {
        /// The class.
        class: String,
        /// Where it was found.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}
