//! `seawall analyze`: what calls through a table reach, by type and by points-to; and pictures.

use super::pictures::assert_whole;
use super::{Finished, Fixture, finish, seawall};
use serde_json::Value;

/// Functions 0 and 1 are in the table, and the export `run` calls its entry 1.
const MODULE: &[u8] = b"\0asm\x01\0\0\0\
    \x01\x04\x01\x60\0\0\
    \x03\x04\x03\0\0\0\
    \x04\x04\x01\x70\0\x02\
    \x07\x07\x01\x03run\0\x02\
    \x09\x08\x01\0\x41\0\x0b\x02\0\x01\
    \x0a\x0f\x03\x02\0\x0b\x02\0\x0b\x07\0\x41\x01\x11\0\0\x0b";

fn findings(more: &[&str]) -> Vec<(String, String)> {
    let module = Fixture::new("module.wasm", MODULE);
    let done = finish(seawall(&["analyze", module.path(), "--json"]).args(more));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings
        .map(|finding| (text(&finding["kind"]), text(&finding["message"])))
        .collect()
}

#[test]
fn a_constant_chooses_the_function_that_is_called() {
    let found = findings(&["--analysis", "points-to"]);
    let [(kind, message)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(kind, "resolved-call");
    assert!(message.contains("function 1"), "{message}");
    assert!(!message.contains("function 0"), "{message}");
}

#[test]
fn points_to_is_a_question_for_the_grammar() {
    let module = Fixture::new("module.wasm", MODULE);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let emit = ["--analysis", "points-to", "-q", "--emit-grammar", path];
    let done = finish(seawall(&["analyze", module.path()]).args(emit));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (grammar, graph) = (file("points-to.cnf"), file("points-to.g"));
    let text = std::fs::read_to_string(&graph).unwrap();
    let chosen_by = text.strip_prefix("# ").unwrap().split(' ').next().unwrap();
    let done = finish(&mut seawall(&[
        "grammar", &grammar, &graph, "--to", chosen_by,
    ]));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let pairs: Vec<&str> = done
        .stdout
        .lines()
        .filter(|line| line.contains("->"))
        .collect();
    assert_eq!(pairs, [format!("  i1@0 -> {chosen_by}")]);
}

/// What `env.in` returns goes through function 2 and into `env.out`; then a constant does.
const LEAK: &[u8] = b"\0asm\x01\0\0\0\
    \x01\x11\x04\x60\0\x01\x7f\x60\x01\x7f\0\x60\x01\x7f\x01\x7f\x60\0\0\
    \x02\x14\x02\x03env\x02in\0\0\x03env\x03out\0\x01\
    \x03\x03\x02\x02\x03\
    \x07\x05\x01\x01f\0\x03\
    \x0a\x15\x02\x04\0\x20\0\x0b\
    \x0e\0\x10\0\x10\x02\x10\x01\x41\x01\x10\x02\x10\x01\x0b";

#[test]
fn taint_is_a_question_for_the_grammar() {
    let module = Fixture::new("module.wasm", LEAK);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let of_taint = ["--emit-grammar", path, "--grammar-of", "taint", "--json"];
    let refused = finish(seawall(&["analyze", module.path()]).args(of_taint));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--source"), "{}", refused.stderr);
    let ends = [
        "--source",
        "env.in",
        "--sink",
        "env.out",
        "--analysis",
        "taint",
    ];
    let done = finish(
        seawall(&["analyze", module.path()])
            .args(of_taint)
            .args(ends),
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (grammar, graph) = (file("taint.cnf"), file("taint.g"));
    assert_eq!(report["emitted"]["path"], graph);
    let done = finish(&mut seawall(&["grammar", &grammar, &graph, "--json"]));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let reached: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(reached["nodes"], report["emitted"]["nodes"]);
    assert_eq!(reached["edges"], report["emitted"]["edges"]);
    let pairs = reached["pairs"].as_array().unwrap();
    assert_eq!(
        (pairs.len(), report["findings"].as_array().unwrap().len()),
        (1, 1)
    );
    assert!(pairs[0].to_string().contains("\"source0\""), "{pairs:?}");
}

#[test]
fn calls_that_are_resolved_leave_functions_unreachable() {
    let by_type = findings(&["--analysis", "calls"]);
    assert!(by_type.is_empty(), "{by_type:?}");
    let resolved = findings(&["--analysis", "calls", "--resolve", "points-to"]);
    let kinds: Vec<&str> = resolved.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["unreachable-function"], "{resolved:?}");
}

/// A program whose export reaches an import with a name that is markup, past a function of its own
/// file that is three calls away from the export, and one that nothing calls.
const CALLS: &str = "seawall-flow 1
function main exported
block b
 call step
function step
block b
 call next
function next
block b
 call a<b&\"c
 call far
function far
block b
function a<b&\"c imported
function lonely
block b
";

/// Names of the boxes of a picture: the first lines of their text.
fn names(picture: &str) -> Vec<&str> {
    let texts = picture.split("<text class=\"name\"").skip(1);
    let mut names: Vec<&str> = texts
        .map(|text| {
            let start = text.find('>').unwrap() + 1;
            &text[start..text.find("</text>").unwrap()]
        })
        .collect();
    names.sort_unstable();
    names
}

/// Arrows of a class, by what they show on hover.
fn arrows<'a>(picture: &'a str, class: &str) -> Vec<&'a str> {
    let start = format!("<polyline class=\"{class}\"");
    let lines = picture.lines().filter(|line| line.starts_with(&start));
    let hint = |line: &'a str| {
        let from = line.find("<title>").unwrap() + "<title>".len();
        &line[from..line.find("</title>").unwrap()]
    };
    let mut found: Vec<&str> = lines.map(hint).filter(|hint| hint.contains('→')).collect();
    found.sort_unstable();
    found
}

