//! Triangles, parents, sets of sources and files of sources, for scripts.

use super::{Fixture, finish, seawall};

const SQUARE: &[u8] = b"# a square with a diagonal\n10 20\n20 30\n30 40\n40 10\n10 30\n";

fn run(file: &Fixture, arguments: &[&str]) -> super::Finished {
    let run = ["run", file.path(), "--backend", "cpu"];
    finish(seawall(&run).args(arguments))
}

#[test]
fn triangles_are_counted_in_undirected_graphs_and_refused_in_directed_ones() {
    let file = Fixture::new("square.el", SQUARE);
    let count = ["--analysis", "triangles"];
    let out = file.beside("corners.csv");
    let more = ["--undirected", "--json", "--check", "--out", &out];
    let report = run(&file, &[&count[..], &more].concat()).json();
    assert_eq!(
        (&report["triangles"], &report["checked"]),
        (&2.into(), &true.into())
    );
    let table = std::fs::read_to_string(out).unwrap();
    assert_eq!(table, "node,value\n10,2\n20,1\n30,2\n40,1\n");
    let text = run(&file, &["--analysis", "triangles", "--undirected"]);
    assert!(text.stdout.contains("2 triangles"), "{}", text.stdout);
    run(&file, &count).refused(&["triangles", "--undirected"]);
}

#[test]
fn parents_are_a_column_and_have_a_checksum() {
    let file = Fixture::new("square.el", SQUARE);
    let out = file.beside("tree.csv");
    let search = [
        "--analysis",
        "bfs",
        "--source",
        "20",
        "--parents",
        "--check",
        "--json",
        "--out",
        &out,
    ];
    let report = run(&file, &search).json();
    assert_eq!(report["checked"], true);
    // Node numbers of the parents: 40's is 30, 10's is 40.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in [3_u32, 1, 1, 2].into_iter().flat_map(u32::to_le_bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    assert_eq!(report["parents_checksum"], format!("{hash:016x}"));
    let table = std::fs::read_to_string(out).unwrap();
    assert_eq!(
        table,
        "node,value,parent\n10,3,40\n20,0,20\n30,1,20\n40,2,30\n"
    );
    let plain = run(&file, &["--analysis", "bfs", "--source", "20", "--json"]).json();
    assert_eq!(plain["checksum"], report["checksum"]);
    assert!(plain.get("parents_checksum").is_none());
}

#[test]
fn each_source_is_distinguished() {
    let file = Fixture::new("fork.el", b"10 20\n20 30\n40 20\n");
    let ids = Fixture::new("ids", b"# more roots\n40\n\n30\n");
    let (out, plot) = (file.beside("who.csv"), file.beside("who.svg"));
    let together = [
        "--analysis",
        "reach",
        "--source",
        "10",
        "--sources-file",
        ids.path(),
        "--each",
        "--check",
    ];
    let files = ["--json", "--out", &out, "--plot", &plot];
    let report = run(&file, &[&together[..], &files].concat()).json();
    assert_eq!(report["sources"], serde_json::json!([10, 40, 30]));
    assert_eq!(report["reached_each"], serde_json::json!([3, 3, 1]));
    assert_eq!(
        (&report["reached"], &report["checked"]),
        (&4.into(), &true.into())
    );
    let table = std::fs::read_to_string(out).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows[2], "20,0x0000000000000003");
    assert_eq!(rows[3], "30,0x0000000000000007");
    assert!(std::fs::read_to_string(plot).unwrap().contains("sources"));
    let text = run(&file, &together).stdout;
    assert!(text.contains("source by source 3, 3, 1 nodes"), "{text}");
}

#[test]
fn options_that_do_not_fit_the_analysis_are_refused_before_the_graph_is_read() {
    let refused = |arguments: &[&str], parts: &[&str]| {
        finish(seawall(&["run", "no-such-graph", "--analysis"]).args(arguments)).refused(parts);
    };
    refused(
        &["widest", "--source", "1", "--parents"],
        &["--parents", "bfs"],
    );
    refused(&["bfs", "--source", "1", "--each"], &["--each", "reach"]);
    refused(
        &["bfs", "--source", "1", "--each", "--parents"],
        &["--each", "--parents"],
    );
}

#[test]
fn files_of_sources_are_refused_with_file_and_line() {
    let file = Fixture::new("edges.el", b"1 2\n2 3\n");
    let search = |content: &[u8]| {
        let ids = Fixture::new("ids.txt", content);
        let arguments = ["--analysis", "bfs", "--sources-file", ids.path()];
        run(&file, &arguments)
    };
    search(b"1\nx\n").refused(&["ids.txt:2: x", "from 1 to 3"]);
    search(b"1\n\n9\n").refused(&["ids.txt:3: 9", "from 1 to 3"]);
    search(b"# none\n").refused(&["bfs", "--sources-file"]);
    let missing = file.beside("no-such-ids");
    run(&file, &["--analysis", "bfs", "--sources-file", &missing])
        .refused(&[&missing, "cannot read"]);
}
