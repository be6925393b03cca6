//! Counters of a service as Prometheus reads them (text format 0.0.4).

use std::fmt::Write as _;

use serde_json::Value;

/// Priorities in the order of the service's counters.
const PRIORITIES: [&str; 5] = ["critical", "high", "normal", "low", "idle"];

/// A number of the answer of `stats`.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    /// Its place in the answer.
    pointer: &'static str,
}

const fn counter(name: &'static str, pointer: &'static str, help: &'static str) -> Metric {
    Metric {
        kind: "counter",
        ..gauge(name, pointer, help)
    }
}

const fn gauge(name: &'static str, pointer: &'static str, help: &'static str) -> Metric {
    Metric {
        name,
        kind: "gauge",
        help,
        pointer,
    }
}

/// Numbers of each tenant, at their place there.
const OF_TENANTS: [Metric; 3] = [
    counter(
        "tenant_served_total",
        "/served",
        "Queries answered, by tenant.",
    ),
    gauge("tenant_running", "/running", "Queries that run, by tenant."),
    counter(
        "tenant_faults_total",
        "/faults",
        "Queries that ended as faults, by tenant.",
    ),
];

const METRICS: [Metric; 9] = [
    gauge("graph_nodes", "/graph/nodes", "Nodes of the graph."),
    gauge(
        "graph_edges",
        "/graph/edges",
        "Directed edges of the graph.",
    ),
    gauge("workers", "/stats/workers", "Workers that answer."),
    counter(
        "queries_submitted_total",
        "/stats/submitted",
        "Queries that entered the ring.",
    ),
    counter(
        "queries_ended_total",
        "/stats/ended",
        "Queries that workers ended.",
    ),
    counter(
        "faults_total",
        "/stats/faults",
        "Queries that ended as faults.",
    ),
    counter(
        "requeues_total",
        "/stats/requeues",
        "Queries that went back into the ring.",
    ),
    counter(
        "prints_dropped_total",
        "/stats/prints_dropped",
        "Lines that the log had no space for.",
    ),
    gauge(
        "oldest_age",
        "/stats/oldest_age",
        "Greatest age of a query that was seen, in rounds of the ring.",
    ),
];

const OF_MODULES: [Metric; 6] = [
    gauge(
        "program_functions",
        "/program/functions",
        "Functions of the modules.",
    ),
    gauge("values", "/values", "Values of all functions."),
    gauge("calls", "/calls", "Calls of all functions."),
    counter(
        "questions_asked_total",
        "/stats/asked",
        "Lines that clients sent.",
    ),
    counter(
        "questions_refused_total",
        "/stats/refused",
        "Lines that were answered with an error.",
    ),
    gauge(
        "sources_kept",
        "/stats/sources_kept",
        "Sources whose searches are kept.",
    ),
];

fn plain(answer: &Value, metrics: &[Metric]) -> Option<String> {
    let mut text = String::new();
    for metric in metrics {
        let value = answer.pointer(metric.pointer)?.as_u64()?;
        head(&mut text, metric.name, metric.kind, metric.help);
        let _ = writeln!(text, "seawall_{} {value}", metric.name);
    }
    Some(text)
}

/// The metrics in an answer of `stats`; `None` if it is none.
pub(super) fn text(answer: &Value) -> Option<String> {
    if answer["program"].is_object() {
        return plain(answer, &OF_MODULES);
    }
    let mut text = plain(answer, &METRICS)?;
    head(
        &mut text,
        "waiting",
        "gauge",
        "Queries that wait, by priority.",
    );
    for (priority, waiting) in PRIORITIES
        .iter()
        .zip(answer["stats"]["waiting"].as_array()?)
    {
        let _ = writeln!(text, "seawall_waiting{{priority=\"{priority}\"}} {waiting}");
    }
    let tenants = answer["stats"]["tenants"].as_array()?;
    for Metric {
        name,
        kind,
        help,
        pointer,
    } in OF_TENANTS
    {
        head(&mut text, name, kind, help);
        for (number, tenant) in tenants.iter().enumerate() {
            let value = tenant.pointer(pointer)?.as_u64()?;
            let _ = writeln!(text, "seawall_{name}{{tenant=\"{number}\"}} {value}");
        }
    }
    Some(text)
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
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
