//! The plan as an ASCII drawing, for a person at a terminal.

use std::io::{self, Write};

use seawall_core::plan::{Execution, Group};

use super::{DevicesView, PlanView};
use seawall::units::{Count, Nanoseconds, bytes, counted};

/// Most groups drawn; further ones are counted.
const GROUPS_SHOWN: usize = 40;
/// Most waves drawn in one group.
const WAVES_SHOWN: usize = 12;
/// Width of the bar that shows how full a group is, in letters.
const BAR_LETTERS: u64 = 24;
/// Letters between the margins.
const WIDTH: usize = 72;

/// Draws the groups from top to bottom with the barriers between them, then lists the peaks. The
/// output is bounded for plans of any size.
///
/// # Errors
/// [`std::io::Error`] of `out`.
pub fn write(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    heading(view, out)?;
    for (number, group) in view.groups.iter().take(GROUPS_SHOWN).enumerate() {
        if number > 0 {
            let exchange = match view.exchange_before(number) {
                Some(exchange) => format!(
                    "of all devices, each receives {} ",
                    bytes(exchange.received_bytes)
                ),
                None => String::new(),
            };
            writeln!(
                out,
                "  {:=^WIDTH$}",
                format!(" barrier {number} {exchange}")
            )?;
        }
        draw_group(view, number, &group, out)?;
    }
    let hidden = view.groups.len().saturating_sub(GROUPS_SHOWN);
    if hidden > 0 {
        writeln!(
            out,
            "  ... and {}; --format json lists all",
            counted(hidden as u64, "more group")
        )?;
    }
    peaks(view, out)
}

fn heading(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let summary = view.groups.summary();
    writeln!(
        out,
        "{} in {}, {}",
        counted(view.dag.waves.len() as u64, "wave"),
        counted(view.groups.len() as u64, "group"),
        counted(summary.global_barriers, "global barrier"),
    )?;
    if view.groups.is_proved_optimal() {
        writeln!(out, "No plan has fewer groups.")?;
    } else {
        writeln!(
            out,
            "No plan has fewer than {}.",
            counted(summary.lower_bound, "group")
        )?;
    }
    if !view.groups.is_empty() {
        writeln!(
            out,
            "Waves of a group run at the same time; at a barrier all wait for all.\n"
        )?;
    }
    match &view.devices {
        Some(devices) => devices_heading(devices, out),
        None => Ok(()),
    }
}

/// Writes how often devices exchange, and what that buys.
fn devices_heading(devices: &DevicesView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (exchanges, prediction) = (devices.exchanges, devices.prediction);
    let count = counted(u64::from(exchanges.devices()), "device");
    let found = counted(exchanges.len() as u64, "exchange");
    let least = match exchanges.lower_bound() == exchanges.len() as u64 {
        true => "no grouping has fewer".to_owned(),
        false => format!(
            "these groups take no fewer, and none takes fewer than {}",
            exchanges.lower_bound()
        ),
    };
    writeln!(out, "Each of {count} has this plan, with {found}; {least}.")?;
    let better = match prediction.is_one_faster() {
        true => "one device",
        false => "all of them",
    };
    writeln!(
        out,
        "Predicted from bytes: {} on one device, {} on all; {better} is the better choice.\n",
        Nanoseconds(prediction.one_ns),
        Nanoseconds(prediction.all_ns)
    )
}

fn draw_group(
    view: &PlanView<'_>,
    number: usize,
    group: &Group<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let fill = match view.group_budget() {
        Some(budget) => {
            let bar = bar(group.fused_bytes, budget);
            format!("[{bar}] {} of {}", bytes(group.fused_bytes), bytes(budget))
        }
        None => bytes(group.fused_bytes).to_string(),
    };
    writeln!(out, "  group {number:<4} {fill}")?;
    for &wave in group.waves.iter().take(WAVES_SHOWN) {
        let size = bytes(view.fused_bytes(wave)).to_string();
        writeln!(out, "    | wave {:<40} {size:>12}", view.label(wave))?;
    }
    let hidden = group.waves.len().saturating_sub(WAVES_SHOWN);
    if hidden > 0 {
        writeln!(out, "    | ... and {}", counted(hidden as u64, "more wave"))?;
    }
    Ok(())
}

