//! What is handed to the compiler when a release is built.

/// The commit that the program is of; after it may stand `+changes`.
pub const COMMIT: Option<&str> = option_env!("ASSAY_COMMIT");
/// The repository that it is published in.
pub const REPOSITORY: Option<&str> = option_env!("ASSAY_REPOSITORY_URL");

/// The version, and of a release also its commit.
pub fn long() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match COMMIT.filter(|commit| !commit.is_empty()) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    }
}
