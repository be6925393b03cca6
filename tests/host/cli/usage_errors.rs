//! Valid graphs with invalid arguments.

use super::{Fixture, finish, seawall};

fn run(arguments: &[&str]) -> super::Finished {
    finish(seawall(&["run", "gen:grid:8", "--backend", "cpu"]).args(arguments))
}

#[test]
fn a_search_without_a_source_names_the_option() {
    for analysis in ["bfs", "reach", "sssp"] {
        run(&["--analysis", analysis]).refused(&[analysis, "--source"]);
    }
}

#[test]
fn a_source_outside_the_graph_names_the_range() {
    run(&["--analysis", "bfs", "--source", "64"]).refused(&["--source 64", "from 0 to 63"]);
    run(&[
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--source",
        "18446744073709551615",
    ])
    .refused(&["--source 18446744073709551615", "from 0 to 63"]);
}

#[test]
fn sources_are_ids_of_the_file() {
    let file = Fixture::new("edges.txt", b"10 20\n20 40\n");
    let refused = finish(&mut seawall(&[
        "run",
        file.path(),
        "--analysis",
        "bfs",
        "--source",
        "30",
    ]));
    refused.refused(&["--source 30", "from 10 to 40, with gaps"]);
    let one_based = Fixture::new("a.gr", b"p tw 3 1\n1 2\n");
    let refused = finish(&mut seawall(&[
        "run",
        one_based.path(),
        "--analysis",
        "bfs",
        "--source",
        "0",
    ]));
    refused.refused(&["--source 0", "from 1 to 3"]);
}

#[test]
fn invalid_numbers_are_refused_with_the_expected_range() {
    for (option, value, expected) in [
        ("--source", "-1", "--source"),
        ("--budget", "lots", "8GiB"),
        ("--budget", "-1", "budget"),
        ("--repeat", "0", "from 1"),
        ("--threads", "0", "from 1"),
        ("--max-iterations", "0", "from 1"),
        ("--time-budget", "0", "above 0"),
        ("--time-budget", "nan", "above 0"),
        ("--damping", "1", "below 1"),
        ("--analysis", "frobnicate", "bfs"),
        ("--backend", "abacus", "mega"),
    ] {
        // A value that looks like an option needs the joined form.
        let joined = format!("{option}={value}");
        let refused = finish(&mut seawall(&["run", "gen:grid:8", &joined]));
        refused.refused(&[expected]);
    }
    for command in ["run", "serve"] {
        let refused = finish(&mut seawall(&[command, "gen:grid:8", "--threads=4097"]));
        refused.refused(&["from 1 to 4096"]);
    }
}

