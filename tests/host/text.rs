//! Programs as text: the examples have their documented results, errors have their places, and no
//! text makes the reader panic.

use proptest::prelude::*;
use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};
use seawall::own::OwnWaves;
use seawall::program::{GraphSize, PlanRequest, TextError, TextProgram, read_text, read_text_with};
use seawall_oracles::graphs::EdgeList;
use seawall_oracles::oracle;
use seawall_oracles::own::{CopyTwin, Twins};
use std::collections::HashMap;

const COMPONENTS: &str = include_str!("../../examples/programs/components.json");
const DEGREES: &str = include_str!("../../examples/programs/degrees.json");
const LISTS: &str = include_str!("../../examples/programs/lists.json");
const DISTANCES: &str = include_str!("../../examples/programs/distances.json");

const WALK: &str = include_str!("../../examples/programs/walk.json");

const SIZE: GraphSize = GraphSize {
    nodes: 10,
    edges: 30,
};

/// The program of a valid text.
fn read_for(text: &str, graph: &Graph) -> TextProgram {
    let size = GraphSize {
        nodes: graph.nodes(),
        edges: graph.edges(),
    };
    read_text(text, size).unwrap()
}

/// Words of every result.
fn run(text: &str, graph: &Graph) -> HashMap<String, Vec<u32>> {
    let TextProgram {
        program,
        results,
        inputs,
    } = read_for(text, graph);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let mut session = ProgramSession::open(graph, &Machine::cpu(None)).unwrap();
    session.load(&encoded).unwrap();
    for input in &inputs {
        session.set_input(input.register, &input.words).unwrap();
    }
    session.run().unwrap();
    let mut read = |result: seawall::program::TextResult| {
        let mut words = Vec::new();
        session.read(result.register, &mut words).unwrap();
        (result.name, words)
    };
    results.into_iter().map(&mut read).collect()
}

#[test]
fn the_example_of_components_finds_components() {
    let list = EdgeList {
        nodes: 9,
        edges: vec![(0, 4), (4, 2), (3, 8), (5, 6), (6, 7), (7, 5)],
        undirected: true,
    };
    let found = run(COMPONENTS, &list.graph().unwrap());
    assert_eq!(found["labels"], oracle::components(&list));
}

#[test]
fn the_example_of_degrees_lists_and_divides() {
    // A path of four nodes: two with an even number of edges, 2 each.
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], true).unwrap();
    let found = run(DEGREES, &graph);
    assert_eq!(found["how many"], [2]);
    assert_eq!(f32::from_bits(found["mean"][0]), 2.0);
}

