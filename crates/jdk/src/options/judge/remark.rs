//! A remark on an option.

use assay_model::{Certainty, OptionRemark, RemarkOnOption};

/// One without another way to say the same.
pub(in crate::options) fn remark(
    option: usize,
    remark: OptionRemark,
    certainty: Certainty,
    why: impl Into<String>,
) -> RemarkOnOption {
    RemarkOnOption { option, remark, certainty, why: why.into(), instead: None }
}
