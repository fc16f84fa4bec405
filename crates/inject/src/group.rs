//! Several injectors that act as one generator.

use crate::link::{Event, Injector, Link};
use crate::message::{Order, Report};
use crate::share::{config_of, room_of};
use crate::token::Token;
use crate::window::{Ended, WindowAttempt};
use assay_load::{
    GeneratorConfig, IntervalLogs, Load, LoadError, LoadSource, LoadWindow, Measured, Part, Progress,
};
use assay_model::{LostInjector, OperationCount, Problem};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Most injectors of a group.
const INJECTORS_MAX: usize = 64;
/// How long an injector may take to check a scenario and to resolve the server's name.
const PREPARE_MAX: Duration = Duration::from_secs(30);

/// Where an injector listens, and what it loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectorAddress {
    /// Host and port.
    pub address: String,
    /// Its own base URL; absent: that of the group.
    pub base_url: Option<String>,
}

impl std::str::FromStr for InjectorAddress {
    type Err = String;

    /// `HOST:PORT` or `HOST:PORT=URL`.
    fn from_str(text: &str) -> Result<InjectorAddress, String> {
        let (address, base_url) = match text.split_once('=') {
            Some((address, url)) => (address, Some(url.to_owned())),
            None => (text, None),
        };
        let port = address.rsplit_once(':').and_then(|(host, port)| (!host.is_empty()).then_some(port));
        match port.and_then(|port| port.parse::<u16>().ok()) {
            Some(1..) => Ok(InjectorAddress { address: address.to_owned(), base_url }),
            _ => Err(format!("{address:?} is not HOST:PORT, or HOST:PORT=URL for a URL of its own")),
        }
    }
}

/// A group of injectors and what they do. Connections, sessions, requests in flight, users and rate are those of all
/// together, and are shared equally.
#[derive(Debug, Clone)]
pub struct InjectorsConfig {
    /// The injectors.
    pub injectors: Vec<InjectorAddress>,
    /// What they and this process know.
    pub token: Token,
    /// The load. Its URL is that of injectors without one of their own; the first injector draws with its seed, the others
    /// with seeds made of it.
    pub load: GeneratorConfig,
    /// A window in which an injector is lost is made again by the rest, at the same rate; otherwise it is invalid and
    /// the last.
    pub go_on_without: bool,
}

/// Connected injectors: a [`LoadSource`] whose windows are made by all of them together.
pub struct Injectors {
    config: InjectorsConfig,
    events: Receiver<Event>,
    injectors: Vec<Injector>,
    /// Names and asked shares, nothing counted.
    operations: Vec<OperationCount>,
    /// Longest time that draining may take.
    drain_max: Duration,
    windows: u64,
}

impl Injectors {
    /// Connects to all injectors and has them prepare the load.
    ///
    /// # Errors
    /// An injector that cannot be reached, does not know the token, serves another controller or cannot use the URL; a
    /// wrong scenario; fewer connections, sessions or requests in flight than injectors.
    pub fn connect(mut config: InjectorsConfig) -> Result<Injectors, LoadError> {
        let count = config.injectors.len();
        if !(1..=INJECTORS_MAX).contains(&count) {
            let value = count.to_string();
            return Err(LoadError::Setting { name: "injectors", value, fix: "use 1 to 64".into() });
        }
        config.load.scenario.check_operations(&config.load.limited)?;
        config.load.scenario.check_operations(&config.load.limited_apart)?;
        config.load.set_up()?;
        let scenario = &config.load.scenario;
        let operations = scenario.operation_names().zip(scenario.asked_shares());
        let operations = operations.map(|(name, planned_share)| OperationCount::planned(name, planned_share));
        let operations = operations.collect();
        // A result and an answer of each may wait; who reports more than it was asked waits itself.
        let (to_events, events) = sync_channel(2 * count);
        let injectors: Result<Vec<Injector>, LoadError> =
            (0..count).map(|number| open(&config, number, &to_events)).collect();
        let drain_max = scenario.timeout_max();
        let mut group =
            Injectors { events, injectors: injectors?, operations, drain_max, windows: 0, config };
        group.prepare()?;
        Ok(group)
    }

    /// Addresses of the injectors that are there.
    pub fn alive(&self) -> impl Iterator<Item = &str> {
        self.injectors.iter().filter(|one| one.link.is_some()).map(|one| one.address.as_str())
    }

