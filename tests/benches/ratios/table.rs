//! The rows of the table.

use crate::measure::Rounds;

/// What a row is judged by.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// Ours over the peer's.
    RatioAtMost(f64),
    /// Ours over the peer's.
    RatioAtLeast(f64),
    /// Ours alone.
    OursAtMost(f64),
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    /// None where it could not be measured.
    pub ours: Option<f64>,
    /// None where there is no peer, or it is not installed.
    pub peer: Option<f64>,
    /// Ours over the peer's: the median of the rounds.
    pub ratio: Option<f64>,
    pub unit: &'static str,
    pub goal: Goal,
    /// What was measured how often, against whom.
    pub note: String,
}

/// What rows came to.
pub type Rows = crate::setting::Result<Vec<Row>>;

impl Row {
    /// What one alternative came to, next to another of the same rounds.
    pub fn against<const N: usize>(
        name: &'static str,
        unit: &'static str,
        goal: Goal,
        rounds: &Rounds<N>,
        [ours, peer]: [usize; 2],
        note: String,
    ) -> Row {
        let (ratio, ours, peer) = (rounds.ratio(ours, peer), rounds.median(ours), rounds.median(peer));
        Row { name, ours: Some(ours), peer: Some(peer), ratio: Some(ratio), unit, goal, note }
    }

    /// What has no peer.
    pub fn alone(name: &'static str, unit: &'static str, goal: Goal, ours: f64, note: String) -> Row {
        Row { name, ours: Some(ours), peer: None, ratio: None, unit, goal, note }
    }

    /// What cannot be measured here, and why.
    pub fn skipped(name: &'static str, unit: &'static str, goal: Goal, why: String) -> Row {
        Row { name, ours: None, peer: None, ratio: None, unit, goal, note: format!("skipped: {why}") }
    }

    fn met(&self) -> Option<bool> {
        match self.goal {
            Goal::RatioAtMost(limit) => self.ratio.map(|ratio| ratio <= limit),
            Goal::RatioAtLeast(limit) => self.ratio.map(|ratio| ratio >= limit),
            Goal::OursAtMost(limit) => self.ours.map(|ours| ours <= limit),
        }
    }

    fn goal(&self) -> String {
        match self.goal {
            Goal::RatioAtMost(limit) | Goal::OursAtMost(limit) => format!("≤ {limit}"),
            Goal::RatioAtLeast(limit) => format!("≥ {limit}"),
        }
    }

    /// As a line of JSON.
    pub fn json(&self) -> String {
        let goal = match self.goal {
            Goal::OursAtMost(_) => format!("ours {}", self.goal()),
            _ => self.goal(),
        };
        serde_json::json!({
            "name": self.name,
            "ours": self.ours.map(rounded),
            "peer": self.peer.map(rounded),
            "unit": self.unit,
            "ratio": self.ratio.map(rounded),
            "goal": goal,
            "met": self.met(),
        })
        .to_string()
    }

    /// As a line of the table.
    pub fn line(&self) -> String {
        let shown = |number: Option<f64>| number.map_or("–".to_owned(), |number| rounded(number).to_string());
        let met = match self.met() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "skipped",
        };
        format!(
            "| {} | {} | {} | {} | {} | {} | {met} | {} |",
            self.name,
            shown(self.ours),
            shown(self.peer),
            self.unit,
            shown(self.ratio),
            self.goal(),
            self.note
        )
    }
}

/// The head of the table.
pub fn head() -> &'static str {
    "| name | ours | peer | unit | ratio | goal | met | how |\n|---|---:|---:|---|---:|---|---|---|"
}

/// Three digits that count: more are noise.
fn rounded(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let digits = 2 - number.abs().log10().floor() as i32;
    let factor = 10f64.powi(digits.max(0));
    (number * factor).round() / factor
}
