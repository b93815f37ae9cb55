//! Tables on a terminal: plain columns, two spaces apart.

use comfy_table::{CellAlignment, Table, presets};

use crate::text;

/// A table. What others wrote is made safe to show when it is put in.
pub struct Rows {
    table: Table,
    right: &'static [usize],
}

impl Rows {
    /// With these headings, or none; the columns named in `right` are set flush right.
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

    /// The lines, without spaces at their ends.
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
mod tests {
    use super::*;

    #[test]
    fn columns_are_two_spaces_apart() {
        let mut rows = Rows::new(&["NAME", "N"], &[1]);
        rows.add(["a\u{1b}b", "10"]);
        rows.add(["c", "2"]);
        assert_eq!(rows.render(), "NAME       N\na\\u{1b}b  10\nc          2");
    }

    #[test]
    fn headings_are_not_needed() {
        let mut rows = Rows::new(&[], &[]);
        rows.add(["state", "open"]);
        assert_eq!(rows.render(), "state  open");
    }
}
