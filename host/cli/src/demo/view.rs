//! The output of the demo: on a terminal a live picture with lines above it, otherwise only the lines; at the end a table.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::lane::Lane;
use super::scene::{self, Picture, Recovery};
use crate::shell::output::{line, written};
use crate::shell::table::Rows;

/// The output.
pub struct View {
    live: Option<Live>,
}

struct Live {
    all: MultiProgress,
    dependency: ProgressBar,
    lanes: [ProgressBar; 3],
}

impl View {
    pub fn new() -> anyhow::Result<Self> {
        if !io::stdout().is_terminal() {
            return Ok(View { live: None });
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        let progress = ProgressStyle::with_template("\n        [{bar:24}] {msg}")?.progress_chars("=> ");
        let dependency = all.add(ProgressBar::new(scene::ACTS).with_style(progress));
        let style = ProgressStyle::with_template("        {msg}")?;
        let bar = || all.add(ProgressBar::new_spinner().with_style(style.clone()));
        let lanes = [bar(), bar(), bar()];
        Ok(View { live: Some(Live { all, dependency, lanes }) })
    }

    /// Writes a line about an event.
    pub fn print(&self, at: Duration, event: &str) -> anyhow::Result<()> {
        let text = format!("{:>5.1}s  {event}", at.as_secs_f64());
        match &self.live {
            Some(live) => written(live.all.println(text)),
            None => line(text),
        }
    }

    /// Updates the live picture.
    pub fn show(&self, picture: &Picture) {
        let Some(live) = &self.live else { return };
        live.dependency.set_position(picture.acts);
        live.dependency.set_message(format!("the dependency is {}", picture.dependency));
        for (bar, lane) in live.lanes.iter().zip(Lane::ALL) {
            let (reached, note) = (picture.reached.get(lane), picture.notes.get(lane));
            bar.set_message(format!("{:<26}{reached:>6} calls reached it   {note}", lane.name()));
        }
    }

    /// Removes the live picture.
    pub fn end(&mut self) {
        if let Some(live) = self.live.take() {
            let _ = live.all.clear();
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.end();
    }
}

/// The table at the end.
pub fn table(while_down: impl Fn(Lane) -> u64, recoveries: &[Recovery]) -> String {
    let mut headings = vec![String::new(), "while it was down".to_owned()];
    headings.extend((1..=recoveries.len()).map(|number| format!("at recovery {number}")));
    let mut rows = Rows::new(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &[1, 2, 3]);
    for lane in Lane::ALL {
        let mut row = vec![format!("  {}", lane.name()), while_down(lane).to_string()];
        row.extend(recoveries.iter().map(|recovery| recovery.get(lane).total().to_string()));
        rows.add(row);
    }
    rows.render()
}
