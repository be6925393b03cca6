//! Results of programs in files.

use super::{finish, seawall};
use serde_json::{Value, json};
use std::path::Path;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs");

/// Three squares, a sum of two words, and halves.
const SQUARES: &str = r#"{"version": 1, "registers": [
    {"name": "squares", "kind": "u32", "count": "nodes", "keep": true},
    {"name": "halves, of", "kind": "f32", "count": "nodes", "keep": true},
    {"name": "below", "kind": "i32", "count": "nodes", "keep": true},
    {"name": "long", "kind": "u64", "count": "nodes", "keep": true}
], "waves": [{"wave": "each", "over": "nodes", "code": [
    {"store": "squares", "value": ["mul", ["index"], ["index"]]},
    {"store": "halves, of", "value": ["div", ["to_f32", ["index"]], ["sub", ["f32", 2], ["to_f32", ["mul", 2, ["is_zero", ["index"]]]]]]},
    {"store": "below", "value": ["sub", ["i32", 0], ["to_i32", ["index"]]]},
    {"store": "long", "value": ["below_high", 5, ["index"]]}
]}]}"#;

fn run(folder: &Path, program: &str, out: &str) -> (super::Finished, Vec<u8>) {
    run_with(folder, program, out, &[])
}

fn run_with(folder: &Path, program: &str, out: &str, more: &[&str]) -> (super::Finished, Vec<u8>) {
    let [program_file, out] = ["program.json", out].map(|name| folder.join(name));
    std::fs::write(&program_file, program).unwrap();
    let [program_file, out_file] = [&program_file, &out].map(|path| path.to_str().unwrap());
    let arguments = [
        "run",
        "gen:chain:3",
        "--program",
        program_file,
        "--out",
        out_file,
        "-q",
    ];
    let finished = finish(seawall(&arguments).args(more));
    (finished, std::fs::read(&out).unwrap_or_default())
}

#[test]
fn results_of_a_program_are_columns_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (done, csv) = run(folder.path(), SQUARES, "x.csv");
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (0, ""),
        "{}",
        done.stderr
    );
    let expected = "index,squares,\"halves, of\",below,long\n\
        0,0,,0,5\n1,1,0.5,-1,4294967301\n2,4,1.0,-2,8589934597\n";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
    let (_, rows) = run(folder.path(), SQUARES, "x.json");
    let rows: Value = serde_json::from_slice(&rows).unwrap();
    let first = json!({"index": 0, "squares": 0, "halves, of": null, "below": 0, "long": 5});
    assert_eq!(rows[0], first);
    assert_eq!(rows[2]["below"], -2);
    assert_eq!(rows.as_array().unwrap().len(), 3);
    let (_, bytes) = run(folder.path(), SQUARES, "x.npy");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..10 + length]);
    let fields = "[('index', '<u8'), ('squares', '<u4'), ('halves, of', '<f4'), \
        ('below', '<i4'), ('long', '<u8'), ]";
    assert!(header.contains(fields), "{header}");
    assert!(header.contains("'shape': (3,)"), "{header}");
    assert_eq!(bytes.len(), 10 + length + 3 * 28);
    let last = &bytes[bytes.len() - 28..];
    let parts = [
        &last[..8],
        &last[8..12],
        &last[12..16],
        &last[16..20],
        &last[20..],
    ];
    let words = [
        &2_u64.to_le_bytes()[..],
        &4_u32.to_le_bytes(),
        &1.0_f32.to_le_bytes(),
        &(-2_i32).to_le_bytes(),
        &(5 | 2_u64 << 32).to_le_bytes(),
    ];
    assert_eq!(parts, words);
}

#[test]
fn columns_of_a_program_are_as_requested_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let chosen = |out: &str, names: &str| {
        let (done, bytes) = run_with(folder.path(), SQUARES, out, &["--columns", names]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        bytes
    };
    let text = |out: &str, names: &str| String::from_utf8(chosen(out, names)).unwrap();
    let table = text("x.csv", "long,index,below");
    assert_eq!(
        table,
        "long,index,below\n5,0,0\n4294967301,1,-1\n8589934597,2,-2\n"
    );
    assert_eq!(text("x.csv", "index"), "index\n0\n1\n2\n");
    let rows: Value = serde_json::from_str(&text("x.json", "squares")).unwrap();
    assert_eq!(rows, json!([0, 1, 4]));
    let rows: Value = serde_json::from_str(&text("x.json", "below,squares")).unwrap();
    assert_eq!(rows[1], json!({"below": -1, "squares": 1}));
    let bytes = chosen("x.npy", "squares");
    let header = String::from_utf8_lossy(&bytes[10..]);
    assert!(header.contains("'descr': '<u4'"), "{header}");
    let words = [0_u32, 1, 4].map(u32::to_le_bytes).concat();
    assert!(bytes.ends_with(&words));
    let refused = |names: &str, parts: &[&str]| {
        let more = ["--columns", names];
        run_with(folder.path(), SQUARES, "x.csv", &more)
            .0
            .refused(parts);
    };
    refused("nodes", &["nodes", "index, node, name, squares"]);
    refused("squares,squares", &["squares", "twice"]);
    // Results of other lengths do not matter if they are not requested.
    let lists = std::fs::read_to_string(format!("{PROGRAMS}/lists.json")).unwrap();
    let more = ["--columns", "levels"];
    let (done, bytes) = run_with(folder.path(), &lists, "x.npy", &more);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!bytes.is_empty());
}

