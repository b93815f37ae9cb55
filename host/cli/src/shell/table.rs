//! Tables on a terminal: plain columns, two spaces apart.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

use super::text;

/// The space after a column.
const GAP: u16 = 2;

/// The least width of the last column of a table that must fit.
const LEAST: usize = 28;

/// A table. Its cells are escaped: see [`text::escape`].
pub struct Rows {
    table: Table,
    right: &'static [usize],
}

impl Rows {
    /// An empty table with these headings; the columns with an index in `right` are flush right.
    pub fn new(headings: &[&str], right: &'static [usize]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let mut header = Row::from(headings);
        header.max_height(1);
        table.set_header(header);
        Rows { table, right }
    }

    /// Adds a row.
    pub fn add<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row = Row::from(cells.into_iter().map(|cell| text::escape(cell.as_ref()).into_owned()));
        row.max_height(1);
        self.table.add_row(row);
    }

    /// Leaves the columns with an index in `hidden` out. Where the lines may have at most `width` columns, leaves those in
    /// `less` out too, in that order, until the rest fits, and then cuts the first and the last column.
    pub fn fit(&mut self, width: Option<usize>, hidden: &[usize], less: &[usize]) {
        let widths = self.table.column_max_content_widths();
        let last = widths.len().saturating_sub(1);
        let mut hidden = hidden.to_vec();
        let width = width.unwrap_or(usize::from(u16::MAX) - usize::from(GAP));
        let needed = |hidden: &[usize]| -> usize {
            let shown = widths.iter().enumerate().filter(|(index, _)| !hidden.contains(index));
            let least = |index, wide| if index == last { LEAST.min(wide) } else { wide };
            shown.map(|(index, wide)| usize::from(GAP) + least(index, usize::from(*wide))).sum()
        };
        let mut less = less.iter();
        while needed(&hidden) > width + usize::from(GAP) {
            let Some(next) = less.next() else { break };
            hidden.push(*next);
        }
        for (index, column) in self.table.column_iter_mut().enumerate() {
            if hidden.contains(&index) {
                column.set_constraint(ColumnConstraint::Hidden);
            } else if index == 0 {
                let most = u16::try_from(width / 2).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(most)));
            } else if index < last {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        // The space after the last column is trimmed.
        let width = u16::try_from(width).unwrap_or(u16::MAX).saturating_add(GAP);
        self.table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }

    /// The table as text, without spaces at the ends of lines.
    pub fn render(mut self) -> String {
        for (index, column) in self.table.column_iter_mut().enumerate() {
            column.set_padding((0, GAP));
            if self.right.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.table.trim_fmt()
    }
}

#[cfg(test)]
mod tests;