#[test]
fn a_budget_that_cannot_hold_the_graph_is_bad_input() {
    run(&["--analysis", "bfs", "--source", "0", "--budget", "1KiB"]).refused(&["budget", "1024"]);
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_run() {
    let folder = Fixture::new("taken", b"");
    let missing = folder.beside("no/such/folder/out");
    let below_a_file = folder.beside("taken/out");
    for base in [missing, below_a_file] {
        for (option, suffix) in [("--out", ".csv"), ("--trace", ".json"), ("--plot", ".svg")] {
            let path = format!("{base}{suffix}");
            run(&["--analysis", "bfs", "--source", "0", option, &path]).refused(&[
                &path,
                "cannot write",
                "os error",
            ]);
        }
    }
}

#[test]
fn an_unknown_suffix_is_refused_with_the_known_ones() {
    let folder = Fixture::new("x", b"");
    let table = folder.beside("out.parquet");
    run(&["--analysis", "bfs", "--source", "0", "--out", &table])
        .refused(&[&table, ".csv, .json or .npy"]);
    let picture = folder.beside("out.pdf");
    run(&["--analysis", "bfs", "--source", "0", "--plot", &picture]).refused(&[&picture, ".svg"]);
    let graph = folder.beside("out.docx");
    finish(&mut seawall(&["convert", "gen:grid:8", &graph])).refused(&[&graph, ".mtx"]);
}

#[test]
fn shortest_paths_need_weights() {
    let file = Fixture::new("edges.txt", b"0 1\n");
    let refused = finish(&mut seawall(&[
        "run",
        file.path(),
        "--analysis",
        "sssp",
        "--source",
        "0",
    ]));
    refused.refused(&[file.path(), "no weights"]);
}

#[test]
fn unknown_commands_and_options_are_bad_usage() {
    finish(&mut seawall(&["launch"])).refused(&["launch"]);
    finish(&mut seawall(&["plan"])).refused(&["<FILE>"]);
    finish(&mut seawall(&["plan", "a.json", "--format", "pdf"])).refused(&["text, json, dot, svg"]);
    finish(&mut seawall(&[
        "run",
        "gen:grid:8",
        "--analysis",
        "cc",
        "--fast",
    ]))
    .refused(&["--fast"]);
}

#[test]
fn programs_and_batches_never_stream() {
    let program = Fixture::new(
        "one.json",
        br#"{"version": 1, "registers": [{"name": "a", "kind": "u32", "count": "nodes", "keep": true}],
            "waves": [{"wave": "iota", "to": "a"}]}"#,
    );
    let program = ["--program", program.path()];
    let batch = ["gen:chain:5", "--analysis", "cc"];
    for option in [["--stream", "always"], ["--stream-keep", "always"]] {
        run(&[&program[..], &option[..]].concat()).refused(&[&option.join(" "), "--program"]);
        run(&[&batch[..], &option[..]].concat()).refused(&[&option.join(" "), "a batch"]);
    }
    for option in [["--stream", "never"], ["--stream-keep", "auto"]] {
        let ran = run(&[&program[..], &option[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

#[test]
fn options_of_another_question_are_refused() {
    let plan = Fixture::new("waves.json", br#"{"waves": [], "dependencies": []}"#);
    for (option, value) in [("--budget", "1"), ("--nodes", "5"), ("--edges", "5")] {
        finish(&mut seawall(&["plan", plan.path(), option, value])).refused(&[option]);
    }
    let load = [
        ["--clients", "2"],
        ["--op", "nop"],
        ["--seed", "5"],
        ["--plot", "p.svg"],
    ];
    let load = load
        .iter()
        .map(|option| &option[..])
        .chain([&["--json"][..]]);
    for option in load {
        for asked in [&["{}"][..], &["--metrics"]] {
            let arguments = [&["query", "--socket", "none.sock"], asked, option].concat();
            finish(&mut seawall(&arguments)).refused(&[option[0]]);
        }
    }
    run(&["--program", "p.json", "--rule", "ldbc"]).refused(&["--rule"]);
}

#[test]
fn options_of_other_analyses_are_refused() {
    for (option, value) in [("--damping", "0.5"), ("--tolerance", "0.5")] {
        run(&["--analysis", "cc", option, value]).refused(&["cc", option, "pagerank"]);
        let ranked = run(&["--analysis", "pagerank", option, value]);
        assert_eq!(ranked.code, 0, "{}", ranked.stderr);
    }
    run(&[
        "--analysis",
        "closeness",
        "--source",
        "0",
        "--scale-weights",
        "2",
    ])
    .refused(&["--scale-weights", "without --weighted"]);
    assert_eq!(run(&["--analysis", "CC"]).code, 0);
}

#[test]
fn a_gpu_is_not_chosen_for_threads() {
    let gpu = ["--device", "1"];
    let search = ["--analysis", "bfs", "--source", "0"];
    run(&[&search[..], &gpu[..]].concat()).refused(&["--device", "--backend mega"]);
    for command in ["analyze", "serve"] {
        let asked = [&[command, "none.flow"][..], &gpu[..]].concat();
        finish(&mut seawall(&asked)).refused(&["--device", "--backend mega"]);
    }
}

#[test]
fn a_remedy_is_another_format() {
    let file = Fixture::new("a.csv", b"source,target\n\" a\",b\n");
    for format in ["el", "csv"] {
        let arguments = ["convert", file.path(), "-", "--to", format];
        let refused = finish(&mut seawall(&arguments));
        refused.refused(&["start or end with a blank", ".swg"]);
        assert!(!refused.stderr.contains(&format!(".{format}")));
    }
}
