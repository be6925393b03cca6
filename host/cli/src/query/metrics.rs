//! Counters of a service as Prometheus reads them (text format 0.0.4).

use std::fmt::Write as _;

use serde_json::Value;

/// Priorities in the order of the service's counters.
const PRIORITIES: [&str; 5] = ["critical", "high", "normal", "low", "idle"];

/// Numbers of the answer of `stats`, one a line: name, place in the answer, help. Names of counters end
/// in `_total`, others are gauges.
const METRICS: &str = "\
graph_nodes /graph/nodes Nodes of the graph.
graph_edges /graph/edges Directed edges of the graph.
workers /stats/workers Workers that answer.
queries_submitted_total /stats/submitted Queries that entered the ring.
queries_ended_total /stats/ended Queries that workers ended.
faults_total /stats/faults Queries that ended as faults.
requeues_total /stats/requeues Queries that went back into the ring.
prints_dropped_total /stats/prints_dropped Lines that the log had no space for.
oldest_age /stats/oldest_age Greatest age of a query that was seen, in rounds of the ring.";

/// Numbers of a service of modules.
const OF_MODULES: &str = "\
program_functions /program/functions Functions of the modules.
values /values Values of all functions.
calls /calls Calls of all functions.
questions_asked_total /stats/asked Lines that clients sent.
questions_refused_total /stats/refused Lines that were answered with an error.
sources_kept /stats/sources_kept Sources whose searches are kept.";

/// Numbers of each tenant, at their place there.
const OF_TENANTS: &str = "\
tenant_served_total /served Queries answered, by tenant.
tenant_running /running Queries that run, by tenant.
tenant_faults_total /faults Queries that ended as faults, by tenant.";

/// Name, place and help of each metric of a table.
fn metrics(table: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    table.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (pointer, help) = rest.split_once(' ')?;
        Some((name, pointer, help))
    })
}

fn plain(answer: &Value, table: &str) -> Option<String> {
    let mut text = String::new();
    for (name, pointer, help) in metrics(table) {
        let value = answer.pointer(pointer)?.as_u64()?;
        head(&mut text, name, help);
        let _ = writeln!(text, "seawall_{name} {value}");
    }
    Some(text)
}

/// The metrics in an answer of `stats`; `None` if it is none.
pub(super) fn text(answer: &Value) -> Option<String> {
    if answer["program"].is_object() {
        return plain(answer, OF_MODULES);
    }
    let mut text = plain(answer, METRICS)?;
    head(&mut text, "waiting", "Queries that wait, by priority.");
    let waiting = answer["stats"]["waiting"].as_array()?;
    for (priority, waiting) in PRIORITIES.iter().zip(waiting) {
        let _ = writeln!(text, "seawall_waiting{{priority=\"{priority}\"}} {waiting}");
    }
    let tenants = answer["stats"]["tenants"].as_array()?;
    for (name, pointer, help) in metrics(OF_TENANTS) {
        head(&mut text, name, help);
        for (number, tenant) in tenants.iter().enumerate() {
            let value = tenant.pointer(pointer)?.as_u64()?;
            let _ = writeln!(text, "seawall_{name}{{tenant=\"{number}\"}} {value}");
        }
    }
    Some(text)
}

fn head(text: &mut String, name: &str, help: &str) {
    let kind = if name.ends_with("_total") {
        "counter"
    } else {
        "gauge"
    };
    let _ = writeln!(
        text,
        "# HELP seawall_{name} {help}\n# TYPE seawall_{name} {kind}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counters_have_names_kinds_and_labels() {
        let mut answer = json!({
            "graph": {"nodes": 100, "edges": 360},
            "stats": {"workers": 1, "submitted": 7, "ended": 6, "faults": 0, "requeues": 3,
                "prints_dropped": 0, "oldest_age": 2, "waiting": [0, 0, 5, 0, 0],
                "tenants": [{"served": 1, "running": 0, "faults": 0}, {"served": 4, "running": 2, "faults": 1}]}
        });
        let found = text(&answer).unwrap();
        for line in [
            "# TYPE seawall_queries_ended_total counter",
            "seawall_queries_ended_total 6",
            "seawall_waiting{priority=\"normal\"} 5",
            "seawall_tenant_served_total{tenant=\"1\"} 4",
            "seawall_tenant_running{tenant=\"1\"} 2",
        ] {
            assert!(found.lines().any(|have| have == line), "{line}\n{found}");
        }
        answer["stats"]["ended"] = Value::Null;
        assert_eq!(text(&answer), None);
    }
}
