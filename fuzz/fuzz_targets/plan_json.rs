//! The JSON of `seawall plan`: accepted input is planned and drawn in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_cli::PlanInput;
use seawall_cli::report::plan::{DevicesView, PlanView, dot, json, svg, text};
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::plan::devices::{Prices, devices, least_budget};
use seawall_core::plan::execution::Chooser;
use seawall_core::plan::{
    Dag, DevicesError, DevicesPlan, Requirements, Strategy, execution, groups,
};
use seawall_core::topology::TopologyPolicy;
use seawall_fuzz::plan::{Buffers, Devices};

fuzz_target!(|bytes: &[u8]| {
    let program = match PlanInput::from_reader("the input", bytes) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let dag = program.dag();
    let needs = requirements(&program);
    for strategy in [None, Some(Strategy::InOrder), Some(Strategy::Packed)] {
        let mut buffers = Buffers::new(needs, 0xFF);
        let (group_space, _) = buffers.split();
        let alone = strategy.unwrap_or_default();
        let Ok(alone) = groups(&dag, &program.budget, alone, group_space) else {
            return;
        };
        let mut subject = subject();
        let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
        let mut other = Buffers::new(needs, 0xFF);
        let plan = execution(&program.request(strategy), chooser, other.execution()).ok();
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
            devices: None,
        };
        draw(&view);
    }
    // The text around the object counts too, so that one program is planned for many counts.
    plan_devices(&program, bytes.len() as u32 % 9);
});

fn requirements(program: &PlanInput) -> Requirements {
    let dag = program.dag();
    Requirements::for_dag(dag.waves.len(), dag.dependencies.len())
}

fn subject() -> Subject {
    Subject::new(Identity {
        graph_layout_hash: 0,
        analysis: AnalysisKind::Custom(0),
        device: DeviceKey::default(),
    })
}

/// The plan of each of `count` devices keeps its budget, and so does a plan of the least budget
/// that a refusal names.
fn plan_devices(program: &PlanInput, count: u32) {
    let request = program.request(None);
    let mut buffers = Buffers::new(requirements(program), 0xFF);
    let mut more = Devices::of(&program.dag());
    let mut subject = subject();
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let space = buffers.execution();
    let error = match devices(&request, count, program.cuts(), chooser, space, more.view()) {
        Ok(plan) => {
            check_devices(program, &plan);
            return;
        }
        Err(error) => error,
    };
    if count == 0 {
        assert!(matches!(error, DevicesError::Count { .. }), "{error}");
        return;
    }
    let space = buffers.execution();
    let Ok(least) = least_budget(&request, count, program.cuts(), space, more.view()) else {
        return;
    };
    assert!(
        least > program.budget.budget_bytes,
        "{error}, though {least} B are enough"
    );
    let mut richer = request;
    richer.budget.budget_bytes = least;
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    let space = buffers.execution();
    let plan = devices(&richer, count, program.cuts(), chooser, space, more.view());
    assert!(plan.is_ok(), "{least} B are not enough: {error}");
}

fn check_devices(program: &PlanInput, plan: &DevicesPlan<'_>) {
    let (budget, execution) = (plan.budget, &plan.execution);
    assert!(execution.arena.bytes() <= budget.budget_bytes - budget.resident_bytes);
    let exchanges = &plan.exchanges;
    assert!(exchanges.lower_bound() <= exchanges.len() as u64);
    assert!(exchanges.len() < execution.groups.len().max(1));
    let resident_bytes = program.budget.resident_bytes;
    draw(&PlanView {
        dag: Dag {
            waves: execution.groups.waves(),
            ..program.dag()
        },
        names: &program.names,
        budget,
        groups: &execution.groups,
        execution: Some(execution),
        shortfall: None,
        devices: Some(DevicesView {
            exchanges,
            prediction: plan.predict(program.dag().waves, resident_bytes, &Prices::default()),
        }),
    });
}

/// Every form of a report is well formed, and the JSON counts the groups.
fn draw(view: &PlanView<'_>) {
    let mut out = Vec::new();
    text::write(view, &mut out).expect("memory takes all");
    out.clear();
    dot::write(view, &mut out).expect("memory takes all");
    check_dot(&out);
    out.clear();
    svg::write(view, &mut out).expect("memory takes all");
    check_svg(&out);
    out.clear();
    json::write(view, &mut out).expect("memory takes all");
    let parsed: serde_json::Value = serde_json::from_slice(&out).expect("a report is JSON");
    assert_eq!(
        parsed["groups"].as_array().map(Vec::len),
        Some(view.groups.len())
    );
}

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
