//! Constants that the build hands to the compiler.

/// The commit that a release is of; after it may stand `+changes`.
pub const COMMIT: Option<&str> = option_env!("ASSAY_COMMIT");
/// The repository that it is published in.
pub const REPOSITORY: Option<&str> = option_env!("ASSAY_REPOSITORY_URL");
/// The commit that was checked out where the program was built, by the build script. Whether files had changed is not known.
const CHECKOUT: Option<&str> = option_env!("ASSAY_CHECKOUT_COMMIT");

/// The version, and the commit of a release or a checkout.
pub fn long() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match (COMMIT.filter(|commit| !commit.is_empty()), CHECKOUT) {
        (Some(commit), _) => format!("{version} ({commit})"),
        (None, Some(commit)) => format!("{version} (checkout of {commit})"),
        (None, None) => version.to_owned(),
    }
}
