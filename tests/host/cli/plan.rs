use super::{Fixture, finish, seawall};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A diamond of four waves, two of which do not fit one group together.
fn diamond() -> Value {
    let wave = |name: &str| json!({"name": name, "frontier_bytes": 60, "scratch_bytes": 5, "output_bytes": 20});
    json!({
        "waves": [wave("load"), wave("left"), wave("right"), wave("join")],
        "dependencies": [[0, 1], [0, 2], [1, 3], [2, 3]],
        "resident_bytes": 50,
        "budget_bytes": 200,
    })
}

fn plan(input: &Value, arguments: &[&str]) -> super::Finished {
    let mut command = seawall(&["plan", "-"]);
    finish(command.args(arguments).write_stdin(input.to_string()))
}

#[test]
fn the_json_holds_groups_bounds_peaks_and_arena() {
    let plan = plan(&diamond(), &["--format", "json"]).json();
    assert_eq!(plan["groups"], json!([[0], [1], [2], [3]]));
    assert_eq!(plan["global_barriers"], 3);
    assert_eq!(plan["lower_bound"], 3);
    assert_eq!(plan["peak_group_bytes"], 100);
    assert_eq!(plan["amortized_readback_bytes"], 20);
    assert_eq!(plan["max_group_width"], 1);
    let offsets = plan["arena"]["offsets"].as_array().unwrap();
    assert_eq!(offsets.len(), 4);
    assert!(plan["arena"]["bytes"].as_u64() >= plan["arena"]["lower_bound"].as_u64());
}

