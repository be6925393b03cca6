//! A run as one page of HTML: answer, machine and times, plan, steps, and every field.

use std::io::{self, Write};

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::canvas::Escaped;
use super::{json, timeline};
use seawall::analysis::AnalysisKind;
use seawall::outcome::{RunOutcome, Timeline};
use seawall::units::{Count, Nanoseconds, bytes, counted};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#1b2733;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}\
td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top;border-bottom:1px solid #e3e9ef}\
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}.faint{color:#5b6b7a}\
.bar{fill:#2f6f9f}svg{width:100%;height:auto}details{margin-top:2rem}";

/// Fields that the head of the page shows, or a section of its own.
const ELSEWHERE: [&str; 15] = [
    "analysis",
    "backend",
    "backend_reason",
    "taken_over_from",
    "device",
    "nodes",
    "edges",
    "plan",
    "memory",
    "plan_cache",
    "session",
    "time_ns",
    "explain",
    "stream",
    "code",
];

/// Fields that are no answer, so that only an unusual value is shown beside it: the value that is
/// usual. Others are null, false or 0.
const USUAL: [(&str, &str); 5] = [
    ("checksum", ""),
    ("converged", "true"),
    ("loops_taken", "keep"),
    ("parallel_taken", "keep"),
    ("repeat", "1"),
];

/// Fields of the machine's work, which are in the list of every field.
const WORK: [&str; 4] = [
    "device_barriers",
    "host_synchronisations",
    "launches",
    "uploads",
];

/// Phases of a run in their order.
const PHASES: [&str; 5] = ["load", "plan", "upload", "run", "readback"];

/// Width of a drawn bar, in user units.
const WIDTH: f64 = 160.0;
/// Height of the drawing of steps.
const HEIGHT: f64 = 140.0;
/// Width of that drawing.
const STEPS_WIDTH: f64 = 860.0;
/// Most steps that are drawn and listed.
const STEPS_MAX: usize = 2_000;

/// A report that has what a page shows.
pub struct Page<'a> {
    fields: &'a Map<String, Value>,
    title: &'static str,
}

/// Writes the page of a run with its groups and steps; `made` says by what and when.
///
/// # Errors
/// If `out` fails.
pub fn write(outcome: &RunOutcome, made: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    json::write(outcome, true, &mut text)?;
    let report: Value = serde_json::from_slice(&text)?;
    let page = Page::of(&report).map_err(io::Error::other)?;
    page.write(made, out)
}

impl<'a> Page<'a> {
    /// The page of a report, or what is wrong with it.
    pub fn of(report: &'a Value) -> Result<Self, &'static str> {
        let fields = report.as_object().ok_or("no JSON object")?;
        if fields.contains_key("error") {
            return Err("the report of a failure");
        }
        let name = fields.get("analysis").and_then(Value::as_str);
        let name = name.ok_or("a report without an analysis")?;
        let analysis = AnalysisKind::ALL.iter().find(|kind| kind.name() == name);
        let analysis = analysis.ok_or("a report of an unknown analysis")?;
        if !fields.get("time_ns").is_some_and(Value::is_object) {
            return Err("a report without times");
        }
        if !fields.get("nodes").is_some_and(Value::is_u64) {
            return Err("a report without a number of nodes");
        }
        let title = analysis.facts().title;
        Ok(Self { fields, title })
    }

    /// Writes the page; `made` says by what and when.
    pub fn write(&self, made: &str, out: &mut dyn Write) -> io::Result<()> {
        let (nodes, edges) = (self.number("nodes"), self.number("edges"));
        let title = format!(
            "{} of {} nodes, {} edges",
            self.title,
            Count(nodes),
            Count(edges)
        );
        let title = Escaped(&title);
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n<h1>{title}</h1>"
        )?;
        self.write_machine(out)?;
        self.write_answer(out)?;
        self.write_times(out)?;
        self.write_groups(out)?;
        self.write_timeline(out)?;
        self.write_frontier(out)?;
        writeln!(out, "<details><summary>Every field</summary><table>")?;
        write_fields(out, "", &Value::Object(self.fields.clone()))?;
        writeln!(out, "</table></details>")?;
        writeln!(
            out,
            "<p class=\"faint\">{}</p>\n</body></html>",
            Escaped(made)
        )
    }

    fn number(&self, name: &str) -> u64 {
        self.fields.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or("")
    }

    fn write_machine(&self, out: &mut dyn Write) -> io::Result<()> {
        let (device, backend) = (self.text("device"), self.text("backend"));
        let reason = Escaped(self.text("backend_reason"));
        writeln!(
            out,
            "<p>{} (backend {})<br><span class=\"faint\">{reason}</span></p>",
            Escaped(device),
            Escaped(backend)
        )
    }

    /// The simple fields that are no part of the machine.
    fn write_answer(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<h2>Answer</h2><table>")?;
        for (name, value) in self.fields {
            let is_in = |list: &[&str]| list.contains(&name.as_str());
            let is_elsewhere = is_in(&ELSEWHERE) || is_in(&WORK);
            if is_elsewhere || value.is_object() || value.is_array() || is_usual(name, value) {
                continue;
            }
            write_row(out, &name.replace('_', " "), &shown(name, value))?;
        }
        writeln!(out, "</table>")
    }

    fn write_times(&self, out: &mut dyn Write) -> io::Result<()> {
        let times = &self.fields["time_ns"];
        let time = |phase: &str| times[phase].as_u64().unwrap_or(0);
        let longest = PHASES.iter().map(|phase| time(phase)).max().unwrap_or(0);
        writeln!(out, "<h2>Times</h2><table>")?;
        for phase in PHASES {
            let ns = time(phase);
            let bar = bar(0, ns, longest);
            writeln!(
                out,
                "<tr><td>{phase}</td><td class=\"number\">{}</td><td>{bar}</td></tr>",
                Nanoseconds(ns)
            )?;
        }
        writeln!(out, "</table>")
    }

    /// The groups of the plan in their order, each with its time as a bar that begins where the one
    /// before ends; barriers are between them.
    fn write_groups(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(groups) = self.explained("groups") else {
            return Ok(());
        };
        let measured = |group: &Value| group["measured_ns"].as_u64().unwrap_or(0);
        let all: u64 = groups.iter().map(measured).sum();
        let mut start = 0;
        writeln!(
            out,
            "<h2>Plan</h2><p class=\"faint\">A barrier ends each group; bars are over the time of the run.</p><table><tr><th>group</th><th>waves</th><th class=\"number\">bytes</th><th class=\"number\">predicted</th><th class=\"number\">measured</th><th></th></tr>"
        )?;
        for group in groups {
            let waves = group["waves"].as_array().into_iter().flatten();
            let waves: Vec<&str> = waves.filter_map(Value::as_str).collect();
            let reason = group["reason"].as_str().unwrap_or("");
            writeln!(
                out,
                "<tr><td>{}</td><td>{}<br><span class=\"faint\">{}</span></td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>",
                group["group"].as_u64().unwrap_or(0),
                Escaped(&waves.join(", ")),
                Escaped(reason),
                bytes(group["bytes"].as_u64().unwrap_or(0)),
                time_of(&group["predicted_ns"]),
                time_of(&group["measured_ns"]),
                bar(start, measured(group), all),
            )?;
            start += measured(group);
        }
        writeln!(out, "</table>")
    }

    /// The work of blocks between barriers; nothing if a report's timeline is not one.
    fn write_timeline(&self, out: &mut dyn Write) -> io::Result<()> {
        let explained = self.fields.get("explain");
        let timeline = explained.and_then(|explained| explained.get("timeline"));
        let timeline = timeline.and_then(|timeline| Timeline::deserialize(timeline).ok());
        match timeline.filter(Timeline::is_whole) {
            Some(timeline) => timeline::draw(&timeline, out),
            None => Ok(()),
        }
    }

    /// The frontier over the levels of a search, or else over the steps of searches.
    fn write_frontier(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(levels) = self.explained("frontier") {
            let bars = levels
                .iter()
                .take(STEPS_MAX)
                .enumerate()
                .map(|(level, nodes)| {
                    let nodes = nodes.as_u64().unwrap_or(0);
                    (nodes, format!("level {level}: {}", counted(nodes, "node")))
                });
            return write_bars("level", &bars.collect::<Vec<_>>(), out);
        }
        let steps = self.explained("steps").unwrap_or(&[]);
        let bars = steps.iter().take(STEPS_MAX).enumerate().map(|(at, step)| {
            let nodes = step["nodes"].as_u64().unwrap_or(0);
            let topology = step["topology"].as_str().unwrap_or("");
            (
                nodes,
                format!("step {at}: {}, {topology}", counted(nodes, "node")),
            )
        });
        write_bars("step", &bars.collect::<Vec<_>>(), out)
    }

    fn explained(&self, list: &str) -> Option<&'a [Value]> {
        let list = self.fields.get("explain")?.get(list)?;
        Some(list.as_array()?.as_slice())
    }
}

