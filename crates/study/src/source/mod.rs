//! The input of a build: commits of a git repository, and the files of a folder. Nothing of it is changed.

pub(crate) mod files;
pub(crate) mod repository;
