//! Graphs whose nodes have names, columns that the caller chooses, and tables on standard output.

use super::{Fixture, finish, seawall};
use serde_json::{Value, json};

const FRIENDS: &[u8] = b"source,target,weight\nann,bob,2\nbob,\"d, e\",3\ncid,ann,1\n";

#[test]
fn nodes_are_their_names_in_tables_and_reports() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    let search = [
        "run",
        friends.path(),
        "--analysis",
        "bfs",
        "--source",
        "ann",
    ];
    let table = finish(seawall(&search).args(["--parents", "--out", "-"]));
    assert_eq!(table.code, 0, "{}", table.stderr);
    assert_eq!(
        table.stdout,
        "node,name,value,parent\n0,ann,0,ann\n1,bob,1,ann\n2,cid,,\n3,\"d, e\",2,bob\n"
    );
    let table = finish(seawall(&search).args(["--out", "-", "--out-format", "json"]));
    let rows: Value = serde_json::from_str(&table.stdout).unwrap();
    assert_eq!(rows[3], json!({"node": 3, "name": "d, e", "value": 2}));
    let report = finish(seawall(&search).arg("--json")).json();
    assert_eq!(
        (&report["sources"], &report["source_names"]),
        (&json!([0]), &json!(["ann"]))
    );
    let text = finish(&mut seawall(&search)).stdout;
    assert!(text.contains("node ann"), "{text}");
    let ranks = ["run", friends.path(), "--analysis", "pagerank"];
    let text = finish(&mut seawall(&ranks)).stdout;
    assert!(text.contains("of node d, e"), "{text}");
    let unknown = ["run", friends.path(), "--analysis", "bfs", "--source", "0"];
    finish(&mut seawall(&unknown)).refused(&["--source 0", "names, from \"ann\" to \"d, e\""]);
    let out = friends.beside("rows.npy");
    let done = finish(seawall(&search).args(["-q", "--out", &out]));
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn graphs_without_names_have_no_column_of_them() {
    let run = [
        "run",
        "gen:chain:3",
        "--analysis",
        "bfs",
        "--source",
        "0",
        "--out",
        "-",
    ];
    let table = finish(&mut seawall(&run)).stdout;
    assert!(table.starts_with("node,value\n0,0\n"), "{table}");
    let asked = finish(seawall(&run).args(["--columns", "name,value"])).stdout;
    assert!(asked.starts_with("name,value\n0,0\n"), "{asked}");
    finish(seawall(&run).args(["--out-format", "docx"])).refused(&["csv", "json", "npy"]);
}

#[test]
fn columns_are_chosen_for_every_command_that_reads() {
    let table = Fixture::new("calls.csv", b"to,x,minutes\nbob,ann,7\ncid,bob,2\n");
    let out = table.beside("calls.el");
    let plain = finish(&mut seawall(&["convert", table.path(), &out]));
    plain.refused(&["calls.csv:1:", "--source-column", "--target-column"]);
    assert!(!std::path::Path::new(&out).exists());
    let chosen = [
        "--source-column",
        "x",
        "--target-column",
        "1",
        "--weight-column",
        "minutes",
    ];
    let done = finish(seawall(&["convert", table.path(), &out]).args(chosen));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.ends_with("ann\tbob\t7\nbob\tcid\t2\n"), "{text}");
    let run = [
        "run",
        table.path(),
        "--analysis",
        "sssp",
        "--source",
        "ann",
        "--json",
    ];
    let report = finish(seawall(&run).args(chosen)).json();
    assert_eq!(report["eccentricity"], 9);
    finish(seawall(&run).args(["--source-column", "0"])).refused(&["counted from 1"]);
}

#[test]
fn conversions_keep_nodes_or_refuse_before_writing() {
    let matrix = b"%%MatrixMarket matrix coordinate integer general\n6 6 2\n2 3 4\n3 4 5\n";
    let file = Fixture::new("isolated.mtx", matrix);
    for name in ["g.csv", "g.el", "g.swg", "g.npz", "g.gr"] {
        let out = file.beside(name);
        let done = finish(&mut seawall(&["convert", file.path(), &out]));
        assert_eq!(done.code, 0, "{name}: {}", done.stderr);
        let cc = ["run", &out, "--analysis", "cc", "--json", "--undirected"];
        let report = finish(&mut seawall(&cc)).json();
        let found = (&report["nodes"], &report["components"]);
        assert_eq!(found, (&json!(6), &json!(4)), "{name}");
    }
    let out = file.beside("g.bin");
    let convert = ["convert", file.path(), &out, "--json"];
    let refused = finish(&mut seawall(&convert));
    refused.refused(&["--renumber"]);
    let failure: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(failure["error"]["kind"], "format_cannot_hold");
    assert!(!std::path::Path::new(&out).exists());
    let done = finish(seawall(&convert).arg("--renumber")).json();
    assert_eq!((&done["nodes"], &done["edges"]), (&json!(6), &json!(2)));
}

#[test]
fn foreign_files_are_named_in_text_and_json() {
    let tarball = [&[b'a'; 100][..], &[0; 157], b"ustar", &[0; 700]].concat();
    let file = Fixture::new("graph.tar", &tarball);
    let done = finish(&mut seawall(&[
        "run",
        file.path(),
        "--analysis",
        "cc",
        "--json",
    ]));
    done.refused(&["a tar archive", "unpack it"]);
    let failure: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(failure["error"]["kind"], "foreign_file");
}

