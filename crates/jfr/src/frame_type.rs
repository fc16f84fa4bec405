//! How the method of a frame ran.

/// How a method ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameType {
    /// By the interpreter.
    Interpreted,
    /// Compiled.
    Compiled,
    /// Compiled into its caller.
    Inlined,
    /// A native method.
    Native,
    /// The recording does not say.
    Unknown,
}

impl FrameType {
    pub(crate) fn of(description: &str) -> FrameType {
        match description {
            "Interpreted" => FrameType::Interpreted,
            "JIT compiled" => FrameType::Compiled,
            "Inlined" => FrameType::Inlined,
            "Native" => FrameType::Native,
            _ => FrameType::Unknown,
        }
    }
}