#[test]
fn every_format_shows_every_wave_by_name() {
    for (format, start) in [
        ("text", "4 waves in 4 groups, 3 global barriers\n"),
        ("dot", "digraph plan {"),
        ("svg", "<svg "),
    ] {
        let shown = plan(&diamond(), &["--format", format]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        assert!(shown.stdout.starts_with(start), "{}", shown.stdout);
        for name in ["load", "left", "right", "join"] {
            assert!(shown.stdout.contains(name), "{format} lacks {name}");
        }
    }
}

#[test]
fn a_file_and_standard_input_give_the_same_plan_and_text_is_the_default() {
    let file = Fixture::new("waves.json", diamond().to_string().as_bytes());
    let from_file = finish(&mut seawall(&["plan", file.path(), "--strategy", "packed"]));
    assert_eq!(
        from_file.stdout,
        plan(&diamond(), &["--format", "text"]).stdout
    );
}

#[test]
fn packing_needs_no_more_groups_than_the_order_of_ids() {
    let wave = |bytes| json!({"frontier_bytes": bytes, "scratch_bytes": 0, "output_bytes": 0});
    let input = json!({
        "waves": [wave(60), wave(60), wave(40), wave(40)],
        "dependencies": [],
        "budget_bytes": 100,
    });
    let groups = |strategy| {
        let plan = plan(&input, &["--format", "json", "--strategy", strategy]).json();
        plan["groups"].as_array().unwrap().len()
    };
    assert_eq!((groups("in-order"), groups("packed")), (3, 2));
}

#[test]
fn errors_are_json_on_standard_output_and_one_message_beside_it() {
    let with = |key: &str, value: Value| {
        let mut input = diamond();
        input[key] = value;
        input
    };
    let least = least_named(&with("budget_bytes", json!(0)), &[]);
    for (input, expected) in [
        (
            with("dependencies", json!([[0, 9]])),
            json!({"kind": "invalid_wave", "waves": 4, "before": 0, "after": 9}),
        ),
        (
            with("dependencies", json!([[u64::MAX, 0]])),
            json!({"kind": "invalid_wave", "waves": 4, "before": u64::MAX, "after": 0}),
        ),
        (
            with("dependencies", json!([[2, 2]])),
            json!({"kind": "self_dependency", "wave": 2}),
        ),
        (
            with("dependencies", json!([[0, 1], [1, 0]])),
            json!({"kind": "cycle", "unscheduled": 2}),
        ),
        (
            with("budget_bytes", json!(49)),
            json!({"kind": "resident_over_budget", "required_bytes": 50, "budget_bytes": 49, "least_budget_bytes": least}),
        ),
        (
            with("budget_bytes", json!(60)),
            json!({"kind": "wave_over_budget", "wave": 0, "required_bytes": 100, "budget_bytes": 10, "least_budget_bytes": least}),
        ),
        (
            with(
                "waves",
                vec![
                    json!({"frontier_bytes": 1, "scratch_bytes": 1u64 << 63, "output_bytes": 0});
                    4
                ]
                .into(),
            ),
            json!({"kind": "overflow", "field": "fused wave bytes"}),
        ),
    ] {
        let refused = plan(&input, &["--format", "json"]);
        assert_eq!(refused.code, 2);
        let error: Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!(error, json!({"error": expected}));
        refused.complains(&[]);
    }
}

/// A picture that a script redirects has no object of a failure in it.
#[test]
fn errors_are_on_standard_error_alone_without_json() {
    let cyclic = json!({
        "waves": [{"frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 0}],
        "dependencies": [[0, 0]],
    });
    for options in [
        &[][..],
        &["--format", "text"],
        &["--format", "svg"],
        &["--format", "dot"],
        &["--devices", "2"],
    ] {
        let refused = plan(&cyclic, options);
        assert_eq!((refused.code, &*refused.stdout), (2, ""), "{options:?}");
        refused.complains(&[]);
        let unread = finish(seawall(&["plan", "no-such-file"]).args(options));
        assert_eq!((unread.code, &*unread.stdout), (2, ""), "{options:?}");
    }
    for options in [&["--json"][..], &["--format", "json"]] {
        let refused = plan(&cyclic, options);
        let error: Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!(error["error"]["kind"], "self_dependency", "{options:?}");
    }
}

#[test]
fn texts_that_are_not_wave_dags_are_refused_with_the_position() {
    for (text, line) in [
        ("", 1),
        ("{\n \"waves\": [}", 2),
        ("{\"waves\":[],\n\"dependencies\":[[0,-1]]}", 2),
        ("{\"waves\":[],\"dependencies\":[],\n\"colour\":1}", 2),
        ("{\"waves\":[],\"dependencies\":[[0,1e99]]}", 1),
        ("\u{0}\u{1}", 1),
    ] {
        let file = Fixture::new("waves.json", text.as_bytes());
        let refused = finish(&mut seawall(&["plan", file.path(), "--format", "json"]));
        assert_eq!(refused.code, 2, "{text:?}");
        let error: Value = serde_json::from_str(&refused.stdout).unwrap();
        assert_eq!(error["error"]["kind"], "invalid_json", "{text:?}");
        assert_eq!(error["error"]["line"], line, "{text:?}");
        refused.complains(&[&format!("{}:{line}:", file.path())]);
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let refused = finish(seawall(&["plan", "-"]).write_stdin("[".repeat(1 << 20)));
    assert_eq!(refused.code, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn an_endless_source_and_a_folder_are_refused() {
    let endless = finish(&mut seawall(&["plan", "/dev/zero"]));
    assert_eq!(endless.code, 2);
    endless.complains(&["/dev/zero:1:1:"]);
    let folder = finish(&mut seawall(&["plan", "/dev"]));
    assert_eq!(folder.code, 2);
    folder.complains(&["/dev: cannot read"]);
    finish(&mut seawall(&[
        "evidence",
        "verify",
        "/dev/zero",
        "--required-speedup",
        "2",
    ]))
    .refused(&["/dev/zero: cannot read: more than 64.0 MiB"]);
}

#[test]
fn waves_near_64_bits_are_planned_without_an_arena() {
    let wave = json!({"frontier_bytes": u64::MAX, "scratch_bytes": 0, "output_bytes": 0});
    let input = json!({"waves": [wave, wave], "dependencies": []});
    let plan = plan(&input, &["--format", "json"]).json();
    assert_eq!(plan["groups"], json!([[0], [1]]));
    assert!(plan["arena"].is_null());
    assert_eq!(self::plan(&input, &[]).code, 0);
}

#[test]
fn a_reader_that_closes_early_is_not_a_failure() {
    let wave = json!({"frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 0});
    let input = json!({"waves": vec![wave; 100_000], "dependencies": []});
    let file = Fixture::new("waves.json", input.to_string().as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_seawall-under-test"))
        .args(["plan", file.path(), "--format", "dot"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert_eq!(first, "digraph plan {\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// Every plan of the conformance vectors, by the command line.
#[test]
fn plans_in_order_equal_the_vectors_and_packed_ones_are_at_most_as_long() {
    let Some(folder) = crate::vectors::folder() else {
        return;
    };
    let Ok(text) = std::fs::read_to_string(folder.join("frontier_memory.jsonl")) else {
        return;
    };
    let (mut planned, mut refused) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let vector: Value = serde_json::from_str(line).unwrap();
        let id = &vector["id"];
        let in_order = plan(
            &vector["in"],
            &["--format", "json", "--strategy", "in-order"],
        );
        let found: Value = serde_json::from_str(&in_order.stdout).unwrap();
        if let Some(error) = vector.get("err") {
            assert_eq!((in_order.code, &found["error"]), (2, error), "{id}");
            continue;
        }
        for (field, expected) in vector["ok"].as_object().unwrap() {
            assert_eq!(&found[field], expected, "{id} {field}");
        }
        let fits = |plan: &Value| {
            let input = &vector["in"];
            let [budget, resident] =
                ["budget_bytes", "resident_bytes"].map(|name| input[name].as_u64().unwrap());
            plan["arena"]["bytes"].as_u64().unwrap_or(0) <= budget - resident
        };
        assert!(fits(&found), "{id}");
        let fixed = plan(&vector["in"], &["--format", "json", "--strategy", "packed"]);
        let fixed = fixed.json();
        let count = |plan: &Value| plan["groups"].as_array().unwrap().len();
        assert!(count(&fixed) <= count(&found), "{id}");
        assert!(
            found["arena"].is_null() || !fixed["arena"].is_null(),
            "{id}"
        );
        let packed = plan(&vector["in"], &["--format", "json"]);
        let report: Value = serde_json::from_str(&packed.stdout).unwrap();
        if packed.code == 2 {
            // Groups that fit one by one, whose outputs do not fit together.
            assert_eq!(report["error"]["kind"], "arena_over_budget", "{id}");
            assert!(found["arena"].is_null(), "{id}");
            refused += 1;
            continue;
        }
        assert_eq!(packed.code, 0, "{id}");
        assert!(fits(&report), "{id}");
        let groups = |plan: &Value| plan["groups"].as_array().unwrap().len();
        assert!(
            groups(&report) <= groups(&found) || found["arena"].is_null(),
            "{id}"
        );
        assert!(
            groups(&report) as u64 >= report["lower_bound"].as_u64().unwrap(),
            "{id}"
        );
        planned += 1;
    }
    assert!(planned > 20 * refused, "{refused} of {planned} refused");
}

/// The least budget that the refusal of an input names.
fn least_named(input: &Value, options: &[&str]) -> u64 {
    let refused = plan(input, &[&["--format", "json"], options].concat());
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    let report: Value = serde_json::from_str(&refused.stdout).unwrap();
    let error = &report["error"];
    let least = match error["kind"].as_str().unwrap() {
        "arena_over_budget" => error["required_bytes"].as_u64().unwrap(),
        _ => error["least_budget_bytes"].as_u64().unwrap(),
    };
    assert!(
        refused.stderr.contains(&least.to_string()),
        "{}",
        refused.stderr
    );
    least
}

fn with_budget(input: &Value, budget: u64) -> Value {
    let mut input = input.clone();
    input["budget_bytes"] = json!(budget);
    input
}

/// A program of chains that share their first wave, with its ids shuffled by a seed.
fn shuffled(seed: u64) -> Value {
    let waves = 16;
    let id = |at: u64| (at * (2 * seed + 1) + seed) % waves;
    let wave = |at: u64| json!({"frontier_bytes": at % 3 * 50, "scratch_bytes": 0, "output_bytes": 100 + at % 4 * 300});
    let mut entries = vec![Value::Null; waves as usize];
    for at in 0..waves {
        entries[id(at) as usize] = wave(at);
    }
    let chains = (1..waves).map(|at| [id(if at < 4 { 0 } else { at - 3 }), id(at)]);
    let mut dependencies: Vec<_> = chains.collect();
    dependencies.rotate_left(seed as usize);
    json!({"waves": entries, "dependencies": dependencies, "resident_bytes": 1000, "budget_bytes": 0})
}

#[test]
fn any_refusal_names_the_least_budget_and_that_budget_works() {
    let expected = least_named(&shuffled(0), &[]);
    for seed in 0..6 {
        let input = shuffled(seed);
        // Below the graph, below a wave, and below the arena.
        for budget in [0, 1_100, expected - 1] {
            assert_eq!(least_named(&with_budget(&input, budget), &[]), expected);
        }
        let works = plan(&with_budget(&input, expected), &["--format", "json"]).json();
        assert!(works["required_bytes"].as_u64().unwrap() <= expected);
    }
}

#[test]
fn cases_of_least_budgets_have_the_right_ones() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    for name in ["plan_numbering_a", "plan_numbering_b", "plan_least_budget"] {
        let file = folder.join(name).with_extension("json");
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("skipped: there is no {}", file.display());
            return;
        };
        let input: Value = serde_json::from_str(&text).unwrap();
        for budget in [1_000, 20_000, 32_767] {
            let input = with_budget(&input, budget);
            assert_eq!(least_named(&input, &[]), 32_768, "{name}");
        }
        let works = plan(&with_budget(&input, 32_768), &["--format", "json"]);
        assert_eq!(works.code, 0, "{name}");
    }
}

fn outputs(bytes: &[u64], dependencies: Value, budget: u64) -> Value {
    let wave =
        |bytes: &u64| json!({"frontier_bytes": 0, "scratch_bytes": 0, "output_bytes": bytes});
    json!({
        "waves": bytes.iter().map(wave).collect::<Vec<_>>(),
        "dependencies": dependencies,
        "budget_bytes": budget,
    })
}

#[test]
fn a_plan_that_is_accepted_has_an_arena_inside_its_budget() {
    let kib = [60 << 10, 60 << 10, 40 << 10];
    let apart = plan(&outputs(&kib, json!([]), 100 << 10), &["--format", "json"]).json();
    assert_eq!(apart["arena"]["bytes"], 100 << 10);
    assert_eq!(apart["results"], "read_early");
    let roomy = plan(&outputs(&kib, json!([]), 160 << 10), &["--format", "json"]).json();
    assert_eq!(
        (&roomy["arena"]["bytes"], &roomy["results"]),
        (&json!(160 << 10), &json!("stay"))
    );
    let chain = outputs(&kib, json!([[0, 1], [1, 2]]), 100 << 10);
    let refused = plan(&chain, &["--format", "json"]);
    assert_eq!(refused.code, 2);
    let error: Value = serde_json::from_str(&refused.stdout).unwrap();
    let expected = json!({
        "kind": "arena_over_budget", "required_bytes": 120 << 10, "budget_bytes": 100 << 10
    });
    assert_eq!(error["error"], expected);
    let least = outputs(&kib, json!([[0, 1], [1, 2]]), 120 << 10);
    assert_eq!(
        plan(&least, &["--format", "json"]).json()["required_bytes"],
        120 << 10
    );
    // As the vectors count, the groups stand alone.
    let alone = plan(&chain, &["--format", "json", "--strategy", "in-order"]).json();
    assert!(alone["arena"].is_null());
    assert_eq!(alone["no_arena"], expected);
}

#[test]
fn peaks_of_different_groups_are_not_added_up() {
    let wave = |frontier: u64, output: u64| json!({"frontier_bytes": frontier, "scratch_bytes": 0, "output_bytes": output});
    let input = json!({
        "waves": [wave(80, 10), wave(0, 88)], "dependencies": [[0, 1]], "budget_bytes": 100,
    });
    let plan = plan(&input, &["--format", "json"]).json();
    assert_eq!(plan["peak_group_bytes"], 90);
    assert_eq!(plan["arena"]["bytes"], 98);
}

#[test]
fn topology_memory_and_launch_follow_from_what_is_known() {
    let mut input = outputs(&[4096], json!([]), 1 << 20);
    input["resident_bytes"] = json!(20_000);
    input["signals"] = json!({"nodes": 1000, "edges": 4000, "frontier_density_ppm": 750_000});
    input["launch"] = json!({
        "queue_len": 1000, "max_workgroup_size_x": 256,
        "max_compute_workgroups_per_dimension": 1024,
        "max_compute_invocations_per_workgroup": 256,
    });
    let plan = plan(&input, &["--format", "json"]).json();
    assert_eq!(plan["topology"]["name"], "dense");
    assert_eq!(plan["topology"]["reason"], "dense_coalesced_frontier");
    assert_eq!(plan["memory"]["required_bytes"], 24_096);
    assert_eq!(plan["required_bytes"], 24_096);
    assert_eq!(plan["launch"]["grid_groups"], 4);
    input["budget_bytes"] = json!(25_000);
    let refused = self::plan(&input, &["--format", "json"]);
    let error: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(
        (refused.code, &error["error"]["kind"]),
        (2, &json!("out_of_memory"))
    );
}

/// A loop that counts from 3 to 0, over registers of a mebibyte.
fn counting() -> Fixture {
    let program = json!({
        "version": 1,
        "registers": [
            {"name": "left", "kind": "u32", "count": 1, "keep": true},
            {"name": "wide", "kind": "u32", "count": 262_144, "keep": true},
        ],
        "waves": [
            {"wave": "fill", "to": "left", "value": 3},
            {"wave": "iota", "name": "number", "to": "wide"},
            {"wave": "while", "name": "count", "register": "left", "body": [
                {"wave": "each", "name": "one less", "over": {"count": 1}, "code": [
                    {"store": "left", "value": ["sub", ["load", "left"], 1]},
                ]},
            ]},
        ],
    });
    Fixture::new("count.json", program.to_string().as_bytes())
}

#[test]
fn programs_are_drawn_with_the_bodies_of_their_loops() {
    let file = counting();
    for (format, start, body) in [
        ("text", "2 groups", "one less (body of count)"),
        ("dot", "digraph program {", "repeats: body of count"),
        ("svg", "<svg ", "class=\"body\""),
        ("json", "{\"groups\":", "\"body_of\":[null,null,\"count\""),
    ] {
        let shown = finish(&mut seawall(&[
            "plan",
            "--program",
            file.path(),
            "--format",
            format,
        ]));
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        assert!(shown.stdout.starts_with(start), "{}", shown.stdout);
        for part in ["number", "one less", body] {
            assert!(
                shown.stdout.contains(part),
                "{format} lacks {part}: {}",
                shown.stdout
            );
        }
    }
}

#[test]
fn a_budget_of_a_planned_program_is_kept_or_refused_with_the_least_that_works() {
    let file = counting();
    let plan = |budget: &str| {
        finish(&mut seawall(&[
            "plan",
            "--program",
            file.path(),
            "--budget",
            budget,
        ]))
    };
    assert_eq!(plan("2MiB").code, 0);
    let refused = plan("1MiB");
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    let needed = refused.stderr.split("needs ").nth(1);
    let needed = needed.and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(plan(needed).code, 0, "{needed}");
    let less = (needed.parse::<u64>().unwrap() - 1).to_string();
    assert_eq!(plan(&less).code, 2, "{less}");
}

/// Two ranks of an iteration: shares of each node, sums along edges, and their change, a total.
fn iteration(bytes: u64) -> Value {
    let rows = |name: &str, reads: &str| json!({"name": name, "frontier_bytes": 0, "scratch_bytes": 0, "output_bytes": bytes, "reads": reads});
    let mut change = rows("change", "own_nodes");
    change["output"] = json!("total");
    change["output_bytes"] = json!(8);
    json!({
        "waves": [
            rows("shares", "own_nodes"), rows("sums", "all_nodes"), change, rows("end", "own_nodes"),
        ],
        "dependencies": [[0, 1], [1, 2], [2, 3]],
        "resident_bytes": 4 * bytes,
    })
}

#[test]
fn several_devices_have_their_shares_and_exchange_what_others_read() {
    let four = ["--devices", "4"];
    let found = plan(&iteration(4_000_000), &[&four[..], &["--json"]].concat()).json();
    let devices = &found["devices"];
    assert_eq!(devices["count"], 4);
    let exchanges = json!([
        {"after_group": 0, "received_bytes": 3_000_000, "scope": "system", "waves": [0]},
        {"after_group": 2, "received_bytes": 24, "scope": "system", "waves": [2]},
    ]);
    assert_eq!(devices["exchanges"], exchanges);
    assert_eq!(devices["exchanges_lower_bound"], 2);
    assert_eq!(devices["received_bytes"], 3_000_024);
    // Shares are whole on each device, since all read them; sums are a quarter.
    assert_eq!(found["peak_group_bytes"], 4_000_000);
    let text = plan(&iteration(4_000_000), &four).stdout;
    for line in [
        "Each of 4 devices has this plan, with 2 exchanges; no grouping has fewer.",
        "one device is the better choice",
        " barrier 1 of all devices, each receives 2.9 MiB ",
        " barrier 2 ==",
        " barrier 3 of all devices, each receives 24 B ",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let picture = plan(
        &iteration(4_000_000),
        &[&four[..], &["--format", "svg"]].concat(),
    );
    assert!(
        picture.stdout.contains("all devices: 2.9 MiB"),
        "{}",
        picture.stdout
    );
    let drawing = plan(
        &iteration(4_000_000),
        &[&four[..], &["--format", "dot"]].concat(),
    );
    assert!(
        drawing
            .stdout
            .contains("w0 -> w1 [style=bold, label=\"exchange 0\"];")
    );
}

#[test]
fn several_devices_are_better_for_much_work_and_little_to_tell() {
    let mut input = iteration(8);
    input["resident_bytes"] = json!(64_u64 << 30);
    let found = plan(&input, &["--devices", "4", "--json"]).json();
    assert_eq!(found["devices"]["better"], "all");
    let one = plan(&input, &["--devices", "1", "--json"]).json();
    assert_eq!(
        (&one["devices"]["exchanges"], &one["devices"]["better"]),
        (&json!([]), &json!("one"))
    );
    // A budget is that of each device.
    input["budget_bytes"] = json!(17_u64 << 30);
    assert_eq!(plan(&input, &["--devices", "4"]).code, 0);
    let refused = plan(&input, &["--devices", "3", "--json"]);
    assert_eq!(refused.code, 2);
    refused.complains(&["the least budget that works is 22906492"]);
    for count in ["0", "65537"] {
        let refused = plan(&iteration(8), &["--devices", count]);
        assert_eq!(refused.code, 2);
        refused.complains(&["1 to 65536 devices"]);
    }
    let wrong = plan(
        &json!({"waves": [{"frontier_bytes": 1, "scratch_bytes": 0, "output_bytes": 0, "reads": "none"}], "dependencies": []}),
        &[],
    );
    assert_eq!(wrong.code, 2);
    wrong.complains(&["unknown variant `none`"]);
}
