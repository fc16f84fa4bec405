//! Makes a metric of the time that the server took to start.

use super::contract::Observer;
use assay_model::{Trial, Window, metric};

pub(crate) struct StartObserver;

impl Observer for StartObserver {
    fn name(&self) -> &'static str {
        "start"
    }

    fn finish(&mut self, trial: &mut Trial) -> Result<(), String> {
        add(trial.start_to_ready_ms, trial.block, &mut trial.windows)
    }
}

/// A server that is measured in several blocks started once: its start is not one value for each of them.
fn add(start_to_ready_ms: Option<f64>, block: u32, windows: &mut [Window]) -> Result<(), String> {
    let ms = start_to_ready_ms.ok_or("the server was not started, or never answered")?;
    if windows.iter().any(|window| window.block != block) {
        return Err(
            "the server started once for all blocks; the design `fresh` starts it for each".to_owned()
        );
    }
    for window in windows {
        window.metrics.insert(metric::START_TO_READY_MS.to_owned(), ms);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_of_a_launch_has_its_start_and_a_server_of_several_blocks_has_none() {
        let of = |blocks: &[u32]| -> Vec<Window> {
            blocks.iter().map(|block| Window { block: *block, ..Window::default() }).collect()
        };
        let mut windows = of(&[1, 1]);
        assert_eq!(add(Some(420.0), 1, &mut windows), Ok(()));
        assert!(windows.iter().all(|window| window.metrics[metric::START_TO_READY_MS] == 420.0));
        for (ms, blocks) in [(None, &[1][..]), (Some(420.0), &[1, 2])] {
            let mut windows = of(blocks);
            assert!(add(ms, 1, &mut windows).is_err());
            assert!(windows.iter().all(|window| window.metrics.is_empty()));
        }
    }
}
