//! `cargo xtask browse`: the page of a run and a drawing in a browser without a window.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::error::{Error, refuse_any};
use crate::process;
use crate::workspace;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Program whose page is opened.
    #[arg(long, value_name = "FILE")]
    program: PathBuf,
    /// The browser.
    #[arg(long, value_name = "NAME", default_value = "chromium")]
    browser: String,
}

/// Sections of the page of a search that is explained.
const SECTIONS: [&str; 6] = [
    "<h1>Breadth-first search of 4,096 nodes",
    "<h2>Answer</h2>",
    "<h2>Times</h2>",
    "<h2>Plan</h2>",
    "<h2>Blocks between barriers</h2>",
    "<h2>Frontier at each level</h2>",
];

/// Fewest bytes of a picture of a page that is not empty.
const BYTES_MIN: usize = 20_000;

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let folder = workspace::target("browse");
    std::fs::create_dir_all(&folder).map_err(Error::file("creating", &folder))?;
    let (json, page, drawing) = (
        folder.join("run.json"),
        folder.join("run.html"),
        folder.join("grid.svg"),
    );
    let search = ["run", "gen:grid:64", "--analysis", "bfs", "--source", "0"];
    let mut run = Command::new(&options.program);
    run.args(search)
        .args(["--backend", "cpu", "--threads", "2"])
        .args(["--explain", "--json", "--draw"])
        .arg(&drawing);
    workspace::write(&json, &process::capture(&mut run)?)?;
    let mut report = Command::new(&options.program);
    report.arg("report").arg(&json).arg("--out").arg(&page);
    process::capture(&mut report)?;

    let read = process::capture(browser(options).arg("--dump-dom").arg(&page))?;
    let mut findings: Vec<String> = SECTIONS
        .iter()
        .filter(|section| !read.contains(*section))
        .map(|section| format!("the page has no {section}"))
        .collect();
    for (shown, size) in [(&page, "1100,1600"), (&drawing, "960,760")] {
        let picture = shown.with_extension("png");
        process::capture(
            browser(options)
                .arg(format!("--window-size={size}"))
                .arg(format!("--screenshot={}", picture.display()))
                .arg(shown),
        )?;
        findings.extend(blank(&picture)?);
    }
    refuse_any(
        "what the browser shows",
        findings,
        "look at the files in target/browse",
    )?;
    println!(
        "{} and a drawing open in {}",
        page.display(),
        options.browser
    );
    Ok(())
}

fn browser(options: &Options) -> Command {
    let mut command = Command::new(&options.browser);
    // Root has no sandbox; the pages are this repository's.
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
    ]);
    command
}

/// A finding if the picture of a page is missing or empty.
fn blank(picture: &Path) -> Result<Option<String>, Error> {
    let bytes = std::fs::read(picture).map_err(Error::file("reading", picture))?;
    let is_blank = bytes.len() < BYTES_MIN;
    Ok(is_blank.then(|| {
        format!(
            "{}: {} bytes, an empty page",
            picture.display(),
            bytes.len()
        )
    }))
}
