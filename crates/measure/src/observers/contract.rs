//! The interface of observers, and the target that they observe.

use assay_load::{IntervalLogs, Measured};
use assay_model::{HeapRange, ModeRead, Trial, Window};
use std::path::PathBuf;
use std::time::Duration;

/// The server that is watched, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The process that does the work; absent where it is not known.
    pub pid: Option<u32>,
    /// All processes of the trial that run on this machine, by role; several may have one role.
    pub processes: Vec<(String, u32)>,
    /// Processes beside the server that take JVM options and may write into the trial's folder: the name of the table, and the own role.
    pub jvms_beside: Vec<(String, String)>,
    /// The trial's folder.
    pub folder: PathBuf,
    /// Where the Java heap lies.
    pub heap: Option<HeapRange>,
    /// Reference mode that the log shows.
    pub mode: Option<ModeRead>,
    /// Whether its JVM has unified logging (`-Xlog`), as all but JDK 8 have.
    pub has_unified_logging: bool,
    /// Whether the command takes JVM options.
    pub takes_jvm_options: bool,
    /// Whether its windows are of one load, the same for all variants.
    pub has_even_load: bool,
}

impl Target {
    /// The process, for an observer that cannot work without it.
    pub(crate) fn known_pid(&self) -> Result<u32, String> {
        self.pid.ok_or_else(|| "the server's process is not known".to_owned())
    }
}

/// Observes a trial. Every step may fail with a reason; the observer is then left out of the rest of the trial.
pub trait Observer: Send {
    /// As it is listed when it cannot work.
    fn name(&self) -> &'static str;

    /// Before the launch: returns JVM options that it needs.
    fn prepare(&mut self, _target: &Target) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Before the launch: JVM options that it needs for one of [`Target::jvms_beside`].
    fn options_beside(&self, _target: &Target, _role: &str) -> Vec<String> {
        Vec::new()
    }

    /// The server answers.
    fn start(&mut self, _target: &mut Target) -> Result<(), String> {
        Ok(())
    }

    /// A load run is over: warm-up, settling, or a window.
    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        Ok(())
    }

    /// A window begins, after so much settling.
    fn begin_window(&mut self, _settle: Duration) -> Result<(), String> {
        Ok(())
    }

    /// A window on the way to a capacity is over; the trial's own window, to which all of them belong, ends later.
    fn end_search_window(&mut self, _measured: &Measured, _window: &mut Window) -> Result<(), String> {
        Ok(())
    }

    /// A window begins: where the generator's interval log goes.
    fn logs(&mut self) -> Result<Option<IntervalLogs>, String> {
        Ok(None)
    }

    /// Up to fifty times a second while the server is watched; an observer that costs more has its own intervals.
    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        Ok(())
    }

    /// A fault that the study asks for ends this process of a role, which may be started again: called before, and when it has ended and was
    /// not waited for yet.
    fn lost(&mut self, _target: &Target, _role: &str, _pid: u32) -> Result<(), String> {
        Ok(())
    }

    /// It was started again, as this process.
    fn replaced(&mut self, _target: &Target, _role: &str, _pid: u32) -> Result<(), String> {
        Ok(())
    }

    /// A window is over.
    fn end_window(
        &mut self,
        _target: &Target,
        _measured: &Measured,
        _window: &mut Window,
    ) -> Result<(), String> {
        Ok(())
    }

    /// No further window follows, and the server still runs.
    fn end_windows(&mut self, _target: &Target) -> Result<(), String> {
        Ok(())
    }

    /// The server has stopped: completes the trial.
    fn finish(&mut self, _trial: &mut Trial) -> Result<(), String> {
        Ok(())
    }
}
