//! Pictures are complete: every text lies within them, and no arrow of a plan crosses the box of
//! another wave.

use super::{Fixture, finish, seawall};
use proptest::prelude::*;
use seawall_cli::report::plan::{PlanView, svg};
use seawall_core::plan::{
    Budget, Dag, Dependency, Requirements, Strategy as Planning, Wave, groups,
};
use seawall_core::scratch::{GroupScratchView, ScratchView};

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

/// The value of an attribute of the element that `text` begins with.
pub(super) fn attribute<'a>(text: &'a str, name: &str) -> &'a str {
    let element = &text[..text.find('>').unwrap()];
    let start = element.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    &element[start..start + element[start..].find('"').unwrap()]
}

pub(super) fn number(text: &str, name: &str) -> f64 {
    attribute(text, name).parse().unwrap()
}

/// The elements of a name, each from its start to the end of the picture.
pub(super) fn elements<'a>(picture: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("<{name} ");
    let at = picture.match_indices(&start);
    at.map(|(at, _)| &picture[at..]).collect()
}

/// Estimates the width of a text independently, from the letters of common fonts: narrow ones, the
/// rest of the Latin script, and others.
fn width_of(text: &str, size: f64) -> f64 {
    let letters = text.chars().map(|letter| match letter {
        _ if "ijlI.,:;|!' ".contains(letter) => 0.34,
        _ if "ftr()-/".contains(letter) => 0.44,
        _ if letter.is_ascii() => 0.56,
        '…' => 0.9,
        _ => 1.0,
    });
    letters.sum::<f64>() * size
}

/// Returns the content of a text element, unescaped.
fn content(element: &str) -> String {
    let text = &element[element.find('>').unwrap() + 1..element.find("</text>").unwrap()];
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn text_areas(picture: &str) -> Vec<(String, Area)> {
    let area = |element: &&str| {
        let (x, y) = (number(element, "x"), number(element, "y"));
        let size = if attribute(element, "class") == "title" {
            16.0
        } else {
            12.0
        };
        let text = content(element);
        let width = width_of(&text, size);
        let left = match attribute(element, "text-anchor") {
            "start" => x,
            "middle" => x - width / 2.0,
            _ => x - width,
        };
        (text, [left, y - 0.8 * size, left + width, y + 0.25 * size])
    };
    elements(picture, "text").iter().map(area).collect()
}

/// Asserts that every text lies within the view box.
pub(super) fn assert_whole(picture: &str) {
    let view: Vec<f64> = attribute(picture, "viewBox")
        .split(' ')
        .map(|word| word.parse().unwrap())
        .collect();
    for (text, [left, top, right, bottom]) in text_areas(picture) {
        let is_inside = left >= 0.0 && top >= 0.0 && right <= view[2] && bottom <= view[3];
        assert!(is_inside, "{text:?} at {left}..{right}, {top}..{bottom}");
    }
}

pub(super) fn corners(arrow: &str) -> Vec<[f64; 2]> {
    let pair = |pair: &str| {
        let (x, y) = pair.split_once(',').unwrap();
        [x.parse().unwrap(), y.parse().unwrap()]
    };
    attribute(arrow, "points").split(' ').map(pair).collect()
}

/// Returns whether a horizontal or vertical line crosses the inside of an area.
fn crosses(line: &[[f64; 2]], area: Area) -> bool {
    let [[x1, y1], [x2, y2]] = [line[0], line[1]];
    assert!(
        x1 == x2 || y1 == y2,
        "{line:?} is neither level nor upright"
    );
    let inside = 0.1;
    x1.min(x2) < area[2] - inside
        && x1.max(x2) > area[0] + inside
        && y1.min(y2) < area[3] - inside
        && y1.max(y2) > area[1] + inside
}

/// Asserts that arrows cross no box and no text. They start and end at the edges of their own
/// boxes, so even those are not crossed.
fn assert_clear(picture: &str) {
    let boxes = elements(picture, "rect").into_iter();
    let boxes = boxes.filter(|rect| rect.starts_with("<rect class=\"box\""));
    let areas = boxes.map(|rect| {
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(rect, name));
        ("a box".to_owned(), [x, y, x + width, y + height])
    });
    let areas: Vec<(String, Area)> = areas.chain(text_areas(picture)).collect();
    for arrow in elements(picture, "polyline") {
        for line in corners(arrow).windows(2) {
            for (what, area) in &areas {
                assert!(!crosses(line, *area), "{line:?} crosses {what} {area:?}");
            }
        }
    }
}