#[test]
fn missing_weights_name_the_option() {
    let plain = Fixture::new("plain.el", b"1 2\n2 3\n");
    let run = ["run", plain.path(), "--analysis", "sssp", "--source", "1"];
    finish(&mut seawall(&run)).refused(&["--unit-weights"]);
}

#[test]
fn answers_and_paths_name_nodes() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    for (analysis, figure, name) in [
        ("pagerank", "highest_rank_node", "d, e"),
        ("ppr", "highest_rank_node", "d, e"),
        ("closeness", "highest_closeness_node", "d, e"),
    ] {
        let run = [
            "run",
            friends.path(),
            "--analysis",
            analysis,
            "--json",
            "--source",
            "ann",
        ];
        let mut run = seawall(&run);
        let report = finish(run.args(["--source", "d, e"])).json();
        assert_eq!(report[figure], name, "{analysis}: {report}");
    }
    let paths = [
        "run",
        friends.path(),
        "--analysis",
        "sssp",
        "--source",
        "ann",
    ];
    let found = finish(seawall(&paths).args(["--target", "d, e", "--json"])).json();
    let path = &found["path"];
    assert_eq!(
        (&path["target_name"], &path["names"]),
        (&json!("d, e"), &json!(["ann", "bob", "d, e"]))
    );
    let none = finish(seawall(&paths).args(["--target", "cid"])).stdout;
    assert!(none.contains("no source reaches cid"), "{none}");
}

#[test]
fn paths_are_drawn_with_their_names() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    let picture = |analysis: &str, target: &str| {
        let plot = friends.beside("path.svg");
        let run = [
            "run",
            friends.path(),
            "--analysis",
            analysis,
            "--source",
            "ann",
            "--quiet",
        ];
        let done = finish(seawall(&run).args(["--target", target, "--plot", &plot]));
        assert_eq!(done.code, 0, "{}", done.stderr);
        std::fs::read_to_string(plot).unwrap()
    };
    for (analysis, text) in [
        ("sssp", "Path to d, e: 2 edges, 5 in all"),
        ("bfs", "2 edges, 2 in all"),
    ] {
        let drawn = picture(analysis, "d, e");
        assert!(drawn.contains(text), "{drawn}");
        let nodes = ["ann", "bob", "d, e"].map(|name| format!("<title>{name}</title></rect>"));
        assert!(nodes.iter().all(|node| drawn.contains(node)), "{drawn}");
        assert_eq!(drawn.matches("an edge of the path").count(), 2);
        assert!(picture(analysis, "cid").contains("No path to cid"));
    }
}

#[test]
fn batches_have_a_column_of_names() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    let other = friends.beside("other.el");
    std::fs::write(&other, "ann bob\nbob ann\n").unwrap();
    let batch = [
        "run",
        friends.path(),
        &other,
        "--analysis",
        "bfs",
        "--source",
        "ann",
    ];
    let table = finish(seawall(&batch).args(["--out", "-"]));
    assert_eq!(table.code, 0, "{}", table.stderr);
    let rows: Vec<_> = table.stdout.lines().collect();
    assert_eq!(rows[0], "graph,name,node,node_name,value");
    assert!(rows[4].ends_with(",3,\"d, e\",2"), "{}", table.stdout);
    assert!(rows[6].ends_with(",1,bob,1"), "{}", table.stdout);
    let report = finish(seawall(&batch).arg("--json")).json();
    assert_eq!(report["results"][1]["source_names"], json!(["ann"]));
    let labels = [
        "run",
        &other,
        &other,
        "--analysis",
        "cc",
        "--undirected",
        "--out",
        "-",
    ];
    let table = finish(&mut seawall(&labels)).stdout;
    assert!(
        table.lines().nth(2).unwrap().ends_with(",1,bob,ann"),
        "{table}"
    );
}

#[test]
fn binaries_of_our_own_keep_names_and_stream_with_them() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    for name in ["f.swg", "f.swg.xz"] {
        let to = friends.beside(name);
        let converted = finish(&mut seawall(&["convert", friends.path(), &to]));
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        let run = [
            "run",
            &to,
            "--analysis",
            "sssp",
            "--source",
            "ann",
            "--out",
            "-",
        ];
        let table = "node,name,value\n0,ann,0\n1,bob,2\n2,cid,\n3,\"d, e\",5\n";
        assert_eq!(finish(&mut seawall(&run)).stdout, table, "{name}");
        let streamed = finish(seawall(&run).args(["--stream", "always"]));
        if name == "f.swg" {
            assert_eq!(streamed.stdout, table, "{}", streamed.stderr);
        }
    }
}

#[test]
fn binaries_refuse_names_before_they_write() {
    let friends = Fixture::new("friends.csv", FRIENDS);
    for name in ["f.npz", "f.egr", "f.bin"] {
        let to = friends.beside(name);
        let mut convert = seawall(&["convert", friends.path(), &to]);
        finish(&mut convert).refused(&["names of nodes", "--renumber", ".csv"]);
        assert!(!std::path::Path::new(&to).exists(), "{name}");
    }
}
