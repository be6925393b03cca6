//! `seawall grammar`: the guide's examples, selections, exit codes and errors.

use super::{Finished, Fixture, finish, seawall};
use serde_json::json;

/// Runs in the folder of ready-made grammars.
fn run(line: &str) -> Finished {
    let words: Vec<&str> = ["grammar"]
        .into_iter()
        .chain(line.split_whitespace())
        .collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/grammars");
    finish(seawall(&words).current_dir(folder))
}

/// Runs with a grammar or a graph of this content.
fn refused(name: &str, content: &str, parts: &[&str]) {
    let file = Fixture::new(name, content.as_bytes());
    let line = match name {
        "bad.cnf" => format!("{} dyck.g --json", file.path()),
        _ => format!("dyck.cnf {} --json", file.path()),
    };
    run(&line).refused(parts);
}

/// The guide's listings have what they find; `book` runs those.
#[test]
fn the_guide_shows_the_ready_made_grammars() {
    let guide = include_str!("../../../docs/program-analysis.md");
    for shown in [
        include_str!("../../../examples/grammars/dyck.cnf"),
        include_str!("../../../examples/grammars/dyck.g"),
        include_str!("../../../examples/grammars/alias.cnf"),
        include_str!("../../../examples/grammars/alias.g"),
    ] {
        assert!(guide.contains(&format!("```text\n{shown}```")), "{shown}");
    }
}

#[test]
fn pairs_of_nodes_are_selected_and_fail_on_asks_for_one() {
    let early = run("dyck.cnf dyck.g --from start --to early --fail-on balanced");
    assert_eq!(early.code, 0, "{}", early.stderr);
    assert!(
        early.stdout.contains("balanced: 0 pairs"),
        "{}",
        early.stdout
    );
    let exit = run("dyck.cnf dyck.g --from start --to exit --fail-on balanced --quiet");
    assert_eq!((exit.code, exit.stdout.as_str()), (1, ""));
    let limited = run("dyck.cnf dyck.g --limit 1 --explain");
    assert!(
        limited.stdout.ends_with("\n  and 2 more (--limit)\n"),
        "{}",
        limited.stdout
    );
    assert!(limited.stdout.contains(" rounds, "), "{}", limited.stdout);
}

#[test]
fn scripts_get_counts_and_all_pairs() {
    let found = run("alias.cnf alias.g --limit 0 --threads 1 --json").json();
    let pairs = json!([
        ["box#1", "box"],
        ["box#1", "same"],
        ["item#2", "item"],
        ["item#2", "got"],
        ["key#6", "key"]
    ]);
    assert_eq!(found["pairs"], pairs);
    assert_eq!(
        found["symbols"][0],
        json!({"symbol": "flowsTo", "pairs": 5})
    );
    assert_eq!(
        (&found["nodes"], &found["other_edges"]),
        (&json!(8), &json!(0))
    );
    assert!(found["rounds"].as_u64().unwrap() > 1);
}

#[test]
fn wrong_grammars_graphs_and_names_are_refused_with_their_place() {
    refused(
        "bad.cnf",
        "S a\nS a b c\n",
        &["bad.cnf:2: ", "`c` is a third"],
    );
    refused(
        "bad.g",
        "a b open\na b\n",
        &["bad.g:2: ", "`a b` is no edge"],
    );
    run("dyck.cnf no.g").refused(&["no.g: "]);
    run("dyck.cnf dyck.g --symbol paren").refused(&["symbol paren: ", "balanced, step"]);
    run("dyck.cnf dyck.g --to nowhere").refused(&["node nowhere: "]);
    let small = run("dyck.cnf dyck.g --budget 100 --json");
    assert_eq!(small.code, 2);
    small.reports_only_failure();
    small.complains(&["100 are allowed (--budget)"]);
}
