//! `cargo xtask book`: pages and links of the documentation.
//!
//! Every page below `docs` is in `docs/SUMMARY.md`, from which mdBook makes the book, and every
//! relative link of a page leads to a file, and to a heading of it if it names one. The README
//! stays short. Listings of the pages are run by `cargo test -p seawall-tests --test host cli::book`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, refuse_any};
use crate::workspace;

/// Most bytes of the README: what a newcomer reads in a minute or two.
const README_MAX: usize = 6_000;

/// Pages outside of `docs`, whose links are checked too.
const OTHERS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "fuzz/README.md",
];

pub(crate) fn run() -> Result<(), Error> {
    let root = workspace::root();
    let mut pages = pages(&root.join("docs"))?;
    pages.extend(OTHERS.map(|name| root.join(name)));
    let mut findings = unlisted(&root.join("docs"))?;
    let mut links = 0;
    for page in &pages {
        let text = workspace::read(page)?;
        let name = page.strip_prefix(&root).unwrap_or(page).display();
        for link in links_of(&text).filter(|link| is_relative(link)) {
            links += 1;
            if let Some(problem) = problem(page, &text, &link)? {
                findings.push(format!("{name}: {link}: {problem}"));
            }
        }
    }
    let readme = workspace::read(&root.join("README.md"))?.len();
    if readme > README_MAX {
        findings.push(format!("README.md: {readme} bytes, at most {README_MAX}"));
    }
    refuse_any(
        "documentation",
        findings,
        "mend the links, and list new pages in docs/SUMMARY.md",
    )?;
    println!(
        "{} pages, {links} links lead to files and headings",
        pages.len()
    );
    Ok(())
}

fn pages(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut pages = workspace::files_below(folder)?;
    pages.retain(|page| page.extension().is_some_and(|suffix| suffix == "md"));
    pages.sort();
    Ok(pages)
}

/// Pages that the summary lacks.
fn unlisted(docs: &Path) -> Result<Vec<String>, Error> {
    let summary = workspace::read(&docs.join("SUMMARY.md"))?;
    let listed: BTreeSet<PathBuf> = links_of(&summary).map(|link| docs.join(link)).collect();
    let missing = pages(docs)?.into_iter();
    let missing = missing.filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(page));
    Ok(missing
        .map(|page| format!("{}: not in docs/SUMMARY.md", page.display()))
        .collect())
}

/// The lines of a page outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of links and pictures, without inline code.
fn links_of(text: &str) -> impl Iterator<Item = String> {
    prose(text).flat_map(|line| {
        let line = without_code(line);
        let parts: Vec<String> = line.split("](").skip(1).map(str::to_owned).collect();
        parts.into_iter().filter_map(|part| {
            let end = part.find(')')?;
            Some(part[..end].to_owned())
        })
    })
}

/// A line whose inline code is blank.
fn without_code(line: &str) -> String {
    let pieces = line.split('`').enumerate();
    let shown = pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { "" });
    shown.collect()
}

fn is_relative(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

fn problem(page: &Path, text: &str, link: &str) -> Result<Option<String>, Error> {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = page.parent().unwrap_or(page);
    let target = normal(&folder.join(file));
    if !file.is_empty() && !target.exists() {
        return Ok(Some("no such file".to_owned()));
    }
    if heading.is_empty() || (!file.is_empty() && !file.ends_with(".md")) {
        return Ok(None);
    }
    let other = match file {
        "" => None,
        _ => Some(workspace::read(&target)?),
    };
    let found = anchors(other.as_deref().unwrap_or(text)).any(|anchor| anchor == heading);
    Ok((!found).then(|| "no such heading".to_owned()))
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings.map(|heading| anchor(heading.trim_start_matches('#').trim()))
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A `page`, of *one*\n\nSee [it](other.md#part) and `[no](link)`.\n\
                        ```text\n[no](code.md)\n```\n![picture](plan.svg)\n## 1. Part_two\n";

    #[test]
    fn links_are_those_of_the_prose() {
        let links: Vec<_> = links_of(PAGE).collect();
        assert_eq!(links, ["other.md#part", "plan.svg"]);
    }

    #[test]
    fn anchors_are_made_as_on_the_page() {
        let found: Vec<_> = anchors(PAGE).collect();
        assert_eq!(found, ["a-page-of-one", "1-part_two"]);
    }

    #[test]
    fn links_without_a_file_or_a_heading_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.md");
        let of = |link| problem(&page, PAGE, link).unwrap();
        std::fs::write(folder.path().join("other.md"), "## Part\n").unwrap();
        assert_eq!(of("other.md#part"), None);
        assert_eq!(of("#1-part_two"), None);
        assert_eq!(of("other.md#gone"), Some("no such heading".to_owned()));
        assert_eq!(of("#gone"), Some("no such heading".to_owned()));
        assert_eq!(of("gone.md"), Some("no such file".to_owned()));
    }

    #[test]
    fn a_page_that_the_summary_lacks_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("SUMMARY.md", "- [a](a.md)\n"), ("a.md", ""), ("b.md", "")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let missing = unlisted(folder.path()).unwrap();
        assert!(
            missing.len() == 1 && missing[0].contains("b.md"),
            "{missing:?}"
        );
    }
}