/// A time, or a dash where there is none.
fn time_of(ns: &Value) -> String {
    let dash = || "–".to_owned();
    ns.as_u64()
        .map_or_else(dash, |ns| Nanoseconds(ns).to_string())
}

/// Draws the frontier at each `step`: its nodes and a text that appears on hover.
fn write_bars(step: &str, bars: &[(u64, String)], out: &mut dyn Write) -> io::Result<()> {
    // One bar compares nothing.
    if bars.len() < 2 {
        return Ok(());
    }
    let most = bars
        .iter()
        .map(|(nodes, _)| *nodes)
        .max()
        .unwrap_or(0)
        .max(1);
    let pitch = STEPS_WIDTH / bars.len() as f64;
    writeln!(
        out,
        "<h2>Frontier at each {step}</h2><p class=\"faint\">{}, at most {}</p>\n\
         <svg viewBox=\"0 0 {STEPS_WIDTH} {HEIGHT}\" role=\"img\">",
        counted(bars.len() as u64, step),
        counted(most, "node")
    )?;
    for (at, (nodes, hint)) in bars.iter().enumerate() {
        let height = HEIGHT * *nodes as f64 / most as f64;
        writeln!(
            out,
            "<rect class=\"bar\" x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{height:.1}\"><title>{}</title></rect>",
            at as f64 * pitch,
            HEIGHT - height,
            pitch * 0.9,
            Escaped(hint)
        )?;
    }
    writeln!(out, "</svg>")
}