/// A bar filled to `part` of `whole`; any part above 0 is visible.
fn bar(part: u64, whole: u64) -> String {
    let full = u128::from(part) * u128::from(BAR_LETTERS);
    let letters = full
        .div_ceil(u128::from(whole.max(1)))
        .min(u128::from(BAR_LETTERS)) as usize;
    format!("{:.<1$}", "#".repeat(letters), BAR_LETTERS as usize)
}

fn peaks(view: &PlanView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let summary = view.groups.summary();
    writeln!(out)?;
    for (name, size) in [
        ("largest group", summary.peak_group_bytes),
        ("largest frontier", summary.peak_frontier_bytes),
        ("largest scratch", summary.peak_scratch_bytes),
        ("largest output", summary.peak_output_bytes),
        ("readback", summary.amortized_readback_bytes),
    ] {
        size_row(out, name, size, "")?;
    }
    match (view.execution, view.shortfall) {
        (Some(plan), _) => execution(out, plan),
        (None, Some(short)) => writeln!(
            out,
            "  {:<18}none fits; packed groups need a budget of {} bytes",
            "arena",
            Count(short.required_bytes)
        ),
        (None, None) => writeln!(out, "  {:<18}larger than 64 bits can count", "arena"),
    }
}

/// Memory and shape of running the groups.
fn execution(out: &mut dyn Write, plan: &Execution<'_>) -> io::Result<()> {
    let arena = &plan.arena;
    let note = format!("; no arena is smaller than {}", bytes(arena.lower_bound()));
    size_row(out, "arena", arena.bytes(), &note)?;
    if !plan.results_stay {
        writeln!(
            out,
            "  {:<18}do not fit together; read each after its group",
            "results"
        )?;
    }
    size_row(out, "with the graph", plan.required_bytes, "")?;
    let (topology, reason) = (plan.memory.topology, plan.decision.reason);
    if plan.downgraded {
        let wanted = plan.decision.topology;
        writeln!(out, "  {:<18}{topology}; {wanted} does not fit", "topology")
    } else {
        writeln!(out, "  {:<18}{topology} ({reason})", "topology")
    }
}

fn size_row(out: &mut dyn Write, name: &str, size: u64, note: &str) -> io::Result<()> {
    writeln!(
        out,
        "  {name:<18}{:>10}  ({} bytes{note})",
        bytes(size).to_string(),
        Count(size)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;
    use super::*;

    #[test]
    fn groups_are_drawn_from_top_to_bottom_with_barriers_between() {
        let text = written(["load", "left", "right", "join"], write);
        let order: Vec<_> = [
            "group 0",
            "0 load",
            "barrier 1",
            "group 1",
            "1 left",
            "2 right",
            "barrier 2",
            "3 join",
        ]
        .iter()
        .map(|part| {
            text.find(part)
                .unwrap_or_else(|| panic!("{part:?} is not in\n{text}"))
        })
        .collect();
        assert!(order.is_sorted(), "{text}");
        assert!(
            text.starts_with("4 waves in 3 groups, 2 global barriers\nNo plan has fewer groups.\n")
        );
    }

    #[test]
    fn names_cannot_command_the_terminal() {
        assert!(!written(["\u{1b}[31m", "b", "c", "d"], write).contains('\u{1b}'));
    }

    #[test]
    fn bars_are_full_only_if_the_group_is() {
        assert_eq!(bar(0, 10), "........................");
        assert_eq!(bar(1, u64::MAX), "#.......................");
        assert_eq!(bar(5, 10), "############............");
        assert_eq!(bar(u64::MAX, u64::MAX), "########################");
        assert_eq!(bar(0, 0), "........................");
    }
}
