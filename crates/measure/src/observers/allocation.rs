//! Observes what the server's Java threads allocate in each window, by the JVM's own counts: exact to some KiB, however long the window, and
//! whether or not it is collected meanwhile. Garbage by the GC log (`gc`) needs two collections.

use super::completed::Completed;
use super::contract::{Observer, Target};
use super::edges::WindowEdges;
use assay_counters::AllocationGauge;
use assay_load::Measured;
use assay_model::{Problem, Window, metric};
use std::time::Duration;

#[derive(Default)]
pub(super) struct AllocationObserver {
    gauge: Option<AllocationGauge>,
    edges: WindowEdges,
    /// Bytes and requests of the windows on the way to a capacity.
    search: (f64, f64),
}

impl AllocationObserver {
    /// Bytes and requests of the load that ended last; none where the reason is a problem of the window.
    fn taken(&mut self, measured: &Measured, window: &mut Window) -> Option<(f64, f64)> {
        let mut lacks = |why: String| {
            window.problems.push(Problem::new(metric::ALLOCATED_KIB_PER_REQUEST, why));
            None
        };
        if self.edges.was_too_short() {
            return lacks("the window is too short for two readings".to_owned());
        }
        let found = match self.gauge.as_ref().map(AllocationGauge::between)? {
            Ok(found) => found,
            Err(why) => return lacks(why),
        };
        let requests = Completed::of(measured).between(found.from_ns, found.to_ns);
        if requests < 1.0 {
            return lacks("no request completed".to_owned());
        }
        Some((found.bytes as f64, requests))
    }
}

fn add((bytes, requests): (f64, f64), window: &mut Window) {
    window.metrics.insert(metric::ALLOCATED_KIB_PER_REQUEST.to_owned(), bytes / 1024.0 / requests);
}

impl Observer for AllocationObserver {
    fn name(&self) -> &'static str {
        "allocation"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.gauge = Some(AllocationGauge::start(target.known_pid()?)?);
        Ok(())
    }

    fn begin_window(&mut self, settle: Duration) -> Result<(), String> {
        self.edges.begin(settle);
        Ok(())
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        if let (true, Some(gauge)) = (self.edges.is_start_due(), self.gauge.as_mut()) {
            gauge.read()?;
            gauge.restart();
            self.edges.has_started();
        }
        Ok(())
    }

    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        match (self.edges.ends(), self.gauge.as_mut()) {
            (true, Some(gauge)) => gauge.read(),
            _ => Ok(()),
        }
    }

    fn lost(&mut self, target: &Target, _role: &str, pid: u32) -> Result<(), String> {
        if target.pid == Some(pid) {
            return Err("a fault has ended the server, and two processes are not one count".to_owned());
        }
        Ok(())
    }

    fn end_search_window(&mut self, measured: &Measured, window: &mut Window) -> Result<(), String> {
        if let Some((bytes, requests)) = self.taken(measured, window) {
            self.search = (self.search.0 + bytes, self.search.1 + requests);
            add((bytes, requests), window);
        }
        Ok(())
    }

    fn end_window(
        &mut self,
        _target: &Target,
        measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        let of_search = std::mem::take(&mut self.search);
        let found = if 0.0 < of_search.1 { Some(of_search) } else { self.taken(measured, window) };
        found.into_iter().for_each(|found| add(found, window));
        Ok(())
    }
}