#[test]
fn shorter_results_end_early_but_not_in_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let lists = std::fs::read_to_string(format!("{PROGRAMS}/lists.json")).unwrap();
    let (done, csv) = run(folder.path(), &lists, "x.csv");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "index,reached,levels,nearest,farthest,listed,by level,of rows"
    );
    assert_eq!(lines.len(), 9, "{csv}");
    assert!(lines[8].starts_with("7,,,,,,"), "{csv}");
    let (done, bytes) = run(folder.path(), &lists, "x.npy");
    done.refused(&["whole rows", "\"reached\"", "\"levels\""]);
    assert!(bytes.is_empty());
    let names = [("squares", "index", "x.csv"), ("squares", "it's", "x.npy")];
    for (from, to, out) in names {
        let text = SQUARES.replace(&format!("\"{from}\""), &format!("\"{to}\""));
        run(folder.path(), &text, out).0.refused(&[to, "column"]);
    }
    let none = SQUARES.replace(", \"keep\": true", "");
    run(folder.path(), &none, "x.csv")
        .0
        .refused(&["keeps none"]);
    run(folder.path(), SQUARES, "x.parquet")
        .0
        .refused(&["x.parquet"]);
    let (done, program) = run(folder.path(), SQUARES, "program.json");
    assert_eq!(done.code, 2);
    assert_eq!(program, SQUARES.as_bytes(), "the program stays");
}

#[test]
fn rows_of_nodes_may_have_their_ids_and_names() {
    let tenths = r#"{"version": 1, "registers": [
        {"name": "tenth", "kind": "f32", "count": "nodes", "keep": true}
    ], "waves": [{"wave": "fill", "to": "tenth", "value": 0.1}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let written = |file: &str, graph: &str, out: &str, more: &[&str]| {
        let paths = [file, "tenths.json", out].map(|name| folder.path().join(name));
        let [graph_file, program, out] = paths.each_ref().map(|path| path.to_str().unwrap());
        std::fs::write(graph_file, graph).unwrap();
        std::fs::write(program, tenths).unwrap();
        let arguments = ["run", graph_file, "--program", program, "--out", out, "-q"];
        let done = finish(seawall(&arguments).args(more));
        assert_eq!(done.code, 0, "{}", done.stderr);
        std::fs::read(out).unwrap()
    };
    let text = |file, graph, out, more: &[&str]| {
        String::from_utf8(written(file, graph, out, more)).unwrap()
    };
    let (named, numbered) = ("source,target\nbob,alice\n", "7 900\n");
    assert_eq!(
        text("named.csv", named, "x.csv", &[]),
        "index,tenth\n0,0.1\n1,0.1\n"
    );
    assert_eq!(
        text(
            "numbered.el",
            numbered,
            "x.csv",
            &["--columns", "node,tenth"]
        ),
        "node,tenth\n7,0.1\n900,0.1\n"
    );
    assert_eq!(
        text("named.csv", named, "x.json", &["--columns", "name,tenth"]),
        "[\n{\"name\":\"alice\",\"tenth\":0.1},\n{\"name\":\"bob\",\"tenth\":0.1}\n]\n"
    );
    assert_eq!(
        text(
            "numbered.el",
            numbered,
            "x.csv",
            &["--columns", "name,node"]
        ),
        "name,node\n7,7\n900,900\n"
    );
    let array = written("numbered.el", numbered, "x.npy", &["--columns", "node"]);
    assert!(array.ends_with(&[7_u64, 900].map(u64::to_le_bytes).concat()));
}

#[test]
fn inputs_of_a_program_are_set_by_name() {
    let program = format!("{PROGRAMS}/distances.json");
    let run = |more: &[&str]| {
        let arguments = ["run", "gen:grid:3", "--program", &program, "--json"];
        finish(seawall(&arguments).args(more))
    };
    let distances = |more: &[&str]| run(more).json()["results"][0]["values"].clone();
    let from_8 = distances(&["--input", "sources=[8]"]);
    assert_eq!(distances(&["--input", "sources=8"]), from_8);
    assert_eq!((&from_8[8], &distances(&[])[0]), (&json!(0), &json!(0)));
    assert_eq!(from_8[0], distances(&[])[8]);
    assert_ne!(from_8[0], 0);
    let refused: [(&[&str], &[&str]); 6] = [
        (
            &["sources=[1,2]"],
            &["--input sources", "2 values", "takes 1"],
        ),
        (&["source=1"], &["no input is called \"source\"", "sources"]),
        (&["sources"], &["--input sources: write NAME=VALUES"]),
        (&["sources=x"], &["--input sources=x", "no JSON list"]),
        (
            &["sources=[-1]"],
            &["sources[0]", "whole number below 2^32"],
        ),
        (&["sources=1", "sources=2"], &["sources has values already"]),
    ];
    for (inputs, parts) in refused {
        let more: Vec<&str> = inputs
            .iter()
            .flat_map(|input| ["--input", *input])
            .collect();
        run(&more).refused(parts);
    }
}