/// A value of a report for a reader.
fn shown(name: &str, value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_u64() {
            Some(count) if !name.ends_with("node") && !name.contains("source") => {
                Count(count).to_string()
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn write_row(out: &mut dyn Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(
        out,
        "<tr><td>{}</td><td>{}</td></tr>",
        Escaped(name),
        Escaped(value)
    )
}

/// Writes all fields below `prefix`; lists are counted.
fn write_fields(out: &mut dyn Write, prefix: &str, value: &Value) -> io::Result<()> {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = match prefix {
                    "" => name.clone(),
                    prefix => format!("{prefix}.{name}"),
                };
                write_fields(out, &path, value)?;
            }
            Ok(())
        }
        Value::Array(list) if list.len() > 8 => write_row(
            out,
            prefix,
            &format!("{} entries", Count(list.len() as u64)),
        ),
        Value::String(text) => write_row(out, prefix, text),
        other => write_row(out, prefix, &other.to_string()),
    }
}

/// A bar of a part that begins at `start`, in proportion to the longest.
fn bar(start: u64, part: u64, longest: u64) -> String {
    let wide = |part: u64| WIDTH * part as f64 / longest.max(1) as f64;
    let (x, width) = (wide(start), wide(part));
    format!(
        "<svg viewBox=\"0 0 {WIDTH} 12\" style=\"width:{WIDTH}px\"><rect class=\"bar\" x=\"{x:.1}\" width=\"{width:.1}\" height=\"12\"/></svg>"
    )
}

/// Returns whether a field of the answer's kind says nothing here.
fn is_usual(name: &str, value: &Value) -> bool {
    if let Some((_, usual)) = USUAL.iter().find(|(of, _)| *of == name) {
        return usual.is_empty() || shown(name, value) == *usual;
    }
    let is_answer = ["reached", "eccentricity", "source"].contains(&name);
    match value {
        Value::Null | Value::Bool(false) => name != "checked" || value.is_null(),
        Value::Bool(true) => name == "symmetric",
        Value::Number(number) => !is_answer && number.as_u64() == Some(0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(report: &Value) -> String {
        let mut text = Vec::new();
        Page::of(report).unwrap().write("today", &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn report() -> Value {
        json!({"analysis": "bfs", "nodes": 5_000, "edges": 7, "device": "<b>&", "reached": 3,
            "time_ns": {"load": 5, "run": 2_000}, "checked": null})
    }

    #[test]
    fn the_page_is_whole_and_names_stay_text() {
        let text = page(&report());
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
        assert!(text.contains("Breadth-first search of 5,000 nodes, 7 edges"));
        assert!(
            text.contains("&lt;b&gt;&amp;") && !text.contains("<b>"),
            "{text}"
        );
        assert!(text.contains("<td>reached</td><td>3</td>"));
        for from_elsewhere in ["http:", "https:", "<script", "@import"] {
            assert!(!text.contains(from_elsewhere), "{from_elsewhere}");
        }
    }

    #[test]
    fn groups_and_steps_are_drawn_where_the_report_has_them() {
        assert!(!page(&report()).contains("Frontier at"));
        let mut report = report();
        report["explain"] = json!({
            "groups": [{"group": 0, "waves": ["fill", "seed"], "bytes": 2048, "measured_ns": 40}],
            "steps": [{"nodes": 1, "topology": "sparse"}, {"nodes": 4, "topology": "dense"}],
        });
        report["dropped_self_loops"] = json!(3);
        report["converged"] = json!(true);
        let text = page(&report);
        assert!(
            text.contains("<td>dropped self loops</td><td>3</td>"),
            "{text}"
        );
        assert!(
            !text.contains("<td>converged</td><td>true</td></tr>\n</table>"),
            "{text}"
        );
        assert!(
            text.contains("fill, seed") && text.contains("2.0 KiB"),
            "{text}"
        );
        assert!(text.contains("step 1: 4 nodes, dense"), "{text}");
        report["explain"]["frontier"] = json!([1, 7, 2]);
        let text = page(&report);
        assert!(text.contains("Frontier at each level") && text.contains("level 1: 7 nodes"));
        assert!(!text.contains("step 1"), "{text}");
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for wrong in [
            json!([]),
            json!({"error": {"kind": "usage"}}),
            json!({"analysis": "none", "time_ns": {}, "nodes": 1}),
            json!({"analysis": "bfs", "nodes": 1}),
            json!({"analysis": "bfs", "time_ns": {}}),
        ] {
            assert!(Page::of(&wrong).is_err(), "{wrong}");
        }
    }
}
