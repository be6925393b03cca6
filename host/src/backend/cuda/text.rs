//! The text of one kernel, out of that of all.

use super::entry::Entry;
use seawall_core::abi::compiled::LINKED_NAME;
use std::collections::{BTreeMap, BTreeSet};

/// The first words of functions.
const STARTS: [&str; 3] = [".visible .entry ", ".func ", ".visible .func "];

/// The first word of a function that other texts may call.
const VISIBLE: &str = ".visible ";

/// The end of a function.
const END: &str = "\n}\n";

/// Returns the part of `text` that a kernel needs, zero-terminated: its own, and that of functions
/// which it calls, so that the driver neither reads nor compiles others.
pub(super) fn only(text: &str, entry: Entry) -> String {
    part(text, &[entry], None)
}

/// [`only`] of kernels that run linked code, with `code` in the place of its function.
pub(super) fn linked(text: &str, entries: &[Entry], code: &str) -> String {
    part(text, entries, Some(code))
}

fn part(text: &str, entries: &[Entry], code: Option<&str>) -> String {
    let pieces = pieces(text);
    let defined: BTreeMap<&str, &str> = pieces
        .iter()
        .filter(|piece| piece.is_defined)
        .filter_map(|piece| Some((piece.name?, piece.text)))
        .collect();
    let mut needed = BTreeSet::new();
    let names = entries
        .iter()
        .filter_map(|entry| entry.name().to_str().ok());
    let mut open: Vec<&str> = names.collect();
    while let Some(name) = open.pop() {
        if let Some(body) = defined.get(name)
            && needed.insert(name)
        {
            open.extend(calls(body));
        }
    }
    // A function that is declared and not defined would have to come from the driver.
    let is_left_out = |name| defined.contains_key(name) && !needed.contains(name);
    let mut kept = String::new();
    for piece in &pieces {
        match (piece.name, code) {
            (Some(LINKED_NAME), Some(code)) if piece.is_defined => kept.push_str(code),
            // The driver's compiler fits registers of functions to the kernels that call them, unless
            // other texts may call them too.
            (Some(LINKED_NAME), Some(_)) => {
                kept.push_str(piece.text.trim_start_matches(VISIBLE));
            }
            (Some(name), _) if is_left_out(name) => {}
            _ => kept.push_str(piece.text),
        }
    }
    if !kept.ends_with('\0') {
        kept.push('\0');
    }
    kept
}

/// A function or a declaration of one, or what stands between.
struct Piece<'t> {
    text: &'t str,
    name: Option<&'t str>,
    is_defined: bool,
}

/// The pieces of a text, in order.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if at >= from
            && STARTS.iter().any(|start| line.starts_with(start))
            && let Some((name, is_defined)) = named(&text[at..])
        {
            let end = if is_defined { END } else { "\n;\n" };
            let end = text[at..]
                .find(end)
                .map_or(text.len(), |found| at + found + end.len());
            pieces.push(Piece {
                text: &text[from..at],
                name: None,
                is_defined: false,
            });
            pieces.push(Piece {
                text: &text[at..end],
                name: Some(name),
                is_defined,
            });
            from = end;
        }
        at += line.len();
    }
    pieces.push(Piece {
        text: &text[from..],
        name: None,
        is_defined: false,
    });
    pieces
}

/// The name of the function that begins a text, and whether it is defined there.
fn named(text: &str) -> Option<(&str, bool)> {
    let (head, rest) = text.split_at(text.find(['{', ';'])?);
    // A result stands in parentheses before the name.
    let names = head.trim_start_matches(VISIBLE);
    let names = names
        .strip_prefix(".entry ")
        .or_else(|| names.strip_prefix(".func "))?
        .trim_start();
    let names = match names.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => names,
    };
    let name = names.split(|letter: char| letter == '(' || letter.is_whitespace());
    Some((name.into_iter().next()?, rest.starts_with('{')))
}

/// The functions that a function calls.
fn calls(body: &str) -> impl Iterator<Item = &str> {
    let calls = body.match_indices("call.uni ");
    calls.filter_map(|(at, call)| {
        let called = &body[at + call.len()..];
        let called = match called.strip_prefix('(') {
            Some(result) => result.split_once("), ")?.1,
            None => called,
        };
        called.split([',', ';']).next().map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::EMBEDDED;

    #[test]
    fn a_kernel_comes_with_the_functions_that_it_calls_and_no_others() {
        for text in EMBEDDED.map(|embedded| embedded.text()) {
            for entry in Entry::ALL {
                let name = entry.name().to_string_lossy();
                let alone = only(text, entry);
                assert!(alone.ends_with('\0') && alone.len() < text.len());
                assert!(alone.contains(&format!(".entry {name}(")), "{entry:?}");
                assert_eq!(alone.matches(".entry ").count(), 1, "{entry:?}");
                let pieces = pieces(&alone);
                let defined: Vec<&str> = pieces
                    .iter()
                    .filter(|piece| piece.is_defined)
                    .filter_map(|piece| piece.name)
                    .collect();
                let of_driver = "cudaGraphSetConditional";
                for name in pieces.iter().filter_map(|piece| piece.name) {
                    assert!(
                        defined.contains(&name),
                        "{entry:?}: {name} is only declared"
                    );
                }
                for called in pieces.iter().flat_map(|piece| calls(piece.text)) {
                    let is_there = called == of_driver || defined.contains(&called);
                    assert!(is_there, "{entry:?}: {called}");
                }
            }
        }
    }

    #[test]
    fn code_takes_the_place_of_its_function() {
        let code = format!(".func {LINKED_NAME}(.param .b64 p0)\n{{\n\tret;\n}}\n");
        for text in EMBEDDED.map(|embedded| embedded.text()) {
            let launches = [Entry::GroupLinked, Entry::BodyLinked];
            let alone = [Entry::MegaLinked, Entry::BatchLinked, Entry::ServeLinked];
            for entries in alone.chunks(1).chain([&launches as &[_]]) {
                let with = linked(text, entries, &code);
                assert_eq!(with.matches(".entry ").count(), entries.len());
                assert_eq!(with.matches(&code).count(), 1);
                assert_eq!(with.matches(&format!(".func {LINKED_NAME}(")).count(), 1);
                assert!(!with.contains("trap; //"));
                assert!(!with.contains(&format!("{VISIBLE}.func {LINKED_NAME}")));
            }
        }
    }
}
