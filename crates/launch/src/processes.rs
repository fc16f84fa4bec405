//! The processes of a trial: the server and what stands beside it, started in order, each ready before the next, stopped in
//! the opposite order. Of several processes of one table the first must be ready before the others start, since it may make what they use;
//! the others start several at a time.

use crate::engine::{Ended, Engine, Signal};
use crate::launch::Launch;
use crate::member::{Given, Member, PORTS};
use crate::placeholders::Placeholders;
use crate::process::POLL_INTERVAL;
use crate::spec::{ProcessSpec, TrialFolders};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// The processes of a trial. Dropped, all end.
pub struct Processes<E: Engine> {
    engine: Rc<E>,
    members: Vec<Member<E::Process>>,
    names: Placeholders,
    /// How many processes of one table may be starting at the same time.
    starting_max: usize,
}

impl<E: Engine> Processes<E> {
    /// Gives each process its port, folder and password, and puts its launch together. Nothing is started yet.
    ///
    /// # Errors
    /// When no port is free, or a folder cannot be made.
    pub fn plan(
        engine: &Rc<E>,
        specs: &[ProcessSpec],
        folders: TrialFolders<'_>,
        names: &Placeholders,
    ) -> io::Result<Processes<E>> {
        let (mut names, mut given) = (names.clone(), Vec::new());
        for spec in specs {
            let mut ports = Vec::new();
            for number in 1..=spec.count {
                let given_to_one = Given::allot(spec, number, folders)?;
                let of_first = Some(&spec.role).filter(|_| number == 1);
                for role in of_first.into_iter().chain([&given_to_one.role]) {
                    given_to_one
                        .names
                        .iter()
                        .for_each(|(name, value)| names.set(&format!("{role}.{name}"), value));
                }
                ports.push(given_to_one.names["port"].clone());
                given.push((spec, given_to_one));
            }
            names.set(&format!("{}.{PORTS}", spec.role), ports.join(" "));
        }
        let member = |(spec, given): (&ProcessSpec, Given)| Member::plan(spec, given, folders, &names);
        let members = given.into_iter().map(member).collect::<io::Result<Vec<_>>>()?;
        let server = members.iter().find(|m| m.is_server());
        let names = server.map_or(names, |server| server.names().clone());
        let starting_max = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Processes { engine: Rc::clone(engine), members, names, starting_max })
    }

    /// The placeholders' values: of the server, and with their roles of every process.
    pub fn names(&self) -> &Placeholders {
        &self.names
    }

    /// The start command of each process, by role. The environment and the command line may hold secrets.
    pub fn launches(&self) -> impl Iterator<Item = (&str, &Launch)> {
        self.members.iter().map(|m| (m.role(), m.launch()))
    }

    /// The start command of the server.
    pub fn server_launch(&self) -> Option<&Launch> {
        self.server().map(Member::launch)
    }

    /// Goes on with starting: has the next process start if all before it are ready, and with it others of its table. Says whether all are
    /// ready. Call it until they are.
    ///
    /// # Errors
    /// Which one cannot be used, and why, with the end of what it printed.
    pub fn step(&mut self) -> Result<bool, String> {
        let Some(next) = self.members.iter().position(|m| !m.is_ready()) else { return Ok(true) };
        let (before, rest) = self.members.split_at_mut(next);
        let table = rest[0].table().to_owned();
        let is_first = before.last().is_none_or(|member| member.table() != table);
        let starting_max = if is_first { 1 } else { self.starting_max };
        let of_table = rest.iter_mut().take_while(|m| m.table() == table);
        for member in of_table.filter(|m| !m.is_ready()).take(starting_max) {
            member.step(&*self.engine)?;
        }
        Ok(self.members.iter().all(Member::is_ready))
    }

    /// Starts the server and all before it, which must be ready; `goes_on` says whether to wait any longer.
    ///
    /// # Errors
    /// As [`Processes::step`].
    pub fn start_server(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), String> {
        while goes_on() && self.server().is_some_and(|server| !server.is_started()) {
            self.step()?;
            if self.server().is_some_and(|server| !server.is_started()) {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        Ok(())
    }

    fn server(&self) -> Option<&Member<E::Process>> {
        self.members.iter().find(|m| m.is_server())
    }

    /// Has the engine do something with the server's process, if it is started.
    fn with_server<R>(&mut self, step: impl FnOnce(&E, &mut E::Process) -> R) -> Option<R> {
        let server = self.members.iter_mut().find(|m| m.is_server())?;
        Some(step(&self.engine, server.process_mut()?))
    }

    /// Number of the server's process that does the work, once it is started.
    pub fn server_pid(&self) -> Option<u32> {
        self.engine.pid(self.server()?.process()?)
    }

    /// How long the server took from its start until it was ready.
    pub fn server_ready_after(&self) -> Option<Duration> {
        self.server()?.ready_after()
    }

    /// The processes that run, by role.
    pub fn pids(&self) -> Vec<(&str, u32)> {
        let of = |m: &Member<E::Process>| self.engine.pid(m.process()?);
        self.members.iter().filter_map(|m| Some((m.role(), of(m)?))).collect()
    }

    /// The processes of what stands beside the server: what they and their descendants use is the trial's own, not another process's.
    pub fn companion_pids(&self) -> Vec<u32> {
        let beside = self.members.iter().filter(|m| !m.is_server());
        beside.filter_map(Member::process).flat_map(|process| self.engine.all_pids(process)).collect()
    }

    /// Which process has ended that may not, how, and what it printed last; `when` completes the sentence.
    pub fn ended(&mut self, when: &str) -> Option<String> {
        self.members.iter_mut().filter(|m| !m.may_end()).find_map(|m| {
            let role = m.role().to_owned();
            let process = m.process_mut()?;
            let ended = self.engine.ended(process)?;
            Some(format!("the {role} {} {when}{}", ended.how, self.engine.last_words(process)))
        })
    }

    /// Exit code of the server, once it has ended by itself.
    pub fn server_ended(&mut self) -> Option<Ended> {
        self.with_server(E::ended).flatten()
    }

    /// The end of what the server printed, as the end of a sentence.
    pub fn last_words(&mut self) -> String {
        self.with_server(E::last_words).unwrap_or_default()
    }

    /// Stops the server's clock. Its auxiliary processes go on: without its client it is idle.
    pub fn hold(&mut self) {
        self.with_server(|engine, process| engine.signal(process, Signal::Hold));
    }

    /// Lets the server run again.
    pub fn resume(&mut self) {
        self.with_server(|engine, process| engine.signal(process, Signal::Continue));
    }

    fn member(&mut self, role: &str) -> Option<&mut Member<E::Process>> {
        self.members.iter_mut().find(|m| m.role() == role)
    }

    /// Sends the process of a role a signal; gives its number.
    ///
    /// # Errors
    /// It is not there, or has ended.
    pub fn signal(&mut self, role: &str, signal: Signal) -> Result<Option<u32>, String> {
        let engine = Rc::clone(&self.engine);
        let process = self.member(role).and_then(Member::process_mut);
        let process = process.ok_or_else(|| format!("the {role} was not started"))?;
        match engine.ended(process) {
            Some(ended) => Err(format!("the {role} {} before", ended.how)),
            None => {
                engine.signal(process, signal);
                Ok(engine.pid(process))
            }
        }
    }

    /// Sets whether the process of a role may end without failing the trial.
    pub fn set_may_end(&mut self, role: &str, may_end: bool) {
        self.member(role).into_iter().for_each(|member| member.set_may_end(may_end));
    }

    /// The role of a process that has ended as it may, and was not started again.
    pub fn lost(&mut self) -> Option<String> {
        let engine = Rc::clone(&self.engine);
        let is_lost = |m: &mut Member<E::Process>| {
            m.may_end() && m.process_mut().is_some_and(|process| engine.ended(process).is_some())
        };
        self.members.iter_mut().find_map(|m| is_lost(m).then(|| m.role().to_owned()))
    }

    /// How the process of a role has ended, if it has.
    pub fn ended_of(&mut self, role: &str) -> Option<Ended> {
        let engine = Rc::clone(&self.engine);
        engine.ended(self.member(role)?.process_mut()?)
    }

    /// Number of the process of a role that does the work, while it is started.
    pub fn pid_of(&self, role: &str) -> Option<u32> {
        self.engine.pid(self.members.iter().find(|m| m.role() == role)?.process()?)
    }

    /// Starts the process of a role again as it was started, when it has ended; [`Processes::step_of`] brings it to where it is ready.
    ///
    /// # Errors
    /// It still runs, or cannot be started.
    pub fn restart(&mut self, role: &str) -> Result<(), String> {
        let engine = Rc::clone(&self.engine);
        let member = self.member(role).ok_or_else(|| format!("there is no {role}"))?;
        member.restart(&*engine)
    }

    /// As [`Processes::step`], of the process of one role alone.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn step_of(&mut self, role: &str) -> Result<bool, String> {
        let engine = Rc::clone(&self.engine);
        let member = self.member(role).ok_or_else(|| format!("there is no {role}"))?;
        member.step(&*engine).map(|()| member.is_ready())
    }

    /// Asks those that were started last to stop, without waiting: the others follow in [`Processes::finish`], those of a table together,
    /// when the ones started after them have stopped.
    pub fn ask_to_stop(&mut self) {
        let from = last_table(&self.members);
        self.members[from..].iter_mut().for_each(|member| member.ask_to_stop(&*self.engine));
    }

    /// Stops all, the last first, and removes their files. Returns what was not as it should be, by role. Those that do not
    /// stop by themselves within their time, or at once if `is_hasty`, are killed.
    pub fn finish(&mut self, is_hasty: bool) -> Vec<(String, String)> {
        let mut told = Vec::new();
        let mut left = self.members.as_mut_slice();
        while !left.is_empty() {
            let (earlier, together) = left.split_at_mut(last_table(left));
            if !is_hasty {
                together.iter_mut().for_each(|member| member.ask_to_stop(&*self.engine));
            }
            for member in together.iter_mut().rev() {
                let of_one = member.finish(&*self.engine, is_hasty);
                told.extend(of_one.into_iter().map(|what| (member.role().to_owned(), what)));
            }
            left = earlier;
        }
        told
    }
}

/// Where the members of the table begin that was started last: they do the same beside each other, and none needs another of them.
fn last_table<P>(members: &[Member<P>]) -> usize {
    let last = members.last().map(Member::table);
    members.iter().rposition(|member| Some(member.table()) != last).map_or(0, |at| at + 1)
}

impl<E: Engine> Drop for Processes<E> {
    fn drop(&mut self) {
        // The last first, each with its files after it.
        while self.members.pop().is_some() {}
    }
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
