//! The Job of a run while it exists, and its pods.

use super::cluster::Cluster;
use super::kubectl::{Kubectl, KubectlError, NEEDED};
use super::manifest::{self, CONTAINER, LEASE};
use super::objects::{Condition, Event, JobObject, List, Named, Pod, PodState, with_reason};
use crate::engine::slots::{Reuse, Slots, WORKER};
use crate::error::{Fault, PlaceError};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a slot that waits looks.
const LOOK: Duration = Duration::from_millis(200);
/// How often the cluster is asked, for all slots together.
const ASK: Duration = Duration::from_secs(2);
/// A Job that can create no pod may be waiting for a moment only.
const TROUBLE_MAX: Duration = Duration::from_secs(5);
/// How long a cluster may give no answer.
const SILENCE_MAX: Duration = LEASE;
/// How long all pods may wait for nodes: an autoscaler takes minutes.
const IDLE_MAX: Duration = Duration::from_secs(600);
/// A wait that is worth a message, and how many are.
const IDLE_SAID: Duration = Duration::from_secs(10);
const SAID_MAX: usize = 5;

/// A Job with an index for each task. Dropped, it is deleted.
#[derive(Debug)]
pub(super) struct Job {
    kubectl: Kubectl,
    name: String,
    /// Assay in the image.
    program: String,
    names: Vec<String>,
    seen: Mutex<Seen>,
    used: Mutex<Used>,
    extender: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The pods at a point in time.
#[derive(Debug)]
struct Seen {
    asked: Option<Instant>,
    answered: Instant,
    silence: String,
    pods: Vec<Pod>,
    /// When a worker was last running.
    active: Instant,
    /// Why there are no pods, and since when.
    trouble: Option<(Instant, String)>,
    /// The last warning about a pod that waits for long, and the pod's name.
    warning: Option<(String, String)>,
    said: BTreeSet<String>,
}

/// Pods that have had their conversation.
#[derive(Debug, Default)]
struct Used {
    pods: BTreeSet<String>,
    /// The last one of a slot.
    last: BTreeMap<usize, String>,
}

/// What a slot can do now.
enum Step {
    Talk(String),
    /// With a reason that has not been reported yet.
    Wait(Option<String>),
    Fail(String),
}

impl Job {
    pub(super) fn create(
        cluster: &Cluster,
        tasks: usize,
        program: String,
        is_privileged: bool,
    ) -> Result<Job, PlaceError> {
        let kubectl = Kubectl::of(cluster);
        let (created, wanted) = (Instant::now(), manifest::job(cluster, tasks, &program, is_privileged));
        let refused = |e: KubectlError| PlaceError::Hosts(format!("the Job cannot be created: {e}"));
        let named: Vec<Named> = kubectl.json(&["create", "--filename=-"], Some(&wanted)).map_err(refused)?;
        let name = named.into_iter().map(|named| named.metadata.name).find(|name| !name.is_empty());
        let name = name.ok_or_else(|| PlaceError::Hosts("the cluster gave the Job no name".to_owned()))?;
        let extender = extender(kubectl.clone(), name.clone(), created);
        let seen = Seen {
            asked: None,
            answered: created,
            silence: String::new(),
            pods: Vec::new(),
            active: created,
            trouble: None,
            warning: None,
            said: BTreeSet::new(),
        };
        let names = (1..=tasks).map(|number| format!("{name} {number}")).collect();
        let (seen, used) = (Mutex::new(seen), Mutex::default());
        Ok(Job { kubectl, name, program, names, seen, used, extender: Some(extender) })
    }

    /// What the cluster says, at most [`ASK`] ago.
    fn seen(&self) -> MutexGuard<'_, Seen> {
        let mut seen = lock(&self.seen);
        if seen.asked.is_none_or(|asked| ASK < asked.elapsed()) {
            match self.pods() {
                Ok(pods) => {
                    seen.answered = Instant::now();
                    seen.pods = pods;
                    self.judge(&mut seen);
                }
                Err(error) => seen.silence = error.to_string(),
            }
            seen.asked = Some(Instant::now());
        }
        seen
    }

    fn pods(&self) -> Result<Vec<Pod>, KubectlError> {
        let selector = format!("--selector=job-name={}", self.name);
        let lists = self.kubectl.json::<List<Pod>>(&["get", "pods", &selector], None)?;
        Ok(lists.into_iter().flat_map(|list| list.items).collect())
    }

    /// Notes whether pods run, and why there may be none.
    fn judge(&self, seen: &mut Seen) {
        let states: Vec<PodState> = seen.pods.iter().map(Pod::state).collect();
        if states.contains(&PodState::Running) {
            seen.active = Instant::now();
        }
        let is_there = |state: &PodState| !matches!(state, PodState::Ended(_) | PodState::Leaving);
        let trouble = if states.iter().any(is_there) { None } else { self.trouble() };
        seen.trouble = trouble.map(|why| {
            let since = seen.trouble.as_ref().map_or_else(Instant::now, |(since, _)| *since);
            (since, why)
        });
        let is_waiting = |pod: &&Pod| matches!(pod.state(), PodState::Waiting(_));
        let waiting = seen.pods.iter().find(is_waiting).filter(|_| IDLE_SAID < seen.active.elapsed());
        seen.warning = waiting.and_then(|pod| self.warning(&pod.metadata.name));
    }

