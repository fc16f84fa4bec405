//! The page docs/reference/commands.md: every command with its options.

use crate::arguments::Arguments;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write as _;

/// The page.
pub fn page() -> String {
    let mut program = Arguments::command();
    program.build();
    let mut page = String::from(
        "# Commands\n\nGenerated from the program, by `UPDATE_EXPECT=1 cargo test -p assay --test all reference::`. \
         From a clone each command is called as `./assay`. Exit codes: [reference](exit-codes.md).\n\n",
    );
    add(&program, "assay", &mut page);
    page
}

/// A command, and those below it. Parts stand between blank lines.
fn add(command: &Command, name: &str, page: &mut String) {
    let _ = writeln!(page, "## {name}\n");
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        let _ = writeln!(page, "{}\n", prose(&about.to_string()));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let _ = writeln!(page, "```text\n{}\n```\n", usage.trim());
    // Options of every command are listed once, with the program.
    let is_above = |arg: &Arg| arg.is_global_set() && name.contains(' ');
    let shown = |arg: &&Arg| {
        !arg.is_hide_set() && !is_above(arg) && !matches!(arg.get_id().as_str(), "help" | "version")
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    for arg in &arguments {
        add_argument(arg, page);
    }
    if !arguments.is_empty() {
        page.push('\n');
    }
    if let Some(examples) = command.get_after_help() {
        let _ = writeln!(page, "```text\n{}\n```\n", examples.to_string().trim_end());
    }
    for below in command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        add(below, &format!("{name} {}", below.get_name()), page);
    }
}

fn add_argument(arg: &Arg, page: &mut String) {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "- `{arg}`: {}", prose(&help));
    // A switch has no value, and clap gives it a default of `false`.
    if arg.get_action().takes_values() {
        let defaults: Vec<String> =
            arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        if !defaults.is_empty() {
            let _ = write!(page, " (default `{}`)", defaults.join(","));
        }
    }
    page.push('\n');
    for value in arg.get_possible_values().iter().filter(|_| arg.get_action().takes_values()) {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "  - `{}`: {}", value.get_name(), prose(&help));
    }
}

/// A help text on one line for each paragraph, without what Markdown would take for HTML or a link.
pub fn prose(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace('>', "&gt;");
    text.trim().replace('[', "\\[").replace(']', "\\]")
}
