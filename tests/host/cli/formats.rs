//! Graphs whose format neither content nor name shows.

use super::{Finished, finish, seawall};
use serde_json::{Value, json};

const TRIANGLE: &str = "3 3\n2 3\n1 3\n1 2\n";

fn components(arguments: &[&str], input: &[u8]) -> Finished {
    let run = [
        "run",
        "-",
        "--analysis",
        "cc",
        "--json",
        "--out",
        "/dev/null",
    ];
    finish(seawall(&run).args(arguments).write_stdin(input))
}

#[test]
fn metis_on_standard_input_is_asked_for_by_name() {
    let json = components(&["--format", "metis"], TRIANGLE.as_bytes()).json();
    assert_eq!((&json["nodes"], &json["edges"]), (&json!(3), &json!(6)));
    // The same text is an edge list of three edges and a loop.
    let json = components(&[], TRIANGLE.as_bytes()).json();
    assert_eq!(
        (&json["edges"], &json["self_loops"]),
        (&json!(4), &json!(1))
    );
    let path = components(&[], b"3 2\n2\n1 3\n2\n");
    path.refused(&["standard input:2", "--format metis"]);
}

#[test]
fn ecl_binaries_on_standard_input_are_known_by_their_first_row() {
    let words = [3_u32, 2, 0, 1, 2, 2, 1, 2];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let json = components(&[], &bytes).json();
    assert_eq!(
        (&json["nodes"], &json["components"]),
        (&json!(3), &json!(1))
    );
    let cut = components(&[], &bytes[..20]);
    cut.refused(&["standard input", "binary file of no known format"]);
}

#[test]
fn another_format_than_asked_for_is_refused() {
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    for (asked, text, parts) in [
        ("metis", matrix, ["asked for is METIS", "Matrix Market"]),
        ("dimacs", "p tw 2 1\n1 2\n", ["asked for is DIMACS", "PACE"]),
        ("swg", "0 1\n", ["not a valid .swg file", ""]),
        ("npz", "0 1\n", ["asked for is SciPy", "edge list"]),
        ("mtx", "0 1\n", ["wrong banner", ""]),
        ("egr", "0 1\n", ["not a valid .egr file", ""]),
    ] {
        let done = components(&["--format", asked], text.as_bytes());
        done.refused(&parts);
        let failure: Value = serde_json::from_str(&done.stdout).unwrap();
        assert!(failure["error"]["kind"].is_string());
    }
    let table = components(&["--format", "el"], b"1,2\n2,3\n").json();
    assert_eq!(table["edges"], 2);
    let drawn = ["run", "gen:grid:3", "--analysis", "cc", "--format", "el"];
    finish(&mut seawall(&drawn)).refused(&["gen:grid:3", "generated"]);
    components(&["--format", "docx"], b"").refused(&["possible values", "metis", "npz"]);
}

#[test]
fn a_name_that_lies_is_overruled() {
    let fixture = super::Fixture::new("triangle.txt", TRIANGLE.as_bytes());
    let out = fixture.beside("t.el");
    let convert = [
        "convert",
        fixture.path(),
        &out,
        "--format",
        "metis",
        "--json",
    ];
    let json = finish(&mut seawall(&convert)).json();
    assert_eq!(json["edges"], 6);
}
