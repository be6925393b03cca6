//! The JSON of `seawall plan`: accepted input is planned and drawn in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_cli::PlanInput;
use seawall_cli::report::plan::{PlanView, dot, json, svg, text};
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::plan::execution::Chooser;
use seawall_core::plan::{Requirements, Strategy, execution, groups};
use seawall_core::scratch::ExecutionScratchView;
use seawall_core::topology::TopologyPolicy;
use seawall_fuzz::plan::Buffers;

fuzz_target!(|bytes: &[u8]| {
    let program = match PlanInput::from_reader("the input", bytes) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let dag = program.dag();
    let needs = Requirements::for_dag(dag.waves.len(), dag.dependencies.len());
    for strategy in [None, Some(Strategy::InOrder), Some(Strategy::Packed)] {
        let mut buffers = Buffers::new(needs, 0xFF);
        let (group_space, _) = buffers.split();
        let alone = strategy.unwrap_or_default();
        let Ok(alone) = groups(&dag, &program.budget, alone, group_space) else {
            return;
        };
        let mut subject = Subject::new(Identity {
            graph_layout_hash: 0,
            analysis: AnalysisKind::Custom(0),
            device: DeviceKey::default(),
        });
        let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
        let mut other = Buffers::new(needs, 0xFF);
        let (other_groups, other_arena) = other.split();
        let space = ExecutionScratchView::new(other_groups, other_arena);
        let plan = execution(&program.request(strategy), chooser, space).ok();
        let groups = plan.as_ref().map_or(&alone, |plan| &plan.groups);
        if let Some(plan) = &plan {
            let budget = program.budget;
            assert!(plan.arena.bytes() <= budget.budget_bytes - budget.resident_bytes);
        }
        let view = PlanView {
            dag,
            names: &program.names,
            budget: program.budget,
            groups,
            execution: plan.as_ref(),
            shortfall: None,
        };
        let mut out = Vec::new();
        text::write(&view, &mut out).expect("memory takes all");
        out.clear();
        dot::write(&view, &mut out).expect("memory takes all");
        check_dot(&out);
        out.clear();
        svg::write(&view, &mut out).expect("memory takes all");
        check_svg(&out);
        out.clear();
        json::write(&view, &mut out).expect("memory takes all");
        let parsed: serde_json::Value = serde_json::from_slice(&out).expect("a report is JSON");
        assert_eq!(
            parsed["groups"].as_array().map(Vec::len),
            Some(groups.len())
        );
    }
});

/// Names are quoted: quotation marks come in pairs, escaped ones aside.
fn check_dot(out: &[u8]) {
    let text = std::str::from_utf8(out).expect("a drawing is text");
    let bare = text.replace("\\\\", "").replace("\\\"", "");
    assert!(bare.matches('"').count().is_multiple_of(2), "{text}");
}

/// Names are escaped: an angle bracket opens only what the drawing itself opens.
fn check_svg(out: &[u8]) {
    let text = std::str::from_utf8(out).expect("a drawing is text");
    for part in text.split('<').skip(1) {
        let known = [
            "svg",
            "/",
            "g",
            "rect",
            "text",
            "line",
            "path",
            "title",
            "style",
            "desc",
            "!",
            "?",
            "defs",
            "marker",
            "tspan",
            "circle",
            "polyline",
            "polygon",
            "ellipse",
            "linearGradient",
            "stop",
        ];
        assert!(known.iter().any(|name| part.starts_with(name)), "<{part}");
        assert!(part.contains('>'), "<{part}");
    }
}
