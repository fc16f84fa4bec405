//! Studies whose trials run in emulated machines: a guest for each block, in which this program makes the block as it would here; then the
//! blocks are put together as parts of any run are.
//!
//! The plan is made in the guest, by its JVMs, its kernel and its settings. On this machine the study is only checked.

mod boot;
mod files;

use crate::check::checked::Checked;
use crate::check::guest::{planned, refused_metric};
use crate::check::layout::Layout;
use crate::error::StudyError;
use crate::runner::RunOptions;
use assay_emulate::{PLACE_PROGRAM, Place, RESULTS};
use assay_launch::Local;
use assay_model::{Design, PlannedGuest, file};
use assay_results::{Gate, load_run, merge};
use boot::Guest;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Folder of the run directory with what the guests of each block left.
const GUESTS: &str = "guests";
/// The run in a guest, below what it hands out.
const RUN: &str = "run";

/// A study in emulated machines, checked.
#[derive(Debug)]
pub struct InGuests {
    checked: Checked,
    planned: PlannedGuest,
    quick: bool,
    layout: Layout,
}

/// Progress of a run in guests.
#[derive(Debug, Clone, PartialEq)]
pub enum GuestEvent {
    /// A guest starts.
    Started {
        /// Its block.
        block: u32,
        /// Of how many.
        blocks: u32,
        /// Version of its kernel.
        kernel: String,
        /// Its machine, in words.
        machine: String,
    },
    /// What a command names and the guest does not have.
    LeftOut(String),
    /// Its kernel has started its first program, so many seconds after the emulator started.
    Up(f64),
    /// A guest has handed its block out, so many seconds after the emulator started.
    Ended(f64),
}

impl Checked {
    /// The study, or its short form, in emulated machines; none where it is not for them.
    ///
    /// # Errors
    /// A short form that it does not have, or a condition about something that a guest cannot measure.
    pub fn in_guests(self, quick: bool, conditions: &[Gate]) -> Result<Option<InGuests>, StudyError> {
        let Some(planned) = planned(&self.study).filter(|_| self.is_for_guests()) else { return Ok(None) };
        if quick && self.study.quick.is_none() {
            let what = "the study has no short form: leave --quick away, or add a [quick] table";
            return Err(StudyError::Use(what.to_owned()));
        }
        let refused = conditions.iter().find_map(|condition| refused_metric(&condition.metric().id));
        if let Some(why) = refused {
            return Err(StudyError::Use(why));
        }
        let short = self.study.quick.as_ref().filter(|_| quick);
        let layout = Layout::of(&self.study.design, short.map(|quick| &quick.design));
        debug_assert!(layout.kind == Design::Fresh, "the check refuses other designs");
        Ok(Some(InGuests { checked: self, planned, quick, layout }))
    }
}

impl InGuests {
    /// Name of the study.
    pub fn name(&self) -> &str {
        self.checked.name()
    }

    /// Where its trials run, and how many guests it takes, in words.
    pub fn describe(&self) -> String {
        let blocks = self.layout.blocks;
        let guests =
            if blocks == 1 { "1 guest".to_owned() } else { format!("{blocks} guests, one for each block") };
        format!("{} ({guests})", self.planned.describe())
    }

