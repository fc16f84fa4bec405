//! The share of a load that an injector makes: the shares add up to the whole.

use assay_load::{GeneratorConfig, Load, LoadError, Part};

/// A part of what all share; each needs one at least.
fn share(part: Part, name: &'static str, whole: u32) -> Result<u32, LoadError> {
    match part.share(whole) {
        0 => {
            let value = whole.to_string();
            Err(LoadError::Setting { name, value, fix: "use one for each injector at least".into() })
        }
        share => Ok(share),
    }
}

/// The same of a bound that may be absent.
fn share_of(part: Part, name: &'static str, whole: Option<u32>) -> Result<Option<u32>, LoadError> {
    whole.map(|whole| share(part, name, whole)).transpose()
}

/// The load of one of those that share it: of an open one the injector takes its part itself, since arrivals are dealt out.
pub(crate) fn load_of(load: Load, part: Part) -> Result<Load, LoadError> {
    Ok(match load {
        Load::Open { .. } => load,
        Load::Closed { users, think } => Load::Closed { users: share(part, "users", users)?, think },
    })
}

/// The bounds of one of those that share them.
pub(crate) fn config_of(
    config: &GeneratorConfig,
    base_url: &str,
    part: Part,
) -> Result<GeneratorConfig, LoadError> {
    Ok(GeneratorConfig {
        base_url: base_url.to_owned(),
        connections: share(part, "connections", config.connections)?,
        in_flight_max: share_of(part, "in_flight_max", config.in_flight_max)?,
        sessions: share_of(part, "sessions", config.sessions)?,
        seed: part.seed(config.seed),
        shared: config.shared.of_part(part),
        ..config.clone()
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