type Drawing = (Vec<(u64, String)>, Vec<(u32, u32)>, u64);

/// Plans of up to `most` waves of all shapes, with names that do not fit.
fn drawings(most: usize) -> impl Strategy<Value = Drawing> {
    let name = prop_oneof![
        Just(String::new()),
        "[a-z]{1,40}",
        "[<>&\"'W数\u{1b}]{1,40}",
    ];
    let waves = prop::collection::vec((1..1000_u64, name), 1..=most);
    (waves, any::<prop::sample::Index>(), 1..5000_u64).prop_flat_map(|(waves, _, budget)| {
        let count = waves.len() as u32;
        let pair = (0..count, 0..count).prop_map(|(a, b)| (a.min(b), a.max(b)));
        let pairs = prop::collection::vec(pair, 0..2 * count as usize);
        let edges = pairs.prop_map(|mut pairs| {
            pairs.retain(|(before, after)| before != after);
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        });
        (Just(waves), edges, Just(budget))
    })
}

fn draw(waves: &[(u64, String)], edges: &[(u32, u32)], budget: u64) -> String {
    let names: Vec<_> = waves.iter().map(|(_, name)| Some(name.clone())).collect();
    let waves: Vec<Wave> = waves
        .iter()
        .map(|(bytes, _)| Wave {
            frontier_bytes: *bytes,
            scratch_bytes: 0,
            output_bytes: 0,
        })
        .collect();
    let dependencies: Vec<Dependency> = edges
        .iter()
        .map(|&(before, after)| Dependency { before, after })
        .collect();
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let needs = Requirements::for_dag(waves.len(), dependencies.len());
    let (mut layers, mut depends) = (vec![0; needs.layer_words], vec![0; needs.dependency_words]);
    let (mut words, mut bytes) = (vec![0; needs.pack_words], vec![0; needs.pack_bytes]);
    let space = GroupScratchView::new(
        ScratchView::new(&mut layers, &mut depends),
        &mut words,
        &mut bytes,
    );
    let budget = Budget {
        resident_bytes: 0,
        budget_bytes: 1000 + budget,
        readback_bytes: 0,
    };
    let groups = groups(&dag, &budget, Planning::Packed, space).unwrap();
    let view = PlanView {
        dag,
        names: &names,
        budget,
        groups: &groups,
        execution: None,
        shortfall: None,
        devices: None,
    };
    let mut picture = Vec::new();
    svg::write(&view, &mut picture).unwrap();
    String::from_utf8(picture).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arrows_of_any_plan_leave_names_alone_and_texts_stay_inside((waves, edges, budget) in drawings(40)) {
        let picture = draw(&waves, &edges, budget);
        assert_whole(&picture);
        assert_clear(&picture);
        prop_assert_eq!(elements(&picture, "polyline").len(), edges.len());
        prop_assert_eq!(picture.matches("class=\"box\"").count(), waves.len());
    }
}