    /// The last warning about a pod: of one whose network cannot be made, its own state says no more than `ContainerCreating`.
    fn warning(&self, pod: &str) -> Option<(String, String)> {
        let of_pod =
            format!("--field-selector=involvedObject.kind=Pod,involvedObject.name={pod},type=Warning");
        let last = self.last_event(&of_pod)?;
        Some((pod.to_owned(), with_reason(&last.reason, &last.message)))
    }

    fn last_event(&self, selector: &str) -> Option<Event> {
        let events = self.kubectl.json::<List<Event>>(&["get", "events", selector], None).ok()?;
        events.into_iter().flat_map(|list| list.items).last()
    }

    /// Why the Job has no pods, if the cluster says so.
    fn trouble(&self) -> Option<String> {
        let job = ["get", "job", &self.name, "--ignore-not-found"];
        let Some(job) = self.kubectl.json::<JobObject>(&job, None).ok()?.into_iter().next() else {
            return Some(format!("the Job {} was deleted", self.name));
        };
        let is_over = |condition: &&Condition| {
            ["Failed", "Complete"].contains(&&*condition.kind) && condition.status == "True"
        };
        if let Some(over) = job.status.conditions.iter().find(is_over) {
            return Some(format!("the Job has ended: {}", with_reason(&over.reason, &over.message)));
        }
        let of_job = format!(
            "--field-selector=involvedObject.kind=Job,involvedObject.name={},reason=FailedCreate",
            self.name
        );
        Some(format!("the Job cannot create pods: {}", self.last_event(&of_job)?.message))
    }

    /// What the slot can do now.
    fn step(&self, slot: usize) -> Step {
        let mut seen = self.seen();
        let mut used = lock(&self.used);
        if SILENCE_MAX < seen.answered.elapsed() {
            return Step::Fail(format!("the cluster does not answer: {}", seen.silence));
        }
        let mut waits = "its Job has created no pod for it yet".to_owned();
        for pod in seen.pods.iter().filter(|pod| pod.index() == Some(slot)) {
            let name = &pod.metadata.name;
            if used.pods.contains(name) {
                continue;
            }
            match pod.state() {
                PodState::Running => {
                    used.take(slot, name);
                    return Step::Talk(name.clone());
                }
                PodState::Ended(why) | PodState::Stuck(why) => {
                    used.take(slot, name);
                    return Step::Fail(format!("pod {name}: {why}"));
                }
                PodState::Waiting(why) => {
                    let warning = seen.warning.as_ref().filter(|(of, _)| of == name);
                    let more = warning.map(|(_, warning)| format!(": {warning}")).unwrap_or_default();
                    waits = format!("pod {name}: {why}{more}");
                }
                PodState::Leaving => {}
            }
        }
        let idle = seen.active.elapsed();
        match &seen.trouble {
            Some((since, why)) if TROUBLE_MAX < since.elapsed() => return Step::Fail(why.clone()),
            Some((_, why)) => waits.clone_from(why),
            None if IDLE_MAX < idle => {
                return Step::Fail(format!(
                    "no pod could start in {} minutes: {waits}",
                    IDLE_MAX.as_secs() / 60
                ));
            }
            None => {}
        }
        let is_new = IDLE_SAID < idle && seen.said.len() < SAID_MAX && seen.said.insert(waits.clone());
        Step::Wait(is_new.then_some(waits))
    }

    /// Deletes the pod of a failed conversation, if it is still there, so that the Job replaces it.
    fn give_up_last(&self, slot: usize) {
        let last = lock(&self.used).last.remove(&slot);
        if let Some(pod) = last {
            let _ = self.kubectl.run(&["delete", "pod", &pod, "--ignore-not-found", "--wait=false"], None);
        }
    }
}

impl Used {
    fn take(&mut self, slot: usize, pod: &str) {
        self.pods.insert(pod.to_owned());
        self.last.insert(slot, pod.to_owned());
    }
}

impl Slots for Job {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn reuse(&self) -> Reuse {
        Reuse::Once
    }

    fn needs(&self) -> (&'static str, &'static str) {
        NEEDED
    }

    fn worker(
        &self,
        slot: usize,
        stop: &AtomicBool,
        on_wait: &mut dyn FnMut(String),
    ) -> Result<Command, Fault> {
        self.give_up_last(slot);
        loop {
            if stop.load(Ordering::SeqCst) {
                return Err(Fault::Stopped);
            }
            match self.step(slot) {
                Step::Talk(pod) => {
                    let container = format!("--container={CONTAINER}");
                    let words =
                        ["exec", "--stdin", &pod, &container, "--", &self.program, WORKER, "--connect"];
                    return Ok(self.kubectl.command(&words));
                }
                Step::Wait(why) => why.into_iter().for_each(&mut *on_wait),
                Step::Fail(why) => return Err(Fault::Host(why)),
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.extender.take() {
            drop(end);
            let _ = thread.join();
        }
        // If the cluster does not answer, the Job ends at its deadline.
        let delete =
            ["delete", "job", &self.name, "--ignore-not-found", "--cascade=background", "--wait=false"];
        let _ = self.kubectl.run(&delete, None);
    }
}

/// Extends the deadline of the Job as long as this program lives.
fn extender(kubectl: Kubectl, name: String, created: Instant) -> (Sender<()>, JoinHandle<()>) {
    let (end, ended) = channel();
    let thread = thread::spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LEASE / 4) {
            let patch = format!("--patch={}", manifest::extension(created.elapsed()));
            // A cluster that does not answer now may do so next time.
            let _ = kubectl.run(&["patch", "job", &name, &patch], None);
        }
    });
    (end, thread)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
