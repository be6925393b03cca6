//! Users of single functions: every public function of the planner acts in the product, or serves C
//! or firmware and is on a page that shows its purpose.
//!
//! The check reads names and knows no types. A function is in use if its name occurs in a source of
//! the product, outside of comments, strings and tests, or in the body of a function of the planner
//! that is in use; functions of traits count as used, since formatting and conversions do not name
//! them. A name with another meaning in the product may hide a function without a user, so the
//! check finds most of them, and never refuses one that is in use.

use std::collections::BTreeSet;
use std::path::Path;

use super::{PRODUCT, is_product, without_tests};
use crate::error::Error;
use crate::workspace;

const PLANNER: &str = "core/src";
/// The C interface and the firmware example.
const OTHERS: [&str; 2] = ["core/capi/src", "tests/firmware/src"];
/// The pages that show the purpose of the planner's functions for C and firmware.
const PAGES: [&str; 1] = ["docs/microcontroller.md"];
/// Functions without a caller, each with the reason why it stays.
const EXCEPTIONS: [(&str, &str); 1] = [(
    "per_word_of",
    "the table of opcodes calls it, inside a macro, and crates with custom waves do",
)];

#[derive(Debug, PartialEq, Eq)]
struct Function {
    /// File, relative to the workspace.
    file: String,
    name: String,
    is_public: bool,
    is_of_trait: bool,
    names: BTreeSet<String>,
}

/// Returns the problems of the workspace at `root`.
pub(super) fn findings(root: &Path) -> Result<Vec<String>, Error> {
    let mut functions = Vec::new();
    for file in workspace::files_below(&root.join(PLANNER))? {
        if is_product(&file) {
            let shown = file.strip_prefix(root).unwrap_or(&file);
            let text = workspace::read(&file)?;
            functions.extend(functions_of(&shown.to_string_lossy(), &text));
        }
    }
    let product = names_below(root, &PRODUCT.map(|(_, folder)| folder))?;
    let others = names_below(root, &OTHERS)?;
    let pages = PAGES.map(|page| workspace::read(&root.join(page)));
    let pages: String = pages.into_iter().collect::<Result<_, _>>()?;
    Ok(judge(&functions, [&product, &others], &pages, &EXCEPTIONS))
}

fn names_below(root: &Path, folders: &[&str]) -> Result<BTreeSet<String>, Error> {
    let mut names = BTreeSet::new();
    for folder in folders {
        for file in workspace::files_below(&root.join(folder))? {
            if is_product(&file) {
                let text = workspace::read(&file)?;
                let tokens = tokens(without_tests(&text));
                names.extend(
                    tokens
                        .into_iter()
                        .filter(|token| is_name(token))
                        .map(str::to_owned),
                );
            }
        }
    }
    Ok(names)
}

fn judge(
    functions: &[Function],
    [product, others]: [&BTreeSet<String>; 2],
    pages: &str,
    exceptions: &[(&str, &str)],
) -> Vec<String> {
    let in_product = in_use(functions, product);
    let with_others = in_use(functions, &product.union(others).cloned().collect());
    let shown = code_of(pages);
    let mut findings = Vec::new();
    for (at, function) in functions.iter().enumerate() {
        let Function { file, name, .. } = function;
        let is_excepted = exceptions.iter().any(|(known, _)| known == name);
        if !function.is_public || in_product[at] || is_excepted {
            continue;
        }
        if !with_others[at] {
            findings.push(format!("{file}: `{name}` has no user"));
        } else if !shown.contains(name.as_str()) {
            findings.push(format!(
                "{file}: `{name}` serves C or firmware alone, and {} does not show for what",
                PAGES.join(" or ")
            ));
        }
    }
    let is_known = |name: &str| functions.iter().any(|function| function.name == name);
    let unknown = exceptions.iter().filter(|(name, _)| !is_known(name));
    findings.extend(unknown.map(|(name, _)| format!("the exception `{name}` is no function")));
    findings
}

/// Returns for each function whether it is in use, if `names` occur elsewhere.
fn in_use(functions: &[Function], names: &BTreeSet<String>) -> Vec<bool> {
    let mut names = names.clone();
    let mut used = vec![false; functions.len()];
    loop {
        let mut has_grown = false;
        for (used, function) in used.iter_mut().zip(functions) {
            if !*used && (function.is_of_trait || names.contains(&function.name)) {
                *used = true;
                has_grown = true;
                names.extend(function.names.iter().cloned());
            }
        }
        if !has_grown {
            return used;
        }
    }
}

/// Names in the code of a page: in its blocks of code, and between backticks.
fn code_of(page: &str) -> BTreeSet<&str> {
    let code = page.split('`').skip(1).step_by(2);
    code.flat_map(tokens)
        .filter(|token| is_name(token))
        .collect()
}