    /// Runs it. The run directory, absolute.
    ///
    /// `stop` ends it early: the guest ends, and blocks that are whole are kept for `--resume`.
    ///
    /// # Errors
    /// What this machine lacks for guests, a guest that does not boot or ends before its block does, an interruption.
    pub fn run(
        &self,
        options: &RunOptions,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&GuestEvent),
    ) -> Result<PathBuf, StudyError> {
        let out = options.out.clone().unwrap_or_else(|| crate::runner::default_out(self.name()));
        self.check_out(&out, options.resume)?;
        let lacks = StudyError::Environment;
        let place = Place::find(&absolute(&self.checked.workload.cache)?, &self.planned).map_err(lacks)?;
        let program = place.program().map_err(lacks)?;
        let engine = Rc::new(Local::begin()?);
        let mut parts = Vec::new();
        for block in 1..=self.layout.blocks {
            let folder = out.join(GUESTS).join(format!("{block:02}"));
            let part = folder.join(RUN);
            parts.push(part.clone());
            if options.resume && load_run(&part).is_ok() {
                continue;
            }
            let begun = Instant::now();
            on_event(&GuestEvent::Started {
                block,
                blocks: self.layout.blocks,
                kernel: place.kernel.clone(),
                machine: self.planned.machine.title().to_owned(),
            });
            make_empty(&folder)?;
            let image = self.image(&place, &program, block, on_event)?;
            let guest = Guest { place: &place, planned: &self.planned, folder: &folder, engine: &engine };
            let seed = self.checked.study.seed.unwrap_or(1).wrapping_add(u64::from(block));
            let result = guest.run(&image, seed, stop, &mut |up_s| on_event(&GuestEvent::Up(up_s)));
            let done = parts.len() - 1;
            result.map_err(|why| self.failed(why, &out, done))?;
            load_run(&part).map_err(|e| StudyError::Internal(format!("block {block} of the guest: {e}")))?;
            on_event(&GuestEvent::Ended(begun.elapsed().as_secs_f64()));
        }
        let dir = merge(&parts, &out, false)?;
        // What the guests' consoles showed stays; their runs are in the run directory now.
        for part in parts {
            let _ = fs_err::remove_dir_all(part);
        }
        Ok(dir)
    }

    /// The guest of a block: this program and what the study needs, with the command that makes the block.
    fn image(
        &self,
        place: &Place,
        program: &Path,
        block: u32,
        on_event: &mut dyn FnMut(&GuestEvent),
    ) -> Result<assay_emulate::GuestImage, StudyError> {
        let needed = files::needed(&self.checked, self.quick, place).map_err(StudyError::Environment)?;
        needed.left_out.iter().for_each(|what| on_event(&GuestEvent::LeftOut(what.clone())));
        let mut words: Vec<String> = [PLACE_PROGRAM, "run"].map(str::to_owned).into();
        words.push(needed.study.to_string_lossy().into_owned());
        words.extend([
            "--blocks".to_owned(),
            block.to_string(),
            "--out".to_owned(),
            format!("{RESULTS}/{RUN}"),
        ]);
        words.extend(["--allow-host-changes", "--allow-invalid"].map(str::to_owned));
        words.extend(self.quick.then(|| "--quick".to_owned()));
        let mut image = place.image(&words, needed.checkout())?;
        needed.put(&mut image, place, program)?;
        Ok(image)
    }

    fn check_out(&self, out: &Path, resume: bool) -> Result<(), StudyError> {
        let name = out.display();
        if out.join(file::PLAN).exists() {
            let what = "already holds a whole run: choose another folder with --out";
            return Err(StudyError::Use(format!("{name} {what}")));
        }
        match (out.join(GUESTS).exists(), resume) {
            (true, false) => Err(StudyError::Use(format!(
                "{name} already holds blocks of a run in guests: add --resume to go on with it, or choose another folder with --out"
            ))),
            (false, true) => Err(StudyError::Use(format!(
                "{name} holds no blocks of a run in guests: leave --resume away to begin a new run"
            ))),
            _ => Ok(()),
        }
    }

    fn failed(&self, why: boot::Failure, out: &Path, done: usize) -> StudyError {
        match why {
            boot::Failure::Interrupted => {
                StudyError::Interrupted { dir: out.to_owned(), done, trials: self.layout.blocks as usize }
            }
            boot::Failure::Guest(why) => StudyError::Environment(why),
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, StudyError> {
    Ok(std::path::absolute(path)?)
}

/// Makes a folder anew that only this user can enter.
fn make_empty(folder: &Path) -> Result<(), StudyError> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?)
}