#[test]
fn the_example_of_distances_finds_shortest_paths() {
    let options = LoadOptions {
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    let graph = load("gen:rmat-directed:8:6", &options, None).unwrap().graph;
    let expected = seawall::analysis::oracle::distances(&graph, &[0]);
    let found = run(DISTANCES, &graph);
    assert_eq!(
        seawall::outcome::Column::U32(found["distances"].clone()),
        expected
    );
}

#[test]
fn the_example_of_lists_searches_lists_and_joins_by_segment() {
    let list = EdgeList {
        nodes: 9,
        edges: vec![(0, 4), (4, 2), (2, 8), (0, 6), (6, 7), (7, 5)],
        undirected: true,
    };
    let graph = list.graph().unwrap();
    let found = run(LISTS, &graph);
    let levels = oracle::levels(&list, &[0], u32::MAX);
    assert_eq!(found["levels"], levels);
    // Nodes 1 and 3 have no edges.
    assert_eq!(found["reached"][0], 0b1_1111_0101);
    let none = u32::MAX;
    assert_eq!(found["nearest"], [4, none, 4, none, 0, 7, 0, 6, 2]);
    let least = i32::MIN as u32;
    assert_eq!(found["farthest"], [1, least, 3, least, 2, 2, 2, 3, 2]);
    // Levels are 0 . 2 . 1 3 1 2 3.
    assert_eq!(found["listed"], [3]);
    assert_eq!(found["by level"], [1, 2, 2, 2, 0, 0, 0, 2]);
    let mut edges = 0..graph.edges();
    for node in 0..9_u32 {
        let ends = |edge: &&(u32, u32)| edge.0 == node || edge.1 == node;
        let degree = list.edges.iter().filter(ends).count();
        let row = edges.by_ref().take(degree);
        let most = row.map(seawall_core::abi::code::hash).max().unwrap_or(0);
        assert_eq!(found["of rows"][node as usize], most, "row {node}");
    }
}

#[test]
fn waves_that_run_once_leave_their_registers_to_later_runs() {
    // A path 0 - 1 - 2 - 3 and an edge 1 - 4.
    let list = EdgeList {
        nodes: 5,
        edges: vec![(0, 1), (1, 2), (2, 3), (1, 4)],
        undirected: true,
    };
    let graph = list.graph().unwrap();
    let TextProgram {
        program,
        results,
        inputs,
    } = read_for(WALK, &graph);
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    assert_eq!(encoded.once, [0]);
    let mut session = ProgramSession::open(&graph, &Machine::cpu(None)).unwrap();
    session.load(&encoded).unwrap();
    let third = 1.0 / 3.0;
    for (start, expected) in [
        (0, [0.0, third + 0.5 * third + third, 0.0, 0.5 * third, 0.0]),
        (3, [third * 0.5, 0.0, 0.5 + third * 0.5, 0.0, third * 0.5]),
        (0, [0.0, third + 0.5 * third + third, 0.0, 0.5 * third, 0.0]),
    ] {
        session.set_input(inputs[0].register, &[start]).unwrap();
        let stats = session.run().unwrap();
        assert_eq!(stats.control.loops[0].iterations, 3);
        let mut words = Vec::new();
        session.read(results[0].register, &mut words).unwrap();
        for (found, expected) in words.iter().zip(expected) {
            let found = f32::from_bits(*found);
            assert!((found - expected).abs() < 1e-6, "{words:?} from {start}");
        }
    }
}

#[test]
fn inputs_without_values_are_zeros_that_callers_set() {
    let text = |count: &str| {
        let registers = format!(
            r#"[{{"name": "given", "kind": "u64", "count": {count}, "input": true}},
                {{"name": "kept", "kind": "u64", "count": {count}, "keep": true}}]"#
        );
        let copy = r#"{"wave": "copy", "to": "kept", "from": "given"}"#;
        format!(r#"{{"version": 1, "registers": {registers}, "waves": [{copy}]}}"#)
    };
    let graph = Graph::from_edges(3, &[(0, 1)], false).unwrap();
    assert_eq!(run(&text("2"), &graph)["kept"], [0; 4]);
    assert_eq!(run(&text("\"nodes\""), &graph)["kept"], [0; 6]);
    let read = read_for(&text("2"), &graph);
    let values = serde_json::json!([1_u64 << 32, 7]);
    assert_eq!(read.inputs[0].words_of(&values).unwrap(), [0, 1, 7, 0]);
    let refused = read_text(&text("1048577"), SIZE).unwrap_err().to_string();
    let expected = "registers[0].count: 1048577 values of an input, and at most 1048576 may be";
    assert_eq!(refused, expected);
}

#[test]
fn errors_of_waves_that_run_once_name_the_wave() {
    let refused = |waves: &str| {
        let registers = r#"[{"name": "a", "kind": "u32", "values": [1]},
            {"name": "b", "kind": "u32", "count": 1, "keep": true}]"#;
        let text = format!(r#"{{"version": 1, "registers": {registers}, "waves": [{waves}]}}"#);
        let read = read_text(&text, SIZE).map_err(|error| error.to_string());
        read.and_then(|read| {
            let encoded = read.program.encode(&PlanRequest::default());
            encoded.map(drop).map_err(|error| error.to_string())
        })
        .unwrap_err()
    };
    let fill = r#"{"wave": "fill", "name": "zero", "to": "b", "value": 0}"#;
    let once = |body: &str| format!(r#"{{"wave": "once", "body": [{body}]}}"#);
    let looped =
        |body: &str| format!(r#"{{"wave": "fixpoint", "name": "round", "body": [{body}]}}"#);
    let copy = r#"{"wave": "copy", "name": "take", "to": "b", "from": "a"}"#;
    assert!(refused(&once(copy)).contains("take"), "reads an input");
    assert!(refused(&format!("{}, {fill}", once(fill))).contains("zero"));
    assert!(refused(&once(&looped(fill))).contains("round"));
    assert!(refused(&looped(&once(fill))).contains("zero"));
    let bare = refused(r#"{"wave": "once"}"#);
    assert!(bare.starts_with("waves[0]: body is missing"), "{bare}");
    let named = r#"{"wave": "once", "name": "all", "body": []}"#;
    assert!(refused(named).starts_with("waves[0]: no field"));
}

#[test]
fn own_waves_are_called_by_name() {
    let text = r#"{"version": 1, "registers": [
        {"name": "a", "kind": "u32", "count": 5, "keep": true},
        {"name": "b", "kind": "u32", "count": 5}
    ], "waves": [
        {"wave": "iota", "to": "b"},
        {"wave": "own", "call": "CopyTwin", "to": "a", "first": "b"}
    ]}"#;
    let name = <CopyTwin as seawall_device::own::Wave>::NAME;
    let text = text.replace("CopyTwin", name);
    let own = OwnWaves::of::<Twins>();
    let TextProgram {
        program, results, ..
    } = read_text_with(&text, SIZE, Some(&own)).unwrap();
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let graph = Graph::from_edges(10, &[(0, 1)], false).unwrap();
    let mut session = ProgramSession::open(&graph, &Machine::cpu(None)).unwrap();
    session.load(&encoded).unwrap();
    session.run().unwrap();
    let mut words = Vec::new();
    session.read(results[0].register, &mut words).unwrap();
    assert_eq!(words, [0, 1, 2, 3, 4]);
    let refused = |text: &str, own| read_text_with(text, SIZE, own).unwrap_err().to_string();
    let unknown = refused(&text.replace(name, "Nothing"), Some(&own));
    assert!(
        unknown.starts_with("waves[1].call: no custom wave"),
        "{unknown}"
    );
    assert!(unknown.contains(name), "{unknown}");
    assert!(refused(&text, None).contains("without a set"));
    let many = text.replace(
        "\"to\": \"a\"",
        "\"parameters\": [1, 2, 3, 4, 5, 6], \"to\": \"a\"",
    );
    assert!(refused(&many, Some(&own)).contains("6 parameters, and at most 5"));
    let twice = text.replace("\"first\"", "\"second\"");
    let read = read_text_with(&twice, SIZE, Some(&own)).unwrap();
    assert!(read.program.encode(&PlanRequest::default()).is_err());
}

#[test]
fn errors_of_searches_and_segments_say_where_they_are() {
    let swaps = [
        (
            "\"levels\": \"levels\"",
            "\"levels\": \"levels\", \"parents\": \"even\"",
            "waves[0]: a search stores",
        ),
        (
            "\"from\": \"sources\"",
            "\"from\": \"source\"",
            "waves[0].from: no register",
        ),
        (
            "\"kind\": \"frontier\"",
            "\"kind\": \"frontier\", \"keep\": true",
            "registers[1]: no field",
        ),
        (
            "\"kind\": \"bitset\"",
            "\"kind\": \"bits\"",
            "registers[2].kind: no kind",
        ),
        ("\"node\": \"near\", ", "", "join[0]: node is missing"),
        (
            "\"how\": \"argmax\"",
            "\"how\": \"max\"",
            "join[0]: no field",
        ),
        (
            "\"mask\": \"even\"",
            "\"mask\": 3",
            "waves[7].mask: this is to be",
        ),
        (
            "\"numbers\": \"levels to 7\"",
            "\"numbers\": \"levels to 7\", \"rows\": \"in\"",
            "waves[8]: segments are rows",
        ),
        (
            "\"rows\": \"out\"",
            "\"rows\": \"up\"",
            "waves[9].rows: no direction",
        ),
        (
            "\"rows\": \"out\"",
            "\"row\": \"out\"",
            "waves[9]: no field",
        ),
    ];
    for (from, to, expected) in swaps {
        let text = LISTS.replacen(from, to, 1);
        assert_ne!(text, LISTS, "{from}");
        let error = read_text(&text, SIZE).unwrap_err().to_string();
        assert!(error.contains(expected), "{from}: {error}");
    }
    // For values of 64 bits there is no `argmin`.
    let wide = LISTS.replacen(
        "[\"there\", \"levels\"]",
        "[\"to_u64\", [\"there\", \"levels\"]]",
        1,
    );
    let read = read_text(&wide, SIZE).unwrap();
    let error = read.program.encode(&PlanRequest::default()).unwrap_err();
    assert!(error.to_string().contains("argmin"), "{error}");
}

#[test]
fn errors_say_where_they_are() {
    let swaps = [
        ("\"version\": 1", "\"version\": 2", "version: version 2"),
        ("\"u32\"", "\"u16\"", "registers[0].kind: no kind"),
        (
            "\"nodes\", \"keep\"",
            "\"nodes\", \"kept\"",
            "registers[0]: no field",
        ),
        ("\"iota\"", "\"iotas\"", "waves[0].wave: no wave"),
        (
            "\"to\": \"labels\"",
            "\"to\": \"label\"",
            "waves[0].to: no register",
        ),
        (
            "\"min\"",
            "\"least\"",
            "waves[1].body[0].code[1].join[0].how: no join",
        ),
        (
            "[\"neighbour\"]",
            "[\"index\", 1, 2, 3]",
            "value[2][0]: 3 values, and it takes 0",
        ),
        (
            "[\"below\", \"least\", \"own\"]",
            "[\"below\", \"least\"]",
            "only[0]: 1 value, and it takes 2",
        ),
        (
            "[\"below\", \"least\", \"own\"]",
            "[\"belov\", \"least\", \"own\", 1, 2]",
            "only[0]: no operation is called \"belov\" (did you mean \"below\"?)",
        ),
        (
            "\"changed\": 1",
            "\"changed\": \"own\", \"be\": 1",
            "code[4]: no field",
        ),
        (
            "\"only\": [\"below\", \"least\", \"own\"]",
            "\"only\": [\"below\", \"less\", \"own\"]",
            "code[2].only[1]: no value",
        ),
        (
            "\"only\": [\"below\"",
            "\"until\": [\"below\"",
            "code[2]: there is no edge",
        ),
        (
            "\"only\": [\"below\", \"least\", \"own\"]",
            "\"only\": -1",
            "code[2].only: this is to be",
        ),
        (
            "\"let\": \"least\"",
            "\"let\": \"own\"",
            "join[0].let: \"own\" is there already",
        ),
        ("\"version\": 1,", "\"version\": 1", "line 3, column 3"),
    ];
    for (from, to, expected) in swaps {
        let text = COMPONENTS.replacen(from, to, 1);
        assert_ne!(text, COMPONENTS, "{from}");
        let error = read_text(&text, SIZE).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let long = " ".repeat(2 << 20);
    assert!(matches!(
        read_text(&long, SIZE),
        Err(TextError::TooLong { .. })
    ));
}

#[test]
fn a_program_that_makes_no_sense_is_refused_with_its_wave() {
    let refused = |from: &str, to: &str| {
        let text = COMPONENTS.replacen(from, to, 1);
        let read = read_text(&text, SIZE).unwrap();
        read.program
            .encode(&PlanRequest::default())
            .unwrap_err()
            .to_string()
    };
    let mixed = refused(
        "[\"below\", \"least\", \"own\"]",
        "[\"below\", \"least\", [\"f32\", 1]]",
    );
    assert!(mixed.contains("wave look around"), "{mixed}");
    let unfilled = refused(
        "\"wave\": \"iota\", \"name\": \"own number\", \"to\": \"labels\"",
        "\"wave\": \"each\", \"over\": {\"count\": 3}, \"code\": [{\"store\": \"labels\", \"value\": 1}]",
    );
    assert!(unfilled.contains("fill it first"), "{unfilled}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_a_text_makes_the_reader_panic(
        which in 0..4_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..9_usize), 1..4),
    ) {
        let mut text = [COMPONENTS, DEGREES, DISTANCES, LISTS][which].as_bytes().to_vec();
        for (to, from, length) in changes {
            // Some bytes of the text in the place of others.
            let (to, from) = (to.index(text.len()), from.index(text.len()));
            let piece = text[from..text.len().min(from + length)].to_vec();
            text.splice(to..text.len().min(to + length), piece);
        }
        let text = String::from_utf8_lossy(&text);
        if let Ok(read) = read_text(&text, SIZE) {
            let _ = read.program.encode(&PlanRequest::default());
        }
    }
}

#[test]
fn errors_of_the_whole_program_name_registers_as_the_text_does() {
    let text = r#"{"version": 1, "registers": [
        {"name": "far", "kind": "u32", "count": "nodes", "keep": true},
        {"name": "near", "kind": "u32", "count": 3}
    ], "waves": [{"wave": "iota", "to": "near"}, {"wave": "copy", "to": "far", "from": "near"}]}"#;
    let read = read_text(text, SIZE).unwrap();
    let error = read.program.encode(&PlanRequest::default()).unwrap_err();
    assert!(error.to_string().contains("register near"), "{error}");
}