/// The functions of a source, those inside other functions excepted.
fn functions_of(file: &str, source: &str) -> Vec<Function> {
    let tokens = tokens(without_tests(source));
    let mut functions = Vec::new();
    // Depth of braces inside each `impl` or `trait` around, and whether it is of a trait.
    let mut around: Vec<(usize, bool)> = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while at < tokens.len() {
        match tokens[at] {
            "fn" if tokens.get(at + 1).is_some_and(|name| is_name(name)) => {
                let (begin, end) = body(&tokens, at + 2);
                functions.push(Function {
                    file: file.to_owned(),
                    name: tokens[at + 1].to_owned(),
                    is_public: is_public(&tokens[..at]),
                    is_of_trait: around.last().is_some_and(|(_, is_of_trait)| *is_of_trait),
                    names: names(&tokens[begin..end]),
                });
                at = end;
                continue;
            }
            "impl" | "trait" if starts_item(&tokens[..at]) => {
                let open = next(&tokens, at, "{");
                let is_of_trait = tokens[at] == "trait" || tokens[at..open].contains(&"for");
                depth += 1;
                around.push((depth, is_of_trait));
                at = open;
            }
            "{" => depth += 1,
            "}" => {
                around.pop_if(|(inner, _)| *inner == depth);
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    functions
}

/// Whether `impl` or `trait` after these tokens starts an item, and is not within a type.
fn starts_item(before: &[&str]) -> bool {
    matches!(
        before.last(),
        None | Some(&("}" | "{" | ";" | "]" | "unsafe" | "pub"))
    ) || before.ends_with(&["pub", "(", "crate", ")"])
}

/// Whether a function after these tokens is public outside of its crate.
fn is_public(before: &[&str]) -> bool {
    let is_marker = |token: &&&str| !matches!(**token, "const" | "unsafe" | "async" | "extern");
    before.iter().rev().find(is_marker) == Some(&"pub")
}

/// The first and the last token of a body, which begins after `from`; empty without a body.
fn body(tokens: &[&str], from: usize) -> (usize, usize) {
    let mut depth = 0_usize;
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        match *token {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ";" if depth == 0 => return (at, at),
            "{" if depth == 0 => break,
            _ => {}
        }
        at += 1;
    }
    let begin = at.min(tokens.len());
    let mut braces = 0_usize;
    while let Some(token) = tokens.get(at) {
        match *token {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if braces == 0 {
            break;
        }
    }
    (begin, at)
}

fn next(tokens: &[&str], from: usize, wanted: &str) -> usize {
    let found = tokens[from..].iter().position(|token| *token == wanted);
    found.map_or(tokens.len(), |position| from + position)
}

fn names(tokens: &[&str]) -> BTreeSet<String> {
    let names = tokens.iter().filter(|token| is_name(token));
    names.map(|name| (*name).to_owned()).collect()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
}

/// Names and signs of a source, without comments, strings, characters and lifetimes.
fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' => quoted(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => raw(rest),
            '\'' => character(rest),
            sign if sign.is_alphabetic() || sign == '_' => {
                let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
                let length = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
                tokens.push(&rest[..length]);
                length
            }
            sign if sign.is_whitespace() => sign.len_utf8(),
            sign if sign.is_numeric() => {
                let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
                rest.find(|sign| !is_part(sign)).unwrap_or(rest.len())
            }
            sign => {
                tokens.push(&rest[..sign.len_utf8()]);
                sign.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

/// Length of a string at the start of `text`.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Length of a raw string at the start of `text`.
fn raw(text: &str) -> usize {
    let marks = text[1..].chars().take_while(|sign| *sign == '#').count();
    let end = format!("\"{}", "#".repeat(marks));
    let begin = marks + 2;
    text[begin..]
        .find(&end)
        .map_or(text.len(), |at| begin + at + end.len())
}

/// Length of a character, or of a lifetime, at the start of `text`.
fn character(text: &str) -> usize {
    let mut signs = text.char_indices().skip(1);
    let (first, second) = (signs.next(), signs.next());
    match (first, second) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            text[after..]
                .find('\'')
                .map_or(text.len(), |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    const SOURCE: &str = r##"
/// Calls `nobody()`.
pub fn plan(of: impl Into<u32>) -> [u32; 2] { let open = '{'; helper("dead", r#"}"#) }
fn helper<'a>(text: &'a str) { inner() } // dead()
pub(crate) fn inner() {}
pub const fn dead() { plan() }
impl<'a> Record<'a> {
    #[must_use]
    pub fn shown(&self) -> u32 { 1 }
}
impl core::fmt::Display for Record<'_> {
    fn fmt(&self) { self.of_display() }
}
impl Record<'_> {
    pub fn of_display(&self) {}
}
#[cfg(test)]
mod tests {
    pub fn tested() { super::dead() }
}
"##;

    #[test]
    fn functions_are_found_with_their_bodies() {
        let found = functions_of("file", SOURCE);
        let found: Vec<_> = found
            .iter()
            .map(|function| {
                (
                    function.name.as_str(),
                    function.is_public,
                    function.is_of_trait,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("plan", true, false),
                ("helper", false, false),
                ("inner", false, false),
                ("dead", true, false),
                ("shown", true, false),
                ("fmt", false, true),
                ("of_display", true, false),
            ]
        );
    }

    #[test]
    fn functions_without_users_or_a_page_are_named() {
        let functions = functions_of("file", SOURCE);
        let judged = |product: &[&str], others: &[&str], page: &str| {
            judge(&functions, [&set(product), &set(others)], page, &[])
        };
        assert_eq!(
            judged(&["plan"], &["shown"], "Firmware calls `Record::shown`."),
            ["file: `dead` has no user"]
        );
        assert_eq!(
            judged(
                &["plan", "dead"],
                &["shown"],
                "What is shown in words is not shown in code."
            ),
            [format!(
                "file: `shown` serves C or firmware alone, and {} does not show for what",
                PAGES[0]
            )]
        );
        assert_eq!(judged(&["dead", "shown"], &[], ""), [""; 0]);
        let excepted = |exceptions: &[(&str, &str)]| {
            let product = set(&["plan", "shown"]);
            judge(&functions, [&product, &set(&[])], "", exceptions)
        };
        assert_eq!(excepted(&[("dead", "reason")]), [""; 0]);
        assert_eq!(
            excepted(&[("dead", "reason"), ("gone", "reason")]),
            ["the exception `gone` is no function"]
        );
    }

    #[test]
    fn every_public_function_of_the_planner_has_a_user() {
        let findings = findings(&workspace::root()).unwrap();
        assert!(findings.is_empty(), "{findings:#?}");
    }
}
