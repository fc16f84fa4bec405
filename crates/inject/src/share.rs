//! The share of a load that an injector makes: the shares add up to the whole.

use assay_load::{GeneratorConfig, Load, LoadError, Part, Scenario};

/// How many users, and connections of theirs, are never divided: those of a room of a chat.
pub(crate) fn room_of(scenario: &Scenario) -> u32 {
    scenario.chat.as_ref().map_or(1, |chat| chat.room_users as u32).max(1)
}

/// A part of what all share, in whole rooms of so many; each needs one at least. What does not divide into rooms is an error of the
/// generator that gets it.
fn share(part: Part, (name, room): (&'static str, u32), whole: u32) -> Result<u32, LoadError> {
    let room = if whole.is_multiple_of(room) { room } else { 1 };
    match part.share(whole / room) {
        0 => {
            let of = if room == 1 { "one" } else { "a whole room" };
            let fix = format!("use {of} for each injector or thread at least").into();
            Err(LoadError::Setting { name, value: whole.to_string(), fix })
        }
        share => Ok(share * room),
    }
}

/// The load of one of those that share it: of an open one the injector takes its part itself, since arrivals are dealt out.
pub(crate) fn load_of(load: Load, part: Part, room: u32) -> Result<Load, LoadError> {
    Ok(match load {
        Load::Open { .. } => load,
        Load::Closed { users, think } => Load::Closed { users: share(part, ("users", room), users)?, think },
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
        connections: share(part, ("connections", room_of(&config.scenario)), config.connections)?,
        in_flight_max: Some(share(part, ("in_flight_max", 1), config.in_flight_bound())?),
        sessions: config.sessions.map(|whole| share(part, ("sessions", 1), whole)).transpose()?,
        users: config.users.map(|whole| share(part, ("users", 1), whole)).transpose()?,
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
        assert_eq!(share(part, ("connections", 1), 8).ok(), Some(2));
        let error = share(part, ("connections", 1), 2).expect_err("none left");
        assert_eq!(error.to_string(), "connections = 2: use one for each injector or thread at least");
    }

    #[test]
    fn rooms_are_shared_whole() {
        let shares = |whole| [0, 1].map(|number| share(Part { number, of: 2 }, ("users", 3), whole).ok());
        assert_eq!(shares(9), [Some(6), Some(3)]);
        assert_eq!(shares(3), [Some(3), None]);
        assert_eq!(shares(10), [Some(5), Some(5)], "whoever gets them says what is wrong");
    }
}
