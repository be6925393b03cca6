//! `cargo xtask api`: the public API of the libraries, as it is recorded in `xtask/api`.
//!
//! A change of the API is so a change of a file that a reviewer sees, and CI refuses one that
//! nobody meant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use public_api::Builder;

use crate::error::Error;
use crate::process;
use crate::ptx::toolchain::{Route, Toolchain};
use crate::workspace;

/// The libraries whose items users name.
const CRATES: [&str; 5] = [
    "seawall-core",
    "seawall-graph",
    "seawall-device",
    "seawall",
    "seawall-modules",
];

/// Format of rustdoc's JSON that is read here, which changes with the compiler.
const FORMAT: u32 = 57;

/// Most changed items that a refusal shows.
const SHOWN: usize = 60;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the record instead of comparing with it.
    #[arg(long)]
    bless: bool,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    println!("toolchain: {}", toolchain.describe());
    let mut findings = Vec::new();
    for name in CRATES {
        let json = described(&toolchain, name)?;
        let found = format_of(&json)?;
        if found != FORMAT {
            println!("skipped: rustdoc writes format {found} and this command reads {FORMAT}");
            return Ok(());
        }
        let items = items(&json)?;
        println!("{name}: {} public items", items.len());
        let record = record_of(name);
        if options.bless {
            workspace::write(&record, &text(&items))?;
        } else {
            let recorded = workspace::read(&record)?;
            findings.extend(changes(name, &recorded, &items));
        }
    }
    match findings.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused {
            what: "changes of the public API",
            findings: findings.into_iter().take(SHOWN).collect(),
            remedy: "if they are meant, name what breaks users in CHANGELOG.md and run `cargo xtask api --bless`",
        }),
    }
}

fn record_of(name: &str) -> PathBuf {
    workspace::root().join(format!("xtask/api/{name}.txt"))
}

/// The items of a library in rustdoc's JSON.
fn described(toolchain: &Toolchain, name: &str) -> Result<PathBuf, Error> {
    let target = workspace::target("api");
    let mut cargo = toolchain.cargo();
    cargo
        .current_dir(workspace::root())
        .args(["rustdoc", "--quiet", "--lib", "--package", name])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format", "json"])
        .args(["--cap-lints", "allow"]);
    process::show(&mut cargo)?;
    Ok(target
        .join("doc")
        .join(format!("{}.json", name.replace('-', "_"))))
}

fn unreadable(json: &Path, problem: &dyn ToString) -> Error {
    Error::Output {
        program: format!("rustdoc ({})", json.display()),
        problem: problem.to_string(),
    }
}

/// The format's number, which ends the file.
fn format_of(json: &Path) -> Result<u32, Error> {
    let text = workspace::read(json)?;
    let number = text
        .rsplit_once("\"format_version\":")
        .map(|(_, rest)| rest);
    let digits = number.map(|rest| rest.trim_end_matches(['}', '\n', ' ']));
    let found = digits.and_then(|digits| digits.trim().parse().ok());
    found.ok_or_else(|| unreadable(json, &"it names no format"))
}

fn items(json: &Path) -> Result<BTreeSet<String>, Error> {
    let api = Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    let api = api.map_err(|error| unreadable(json, &error))?;
    Ok(api.items().map(ToString::to_string).collect())
}

fn text(items: &BTreeSet<String>) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        text.push_str(item);
        text.push('\n');
        text
    })
}

/// Items that were recorded and are gone, and new ones.
fn changes(name: &str, recorded: &str, items: &BTreeSet<String>) -> Vec<String> {
    let recorded: BTreeSet<String> = recorded.lines().map(str::to_owned).collect();
    let gone = recorded
        .difference(items)
        .map(|item| format!("{name}: - {item}"));
    let new = items
        .difference(&recorded)
        .map(|item| format!("{name}: + {item}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gone_and_new_items_are_named() {
        let items: BTreeSet<String> = ["pub fn a()", "pub fn c()"].map(str::to_owned).into();
        let found = changes("x", "pub fn a()\npub fn b()\n", &items);
        assert_eq!(found, ["x: - pub fn b()", "x: + pub fn c()"]);
        assert!(changes("x", &text(&items), &items).is_empty());
    }

    #[test]
    fn every_library_has_a_record() {
        for name in CRATES {
            let record = workspace::read(&record_of(name)).unwrap();
            assert!(
                record.lines().any(|line| line.starts_with("pub mod ")),
                "{name}"
            );
            let items: BTreeSet<String> = record.lines().map(str::to_owned).collect();
            assert_eq!(text(&items), record, "{name}: sorted, each item once");
        }
    }
}
