//! Tables on a terminal: plain columns, two spaces apart.

use comfy_table::{CellAlignment, Table, presets};

use super::text;

/// A table. Its cells are escaped: see [`text::escape`].
pub struct Rows {
    table: Table,
    right: &'static [usize],
}

impl Rows {
    /// An empty table with these headings, or none; the columns with an index in `right` are flush right.
    pub fn new(headings: &[&str], right: &'static [usize]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if !headings.is_empty() {
            table.set_header(headings);
        }
        Rows { table, right }
    }

    /// Adds a row.
    pub fn add<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.table.add_row(cells.into_iter().map(|cell| text::escape(cell.as_ref()).into_owned()));
    }

    /// The table as text, without spaces at the ends of lines.
    pub fn render(mut self) -> String {
        for (index, column) in self.table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if self.right.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.table.trim_fmt()
    }
}

#[cfg(test)]
mod tests;
