//! What of a load is an injector's: the parts add up to the whole.

use crate::message::LoadForm;
use assay_load::{ArrivalLaw, Load, LoadError, Part};

/// A part of what all share; each needs one at least.
pub(crate) fn share(part: Part, name: &'static str, whole: u32) -> Result<u32, LoadError> {
    match part.share(whole) {
        0 => {
            let value = whole.to_string();
            Err(LoadError::Setting { name, value, fix: "use one for each injector at least" })
        }
        share => Ok(share),
    }
}

/// The load of one of those that share it; `number` counts those that are there.
pub(crate) fn load_of(load: &Load, part: Part) -> Result<LoadForm, LoadError> {
    Ok(match *load {
        Load::Open { arrivals, rate_per_s } => LoadForm::Open {
            poisson: arrivals == ArrivalLaw::Poisson,
            rate_per_s,
            part: part.number,
            of: part.of,
        },
        Load::Closed { users, think } => LoadForm::Closed {
            users: share(part, "users", users)?,
            think_ns: u64::try_from(think.as_nanos()).unwrap_or(u64::MAX),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_injector_needs_a_share() {
        let part = Part { number: 2, of: 3 };
        assert_eq!(share(part, "connections", 8).ok(), Some(2));
        let error = share(part, "connections", 2).expect_err("none left");
        assert_eq!(error.to_string(), "connections = 2: use one for each injector at least");
    }
}