/// Runs `--analysis calls` on a flow graph with pictures of calls, and more options.
fn draw_calls(flow: &Fixture, picture: &str, more: &[&str]) -> Finished {
    let ask = ["analyze", flow.path(), "--analysis", "calls"];
    finish(seawall(&ask).args(["--draw-calls", picture]).args(more))
}

#[test]
fn the_calls_around_a_finding_are_drawn_with_its_way() {
    let flow = Fixture::new("calls.flow", CALLS.as_bytes());
    let picture = flow.beside("calls.svg");
    let done = draw_calls(&flow, &picture, &["--reach", "a<b&\"c"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let drawn = flow.beside("calls-reaches-import-1.svg");
    assert!(
        done.stdout.contains(&format!("drawn in {drawn}")),
        "{}",
        done.stdout
    );
    let picture = std::fs::read_to_string(drawn).unwrap();
    assert_whole(&picture);
    let hostile = "text.a&lt;b&amp;&quot;c";
    assert_eq!(names(&picture), ["main", "next", "step", hostile]);
    let to_import = format!("next → {hostile}");
    assert_eq!(
        arrows(&picture, "way"),
        ["main → step", &to_import, "step → next"]
    );
    assert!(arrows(&picture, "edge").is_empty());
    for (text, times) in [
        ("class=\"ring\"", 5),
        (">export, step 1<", 1),
        (">import, step 4<", 1),
        (">+1 callee<", 1),
        ("calls.flow, ", 1),
    ] {
        assert_eq!(picture.matches(text).count(), times, "{text}\n{picture}");
    }
    // Of a function that nothing calls there is nothing but itself.
    let alone = flow.beside("calls-unreachable-function-1.svg");
    let alone = std::fs::read_to_string(alone).unwrap();
    assert_eq!(names(&alone), ["lonely"]);
    assert!(!alone.contains("class=\"ring\""));
}

#[test]
fn as_many_findings_are_drawn_as_the_report_shows() {
    let mut text = String::from("seawall-flow 1\nfunction main exported\nblock b\n");
    (0..20).for_each(|number| text.push_str(&format!("function alone{number}\nblock b\n")));
    let flow = Fixture::new("many.flow", text.as_bytes());
    let picture = flow.beside("c.png");
    let done = draw_calls(&flow, &picture, &["--limit", "3"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(done.stdout.matches("drawn in").count(), 3);
    let files = std::fs::read_dir(flow.folder.path()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut pictures: Vec<String> = names.filter(|name| name.ends_with("png")).collect();
    pictures.sort_unstable();
    let expected = [1, 2, 3].map(|number| format!("c-unreachable-function-{number}.png"));
    assert_eq!(pictures, expected);
}

const LOOP: &str = "seawall-flow 1
function count exported
parameters n
block entry -> head
 def i
block head -> body done
 use n
 use i
block body -> head
 use i
 def i
block done
 use i
";

fn blocks(analysis: &str) -> String {
    let flow = Fixture::new("loop.flow", LOOP.as_bytes());
    let picture = flow.beside("blocks.svg");
    let ask = [
        "analyze",
        flow.path(),
        "--function",
        "count",
        "--analysis",
        analysis,
    ];
    let done = finish(seawall(&ask).args(["--draw-blocks", &picture]));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(
        done.stdout.contains(&format!("wrote     {picture}")),
        "{}",
        done.stdout
    );
    let picture = std::fs::read_to_string(picture).unwrap();
    assert_whole(&picture);
    assert_eq!(
        names(&picture),
        ["block 0", "block 1", "block 2", "block 3"]
    );
    assert_eq!(arrows(&picture, "back"), ["block 2 → block 1"]);
    let forward = [
        "block 0 → block 1",
        "block 1 → block 2",
        "block 1 → block 3",
    ];
    assert_eq!(arrows(&picture, "edge"), forward);
    picture
}

#[test]
fn blocks_are_drawn_with_the_facts_of_the_analysis() {
    let cases: [(&str, [&str; 4]); 3] = [
        (
            "liveness",
            [
                "in: n; out: n, i",
                "in: n, i; out: n, i",
                "in: n, i; out: n, i",
                "in: i; out: nothing",
            ],
        ),
        (
            "reaching",
            [
                "in: i at entry, n at entry; out: i of block 0, n at entry",
                "in: i of block 0, i of block 2, n at entry; out: i of block 0, i of block 2, n at entry",
                "in: i of block 0, i of block 2, n at entry; out: i of block 2, n at entry",
                "in: i of block 0, i of block 2, n at entry; out: i of block 0, i of block 2, n at entry",
            ],
        ),
        (
            "loops",
            [
                "dominators: nothing; loop: nothing",
                "dominators: block 0; loop: block 1",
                "dominators: block 0, block 1; loop: block 1",
                "dominators: block 0, block 1; loop: nothing",
            ],
        ),
    ];
    for (analysis, facts) in cases {
        let picture = blocks(analysis);
        for ((block, line), facts) in [4, 6, 9, 12].iter().enumerate().zip(facts) {
            let hint = format!("<title>block {block}, line {line}; ");
            let start = picture
                .find(&hint)
                .unwrap_or_else(|| panic!("{hint}: {picture}"))
                + hint.len();
            let found = &picture[start..start + picture[start..].find("</title>").unwrap()];
            let sorted = |text: &str| {
                let lists = text.split("; ").map(|list| {
                    let (name, facts) = list.split_once(": ").unwrap();
                    let mut facts: Vec<&str> = facts.split(", ").collect();
                    facts.sort_unstable();
                    format!("{name}: {}", facts.join(", "))
                });
                lists.collect::<Vec<_>>()
            };
            assert_eq!(sorted(found), sorted(facts), "{analysis} of block {block}");
        }
    }
}

#[test]
fn pictures_that_cannot_be_drawn_are_refused_with_the_reason() {
    let mut text = String::from("seawall-flow 1\nfunction long exported\n");
    (0..600).for_each(|block| text.push_str(&format!("block {block} -> {}\n", block + 1)));
    text.push_str("block 600\nfunction outside imported\nfunction twice\nblock b\n");
    let flow = Fixture::new("long.flow", text.as_bytes());
    let picture = flow.beside("blocks.svg");
    let draw = |more: &[&str]| {
        let ask = ["analyze", flow.path(), "--draw-blocks", &picture];
        finish(seawall(&ask).args(more))
    };
    draw(&["--function", "long"]).refused(&["--draw-blocks", "601 blocks", "at most 512"]);
    draw(&["--function", "outside"]).refused(&["outside", "imported"]);
    draw(&["--function", "ling"]).refused(&["ling", "did you mean \"long\""]);
    draw(&["--function", "99"]).refused(&["99", "no file has a function"]);
    draw(&["--function", "long", "--analysis", "calls"]).refused(&["calls", "liveness"]);
    draw(&[]).refused(&["--function"]);
    let with = |more: &[&str]| finish(seawall(&["analyze", flow.path()]).args(more));
    with(&["--draw-calls", "calls.jpg"]).refused(&["--draw-calls", ".svg or .png"]);
    with(&["--draw-calls", "-"]).refused(&["--draw-calls", ".svg or .png"]);
    let silent = with(&["--analysis", "loops", "--draw-calls", &picture]);
    assert_eq!(silent.code, 0);
    assert!(silent.stderr.contains("--draw-calls"), "{}", silent.stderr);
    let missing = flow.beside("missing/calls.svg");
    assert_ne!(with(&["--draw-calls", &missing]).code, 0);
    assert!(!std::path::Path::new(&picture).exists());
}

#[test]
fn pictures_overwrite_no_input_and_no_other_picture() {
    let flow = Fixture::new("calls-unreachable-function-1.svg", CALLS.as_bytes());
    let calls = flow.beside("calls.svg");
    draw_calls(&flow, &calls, &[]).refused(&["calls-unreachable-function-1.svg", "read from"]);
    assert_eq!(std::fs::read_to_string(flow.path()).unwrap(), CALLS);
    let flow = Fixture::new("calls.flow", CALLS.as_bytes());
    let [calls, same] = ["c.svg", "c-unreachable-function-1.svg"].map(|name| flow.beside(name));
    std::fs::write(&same, "old").unwrap();
    draw_calls(&flow, &calls, &["--sarif", &same]).refused(&["one file"]);
}

const SENDS: &str = "seawall-flow 1
function main exported
block b
 def x
 call send
function send imported
";

#[test]
fn what_is_asked_twice_is_answered_once() {
    let flow = Fixture::new("sends.flow", SENDS.as_bytes());
    let found = |more: &[&str]| {
        let done = finish(seawall(&["analyze", flow.path(), "--json"]).args(more));
        assert_eq!((done.code, done.stderr.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        ["analyses", "findings"].map(|field| report[field].as_array().unwrap().len())
    };
    let liveness = ["--analysis", "liveness"];
    assert_eq!(found(&liveness), [1, 1]);
    assert_eq!(found(&[liveness, liveness].concat()), [1, 1]);
    let reach = ["--analysis", "calls", "--reach", "send"];
    assert_eq!(found(&reach), [1, 1]);
    let again = ["--reach", "text.send", "--reach", "send"];
    assert_eq!(found(&[reach.as_slice(), &again].concat()), [1, 1]);
}

#[test]
fn a_finding_that_nothing_seeks_cannot_fail() {
    let flow = Fixture::new("sends.flow", SENDS.as_bytes());
    let fail_on = |kind: &str, more: &[&str]| {
        finish(seawall(&["analyze", flow.path(), "-q", "--fail-on", kind]).args(more))
    };
    for (kind, remedy) in [
        ("reaches-import", "--reach"),
        ("resolved-call", "--analysis points-to"),
        ("redundant-expression", "--analysis available"),
        ("taint", "--source and --sink"),
    ] {
        fail_on(kind, &[]).refused(&["--fail-on", kind, remedy]);
    }
    let calls = ["--analysis", "calls"];
    for (kind, remedy) in [
        ("dead-store", "--analysis liveness"),
        ("uninitialised-read", "--analysis initialised"),
    ] {
        assert_ne!(fail_on(kind, &[]).code, 2, "{kind}");
        fail_on(kind, &calls).refused(&["--fail-on", kind, remedy]);
    }
    fail_on("unreachable-function", &["--analysis", "liveness"]).refused(&["--analysis calls"]);
    assert_eq!(fail_on("dead-store", &[]).code, 1);
    let both = ["--analysis", "calls,liveness"];
    let either = "unreachable-function,dead-store";
    assert_eq!(fail_on(either, &both).code, 1);
    fail_on(either, &calls).refused(&["dead-store", "--analysis liveness"]);
    assert_eq!(fail_on("reaches-import", &["--reach", "send"]).code, 1);
    assert_eq!(fail_on("unreachable-function", &calls).code, 0);
    assert_eq!(
        fail_on("taint", &["--source", "send:memory", "--sink", "send"]).code,
        0
    );
}

#[test]
fn names_of_a_file_cannot_write_to_the_terminal() {
    let text = SENDS
        .replace("main", "ma\u{1b}[31min")
        .replace("send", "se\u{7}nd");
    let flow = Fixture::new("sends.flow", text.as_bytes());
    let done = finish(&mut seawall(&[
        "analyze",
        flow.path(),
        "--reach",
        "se\u{7}nd",
    ]));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines.contains(&"    2 in ma\u{fffd}[31min: begins"),
        "{lines:?}"
    );
    assert!(!done.stdout.contains(['\u{1b}', '\u{7}']), "{lines:?}");
    // Names of two lines would add lines.
    let name = "\x05f\nx:y";
    let module = format!(
        "\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\
         \x07\x09\x01{name}\0\0\x0a\x0a\x01\x08\x01\x01\x7f\x41\0\x21\0\x0b"
    );
    let module = Fixture::new("two.wasm", module.as_bytes());
    let ask = ["analyze", module.path(), "--analysis", "liveness"];
    let done = finish(&mut seawall(&ask));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(
        done.stdout.contains(" in f\u{fffd}x:y: nothing"),
        "{}",
        done.stdout
    );
}
