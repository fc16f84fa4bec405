//! In which form a result is printed, and how much of it: the same words in every command.

use crate::failure::Failure;
use assay_report::Extent;
use clap::{Args, ValueEnum};

/// Output on standard output.
#[derive(Debug, Default, Args)]
pub struct FormatArguments {
    /// Output format [default: table, or nothing if only a page is requested]
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// How much of it.
    #[command(flatten)]
    pub extent: ExtentArguments,
}

/// How much of a result is printed as text.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ExtentArguments {
    /// Print every part and every entry as text instead of at most 40 lines
    #[arg(long)]
    pub all: bool,
}

impl ExtentArguments {
    /// How much was asked for.
    pub fn extent(self) -> Extent {
        if self.all { Extent::All } else { Extent::Short }
    }
}

/// A form that was asked for, and how much of a result it has.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The form.
    pub format: Format,
    /// Extent of a text. All other forms are complete.
    pub extent: Extent,
}

impl From<Format> for Form {
    fn from(format: Format) -> Self {
        Form { format, extent: Extent::All }
    }
}

impl PartialEq<Format> for Form {
    fn eq(&self, other: &Format) -> bool {
        self.format == *other
    }
}

/// Forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text that fits the terminal
    Table,
    /// JSON in the stored format, one object per line for a series of results
    Json,
    /// CSV, a row for each figure or entry, with units in the names. Missing values are empty
    Csv,
    /// Markdown: the answer, then the tables of the page
    Md,
    /// One JSON object per line for each figure or entry. Missing values are null
    Ndjson,
}

impl FormatArguments {
    /// The form that was asked for.
    pub fn form(&self) -> Form {
        Form { format: self.format_beside(false).unwrap_or(Format::Table), extent: self.extent.extent() }
    }

    /// The same, or nothing if a page is written and no form was requested.
    pub fn form_beside(&self, is_page_written: bool) -> Option<Form> {
        self.format_beside(is_page_written).map(|format| Form { format, extent: self.extent.extent() })
    }

    fn format_beside(&self, is_page_written: bool) -> Option<Format> {
        let json = self.json.then_some(Format::Json);
        self.format.or(json).or((!is_page_written).then_some(Format::Table))
    }

    /// Whether results are printed as JSON. The only other form is text.
    ///
    /// # Errors
    /// When another form was asked for; `what` is what has only two.
    pub fn is_json(&self, what: &str) -> Result<bool, Failure> {
        match self.form().format {
            Format::Table => Ok(false),
            Format::Json => Ok(true),
            Format::Csv | Format::Md | Format::Ndjson => Err(Failure::input(format!(
                "{what} has the forms table and json: leave --format out, or give --json"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leaves_standard_output_alone_unless_a_form_was_asked_for() {
        let of = |format, json| FormatArguments { format, json, extent: ExtentArguments { all: false } };
        assert_eq!(of(None, false).format_beside(false), Some(Format::Table));
        assert_eq!(of(None, false).format_beside(true), None);
        assert_eq!(of(Some(Format::Table), false).format_beside(true), Some(Format::Table));
        assert!(of(None, true).form() == Format::Json && of(Some(Format::Md), false).form() == Format::Md);
        let refused = of(Some(Format::Csv), false).is_json("--watch").expect_err("two forms");
        assert!(refused.message.contains("--watch has the forms table and json"), "{}", refused.message);
        assert!(matches!((of(None, true).is_json("x"), of(None, false).is_json("x")), (Ok(true), Ok(false))));
    }
}
