//! What a build is made of: commits of a git repository, and the files of a folder. Nothing of it is changed.

pub(crate) mod files;
pub(crate) mod repository;