    fn prepare(&mut self) -> Result<(), LoadError> {
        let count = self.injectors.len();
        for number in 0..count {
            let (part, injector) =
                (Part { number: number as u32, of: count as u32 }, &mut self.injectors[number]);
            let order = Order::Prepare(Box::new(config_of(&self.config.load, &injector.base_url, part)?));
            if let Some(Err(error)) = injector.link.as_mut().map(|link| link.order(&order)) {
                let (address, cause) = (injector.address.clone(), error.to_string());
                return Err(LoadError::Injector { address, cause });
            }
        }
        let (mut prepared, end) = (0, Instant::now() + PREPARE_MAX);
        while prepared < count {
            let event = match self.events.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let cause = "one of them did not prepare the load in time".to_owned();
                    return Err(LoadError::Injector { address: self.all(), cause });
                }
            };
            let address = || self.injectors[event.link].address.clone();
            match event.what {
                Ok(Report::Ready) => (),
                Ok(Report::Prepared) => prepared += 1,
                Ok(Report::Refused { why, .. }) | Err(why) => {
                    return Err(LoadError::Injector { address: address(), cause: why });
                }
                Ok(_) => {
                    let cause = "it sent an unexpected report".to_owned();
                    return Err(LoadError::Injector { address: address(), cause });
                }
            }
        }
        Ok(())
    }

    fn all(&self) -> String {
        self.injectors.iter().map(|one| one.address.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Makes a window with those that are there.
    fn attempt(
        &mut self,
        window: &LoadWindow,
        seed: u64,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Ended, LoadError> {
        WindowAttempt {
            injectors: &mut self.injectors,
            events: &self.events,
            operations: &self.operations,
            limited_apart: self.config.load.limited_apart.len(),
            drain_max: self.drain_max,
            room: room_of(&self.config.load.scenario),
            users: match window.load {
                Load::Closed { users, .. } => users,
                Load::Open { .. } => {
                    self.config.load.users.unwrap_or_else(|| self.config.load.sessions_bound())
                }
            },
            window,
            seed,
        }
        .make(stop, on_progress)
    }

    fn whole(&self, ended: Ended, left_out: Vec<Problem>) -> Result<Measured, LoadError> {
        let Some(mut measured) = ended.measured else {
            let what = ended.lost.into_iter().map(|lost| format!("{}: {}", lost.about, lost.text));
            let cause = format!("no injector gave a result. {}", what.collect::<Vec<_>>().join("; "));
            return Err(LoadError::Injector { address: self.all(), cause });
        };
        measured.faults.extend(ended.lost);
        measured.problems.extend(left_out);
        Ok(measured)
    }

    fn first_lost(&self) -> Option<(&Injector, &LostInjector)> {
        self.injectors.iter().find_map(|one| one.lost.as_ref().map(|lost| (one, lost)))
    }
}

fn open(config: &InjectorsConfig, number: usize, events: &SyncSender<Event>) -> Result<Injector, LoadError> {
    let InjectorAddress { address, base_url } = config.injectors[number].clone();
    let link = Link::open(number, &address, &config.token, events.clone())
        .map_err(|cause| LoadError::Injector { address: address.clone(), cause })?;
    let base_url = base_url.unwrap_or_else(|| config.load.base_url.clone());
    Ok(Injector { address, base_url, link: Some(link), lost: None })
}

impl LoadSource for Injectors {
    /// Arrivals alone: what users draw goes on from the seed that the injectors were prepared with.
    fn draw_from(&mut self, seed: u64) {
        (self.config.load.seed, self.windows) = (seed, 0);
    }

    /// With `go_on_without`, a window in which an injector is lost is not used: the rest make another one, which says so
    /// among its problems. Without it the window is invalid, and further ones are an error.
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        _: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        if let Some((injector, lost)) = self.first_lost().filter(|_| !self.config.go_on_without) {
            let cause = format!("it was lost ({}): start it and connect again", lost.why);
            return Err(LoadError::Injector { address: injector.address.clone(), cause });
        }
        let mut left_out = Vec::new();
        loop {
            let seed = self.config.load.seed.wrapping_add(self.windows);
            self.windows += 1;
            let ended = self.attempt(window, seed, stop, on_progress)?;
            let alive = self.alive().count();
            if ended.lost.is_empty()
                || !self.config.go_on_without
                || alive == 0
                || stop.load(Ordering::Relaxed)
            {
                return self.whole(ended, left_out);
            }
            left_out.extend(ended.lost.iter().map(|lost| {
                let what = format!(
                    "{}. That window is not used, and {alive} repeated it at the same load",
                    lost.text
                );
                Problem::new(lost.about.clone(), what)
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injectors_address_may_have_a_url_of_its_own() {
        let parse = |text: &str| text.parse::<InjectorAddress>();
        let own = parse("[::1]:7447=http://b:8080/app").expect("an address");
        assert_eq!(
            (own.address.as_str(), own.base_url.as_deref()),
            ("[::1]:7447", Some("http://b:8080/app"))
        );
        assert_eq!(parse("h:1").expect("an address").base_url, None);
        for bad in ["h", "h:", ":7", "h:0", "h:99999", "", "h:x=http://b"] {
            assert!(parse(bad).is_err_and(|why| why.contains("HOST:PORT")), "{bad}");
        }
    }
}