/// Registers and waves of a text; every result, as the words of its values.
fn words_of(registers: &str, waves: &str) -> HashMap<String, Vec<u32>> {
    let graph = Graph::from_edges(4, &[(0, 1)], false).unwrap();
    let text = format!(r#"{{"version": 1, "registers": [{registers}], "waves": [{waves}]}}"#);
    run(&text, &graph)
}

/// Some values of each kind, with their least, their largest and their sum, and a number in all.
const KINDS: [(&str, &str, [&str; 4]); 4] = [
    (
        "u32",
        "[7, 4000000000, 3]",
        ["3", "4000000000", "4000000010", "9"],
    ),
    ("i32", "[-5, 3, -1]", ["-5", "3", "-3", "-9"]),
    (
        "f32",
        "[-1.5, 0.25, -0.5]",
        ["-1.5", "0.25", "-1.75", "0.1"],
    ),
    (
        "u64",
        "[8589934592, 1, 4294967295]",
        ["1", "8589934592", "12884901888", "4294967296"],
    ),
];

#[test]
fn waves_of_whole_registers_follow_the_kinds_of_their_values() {
    for (kind, values, [min, max, sum, number]) in KINDS {
        let given = format!(r#"{{"name": "given", "kind": "{kind}", "values": {values}}}"#);
        let asked = |name: &str, count: u32| {
            format!(r#"{{"name": "{name}", "kind": "{kind}", "count": {count}, "keep": true}}"#)
        };
        let wanted = |name: &str, list: &str| {
            format!(r#"{{"name": "{name}", "kind": "{kind}", "values": {list}, "keep": true}}"#)
        };
        let registers = [
            given,
            asked("min", 1),
            asked("max", 1),
            asked("sum", 1),
            asked("longer", 2),
            asked("copied", 3),
            asked("counted", 3),
            asked("filled", 2),
            wanted("wanted min", &format!("[{min}]")),
            wanted("wanted max", &format!("[{max}]")),
            wanted("wanted sum", &format!("[{sum}]")),
            wanted("wanted longer", &format!("[{sum}, {number}]")),
            wanted("wanted copied", values),
            wanted("wanted counted", "[0, 1, 2]"),
            wanted("wanted filled", &format!("[{number}, {number}]")),
        ]
        .join(", ");
        let waves = format!(
            r#"{{"wave": "reduce", "to": "min", "from": "given", "how": "min"}},
            {{"wave": "reduce", "to": "max", "from": "given", "how": "max"}},
            {{"wave": "reduce", "to": "sum", "from": "given", "how": "sum"}},
            {{"wave": "fill", "to": "longer", "value": {number}}},
            {{"wave": "reduce", "to": "longer", "from": "given", "how": "sum"}},
            {{"wave": "copy", "to": "copied", "from": "given"}},
            {{"wave": "iota", "to": "counted"}},
            {{"wave": "fill", "to": "filled", "value": {number}}}"#
        );
        let found = words_of(&registers, &waves);
        for name in ["min", "max", "sum", "longer", "copied", "counted", "filled"] {
            assert_eq!(
                found[name],
                found[&format!("wanted {name}")],
                "{kind} {name}"
            );
        }
    }
}

#[test]
fn kinds_that_a_wave_does_not_take_are_refused_by_name() {
    let registers = r#"{"name": "words", "kind": "u32", "count": 4, "keep": true},
        {"name": "floats", "kind": "f32", "count": 4}, {"name": "pairs", "kind": "u64", "count": 4}"#;
    let fill = r#"{"wave": "fill", "to": "words", "value": 1}, {"wave": "fill", "to": "floats", "value": 1.5},
        {"wave": "fill", "to": "pairs", "value": 4294967296}"#;
    let body = r#""limit": 3, "body": [{"wave": "fill", "to": "words", "value": 2}]"#;
    let cases = [
        (
            r#"{"wave": "copy", "to": "words", "from": "floats"}"#.to_owned(),
            "register words holds values of U32, not of F32",
        ),
        (
            r#"{"wave": "reduce", "to": "words", "from": "pairs", "how": "min"}"#.to_owned(),
            "register words holds values of U32, not of U64",
        ),
        (
            r#"{"wave": "reduce", "to": "floats", "from": "words", "how": "sum"}"#.to_owned(),
            "register floats holds values of F32, not of U32",
        ),
        (
            format!(r#"{{"wave": "while", "register": "pairs", {body}}}"#),
            "register pairs holds values of U64, not of U32",
        ),
        (
            format!(r#"{{"wave": "while", "register": "floats", {body}}}"#),
            "register floats holds values of F32, not of U32",
        ),
        (
            r#"{"wave": "fill", "to": "words", "value": 1.5}"#.to_owned(),
            "waves[3].value: this is to be a whole number below 2^32",
        ),
        (
            r#"{"wave": "fill", "to": "pairs", "value": -1}"#.to_owned(),
            "waves[3].value: this is to be a whole number below 2^64",
        ),
        (
            r#"{"wave": "each", "over": "nodes", "code": [{"store": "words", "value": "next"}]}"#
                .to_owned(),
            "no value is called \"next\"; there is none here yet",
        ),
        (
            r#"{"wave": "each", "over": "nodes", "code": [{"store": "floats", "value": 0.5}]}"#
                .to_owned(),
            "or one with its kind, such as [\"f32\", 0.5]",
        ),
    ];
    for (wave, expected) in cases {
        let text =
            format!(r#"{{"version": 1, "registers": [{registers}], "waves": [{fill}, {wave}]}}"#);
        let refused = match read_text(&text, SIZE) {
            Err(error) => error.to_string(),
            Ok(read) => read
                .program
                .encode(&PlanRequest::default())
                .unwrap_err()
                .to_string(),
        };
        assert!(refused.contains(expected), "{wave}: {refused}");
    }
}