/// A chain, a wide plan and a ladder of each size.
#[test]
fn plans_of_any_size_are_whole() {
    for count in [1, 7, 40, 200] {
        let wave = |at: u32| (500, format!("a wave with a long name {at}"));
        let waves: Vec<_> = (0..count).map(wave).collect();
        let chain: Vec<_> = (1..count).map(|at| (at - 1, at)).collect();
        let far = (0..count).filter(|at| at + 30 < count);
        let ladder = chain.iter().copied().chain(far.map(|at| (at, at + 30)));
        for edges in [chain.clone(), Vec::new(), ladder.collect()] {
            for budget in [0, 5000, 1_000_000] {
                let picture = draw(&waves, &edges, budget);
                assert_whole(&picture);
                assert_clear(&picture);
            }
        }
    }
}

#[test]
fn crossed_boxes_and_cut_texts_are_found() {
    let area = [10.0, 10.0, 20.0, 20.0];
    assert!(crosses(&[[0.0, 15.0], [30.0, 15.0]], area));
    assert!(crosses(&[[15.0, 0.0], [15.0, 12.0]], area));
    assert!(!crosses(&[[0.0, 20.0], [30.0, 20.0]], area));
    let cut = "<svg viewBox=\"0 0 50 50\"><text class=\"faint\" x=\"40\" y=\"40\" \
               text-anchor=\"middle\">1106 to 1112</text></svg>";
    assert!(std::panic::catch_unwind(|| assert_whole(cut)).is_err());
}

/// Names of files and waves are text, for any content.
#[test]
fn hostile_names_stay_text() {
    let hostile = "</text><script>alert(1)</script>&amp;\"'";
    let picture = draw(&[(1, hostile.to_owned())], &[], 0);
    assert!(!picture.contains("<script"), "{picture}");
    assert_eq!(
        picture.matches("<text").count(),
        picture.matches("</text>").count()
    );
    assert!(picture.contains("&amp;amp;&quot;"), "{picture}");
}

/// The picture of every analysis, of graphs with narrow and wide ranges of values.
#[test]
fn the_picture_of_every_analysis_is_whole() {
    let file = Fixture::new("roads.el", b"0 1 4000000000\n1 2 7\n0 2 100\n9 0 1\n");
    for graph in [file.path(), "gen:rmat:9:8", "gen:grid:40", "gen:chain:1500"] {
        for analysis in [
            "bfs",
            "reach",
            "cc",
            "sssp",
            "pagerank",
            "kcore",
            "triangles",
        ] {
            let plot = file.beside("plot.svg");
            let run = [
                "run",
                graph,
                "--undirected",
                "--backend",
                "cpu",
                "--threads",
                "1",
                "--quiet",
                "--analysis",
                analysis,
                "--source",
                "0",
                "--plot",
                &plot,
            ];
            let ran = finish(&mut seawall(&run));
            assert_eq!(
                (ran.code, ran.stderr.as_str()),
                (0, ""),
                "{graph} {analysis}"
            );
            let picture = std::fs::read_to_string(&plot).unwrap();
            assert_whole(&picture);
            let labels = text_areas(&picture);
            let axis: Vec<_> = labels.iter().filter(|(_, area)| area[3] > 310.0).collect();
            for (at, (one, a)) in axis.iter().enumerate() {
                for (other, b) in &axis[at + 1..] {
                    let apart = a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
                    assert!(apart, "{graph} {analysis}: {one:?} over {other:?}");
                }
            }
        }
    }
}

#[test]
fn ranks_of_a_skewed_graph_are_more_than_one_bar() {
    let folder = Fixture::new("x", b"");
    let plot = folder.beside("ranks.svg");
    let run = [
        "run",
        "gen:rmat:10:8",
        "--analysis",
        "pagerank",
        "--backend",
        "cpu",
        "--quiet",
        "--plot",
        &plot,
    ];
    assert_eq!(finish(&mut seawall(&run)).code, 0);
    let picture = std::fs::read_to_string(&plot).unwrap();
    assert!(picture.contains("rank (logarithmic axis"));
    let bars = elements(&picture, "rect").into_iter();
    let bars = bars.filter(|rect| rect.starts_with("<rect class=\"bar\""));
    assert!(bars.filter(|bar| number(bar, "height") > 5.0).count() > 20);
}
