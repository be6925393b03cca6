//! Listings in Rust of the README and the guide: they compile, and the guide's runs.

use std::error::Error;

/// Makes a function of a listing, and its text without spaces.
macro_rules! listed {
    ($name:ident, $text:ident: $($code:tt)*) => {
        fn $name() -> Result<(), Box<dyn Error>> {
            $($code)*
            Ok(())
        }

        const $text: &str = stringify!($($code)*);
    };
}

listed! { of_readme, README:
    let loaded = seawall::graph::load("calls.csv", &Default::default(), None)?;
    let ranks = seawall::pagerank(&loaded.graph)?;
    println!("{ranks:?}");
}

listed! { of_guide, GUIDE:
    use seawall::graph::{self, LoadOptions};
    use seawall::run::{self, AnalysisKind, RunRequest};

    let loaded = graph::load("gen:grid:64", &LoadOptions::default(), None)?;
    let request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
    let outcome = run::execute(&loaded.graph, &request)?;
    println!("{} nodes reached on {}", outcome.reached, outcome.device);
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The first listing in Rust of a page.
fn listing(page: &str) -> &str {
    let (_, rest) = page.split_once("```rust\n").expect("a listing");
    rest.split_once("```").expect("its end").0
}

#[test]
fn pages_have_what_compiles() {
    let readme = include_str!("../../README.md");
    assert_eq!(without_spaces(listing(readme)), without_spaces(README));
    let guide = include_str!("../../docs/rust.md");
    assert_eq!(without_spaces(listing(guide)), without_spaces(GUIDE));
}

#[test]
fn the_guide_runs_and_a_missing_file_is_an_error() {
    of_guide().unwrap();
    let missing = of_readme().unwrap_err();
    assert!(missing.to_string().contains("calls.csv"), "{missing}");
}
