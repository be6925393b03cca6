//! Diagrams: every box and arrow is there, boxes lie apart, and arrows cross none.

use super::pictures::{assert_whole, attribute, corners, elements, number};
use proptest::prelude::*;
use seawall_cli::report::canvas::PictureFormat;
use seawall_cli::report::diagram::{
    self, ARROWS_MAX, Arrow, ArrowKind, BOXES_MAX, BoxKind, Diagram, Sample, TextBox, refusal,
};

type Area = [f64; 4];
type Drawn = (Vec<Vec<String>>, Vec<(usize, usize)>);

fn diagram(boxes: &[Vec<String>], arrows: &[(usize, usize)]) -> Diagram {
    let text = |lines: &Vec<String>| TextBox {
        kind: BoxKind::Plain,
        is_on_way: false,
        lines: lines.clone(),
        hint: String::new(),
    };
    let arrow = |(from, to): &(usize, usize)| Arrow {
        from: *from,
        to: *to,
        kind: if from < to {
            ArrowKind::Plain
        } else {
            ArrowKind::Back
        },
    };
    Diagram {
        title: "a title".to_owned(),
        notes: vec!["a note".to_owned()],
        boxes: boxes.iter().map(text).collect(),
        arrows: arrows.iter().map(arrow).collect(),
        legend: Vec::new(),
    }
}

fn draw(diagram: &Diagram) -> String {
    let mut bytes = Vec::new();
    diagram::write(diagram, PictureFormat::Svg, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Places of the boxes of a class.
fn areas(picture: &str, class: &str) -> Vec<Area> {
    let rects = elements(picture, "rect").into_iter();
    let rects = rects.filter(|rect| rect.starts_with(&format!("<rect class=\"{class}\"")));
    let area = |rect| {
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(rect, name));
        [x, y, x + width, y + height]
    };
    rects.map(area).collect()
}

/// Whether a straight line passes the inside of an area (Liang and Barsky, 1984).
fn crosses(line: [[f64; 2]; 2], area: Area) -> bool {
    let inside = 0.2;
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (start, step) = (line[0][axis], line[1][axis] - line[0][axis]);
        let (low, high) = (area[axis] + inside - start, area[axis + 2] - inside - start);
        if step.abs() < 1e-9 {
            if low >= 0.0 || high <= 0.0 {
                return false;
            }
            continue;
        }
        let (one, other) = (low / step, high / step);
        first = first.max(one.min(other));
        last = last.min(one.max(other));
    }
    first < last
}

fn overlap(one: Area, other: Area) -> bool {
    (0..2).all(|axis| one[axis] < other[axis + 2] && other[axis] < one[axis + 2])
}

/// Asserts what holds of every diagram.
fn check(boxes: &[Vec<String>], arrows: &[(usize, usize)]) {
    let picture = draw(&diagram(boxes, arrows));
    assert_whole(&picture);
    let areas = areas(&picture, "box");
    assert_eq!(areas.len(), boxes.len());
    for (at, one) in areas.iter().enumerate() {
        for other in &areas[at + 1..] {
            assert!(!overlap(*one, *other), "{one:?} and {other:?}");
        }
    }
    let lines = elements(&picture, "polyline");
    assert_eq!(lines.len(), arrows.len());
    let back = lines
        .iter()
        .filter(|line| attribute(line, "class") == "back");
    assert_eq!(
        back.count(),
        arrows.iter().filter(|(from, to)| to <= from).count()
    );
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        let corners = corners(line);
        for pair in corners.windows(2) {
            for area in &areas {
                assert!(
                    !crosses([pair[0], pair[1]], *area),
                    "{pair:?} crosses {area:?}"
                );
            }
        }
        let touched = |[x, y]: [f64; 2]| {
            let near = |area: &Area| {
                let [left, top, right, bottom] = *area;
                let is_level = left - 0.2 <= x && x <= right + 0.2;
                let is_upright = top - 0.2 <= y && y <= bottom + 0.2;
                is_level && is_upright
            };
            areas.iter().position(near).unwrap()
        };
        ends.push((touched(corners[0]), touched(corners[corners.len() - 1])));
    }
    let mut expected = arrows.to_vec();
    expected.sort_unstable();
    ends.sort_unstable();
    assert_eq!(ends, expected);
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let line = prop_oneof![
        Just(String::new()),
        "[a-z_]{1,50}",
        "[<>&\"'W数\u{1b}]{1,40}"
    ];
    let boxes = prop::collection::vec(prop::collection::vec(line, 1..5), 1..30);
    boxes.prop_flat_map(|boxes| {
        let count = boxes.len();
        let arrows = prop::collection::btree_set((0..count, 0..count), 0..3 * count);
        (
            Just(boxes),
            arrows.prop_map(|arrows| arrows.into_iter().collect()),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn boxes_of_any_diagram_lie_apart_and_arrows_join_them((boxes, arrows) in drawn()) {
        check(&boxes, &arrows);
    }
}

#[test]
fn chains_stars_and_ladders_are_drawn() {
    for count in [1, 2, 40, BOXES_MAX] {
        let boxes: Vec<Vec<String>> = (0..count).map(|at| vec![format!("block {at}")]).collect();
        let chain: Vec<_> = (1..count).map(|at| (at - 1, at)).collect();
        let star: Vec<_> = (1..count).map(|at| (0, at)).collect();
        let ladder = chain
            .iter()
            .copied()
            .chain((2..count).map(|at| (at, at - 2)));
        for arrows in [Vec::new(), chain.clone(), star, ladder.collect()] {
            check(&boxes, &arrows);
        }
    }
}

#[test]
fn larger_ones_are_refused_with_their_size() {
    assert_eq!(refusal(BOXES_MAX, ARROWS_MAX), None);
    let reason = refusal(29_751, 44_000).unwrap();
    for part in ["29 751", "44 000", "512", "1 024"] {
        let plain = part.replace(' ', ",");
        assert!(reason.contains(&plain), "{reason}");
    }
    assert!(refusal(1, ARROWS_MAX + 1).is_some());
}

#[test]
fn kinds_have_looks_and_the_legend_has_those_that_occur() {
    let boxes = [vec!["one".to_owned()], vec!["two".to_owned()]];
    let mut drawn = diagram(&boxes, &[(0, 1), (1, 0)]);
    drawn.boxes[0].kind = BoxKind::Import;
    drawn.boxes[1].is_on_way = true;
    drawn.arrows[0].kind = ArrowKind::Way;
    drawn.legend = vec![
        (Sample::Box(BoxKind::Import), "imported"),
        (Sample::Box(BoxKind::Export), "exported"),
        (Sample::OnWay, "on the way"),
        (Sample::Arrow(ArrowKind::Way), "steps"),
        (Sample::Arrow(ArrowKind::Gap), "gaps"),
    ];
    let picture = draw(&drawn);
    // A box or an arrow, and its sample.
    for (class, count) in [
        ("outer", 2),
        ("ring", 2),
        ("way", 2),
        ("back", 1),
        ("gap", 0),
    ] {
        let found = picture.matches(&format!("class=\"{class}\"")).count();
        assert_eq!(found, count, "{class}");
    }
    assert!(picture.contains(">imported<") && picture.contains(">steps<"));
    assert!(!picture.contains(">exported<") && !picture.contains(">gaps<"));
    // A tip has the colour of its line.
    assert!(picture.contains("class=\"way\" marker-end=\"url(#tip-way)\""));
}

#[test]
fn a_png_is_drawn_and_one_that_is_too_large_is_refused() {
    let boxes: Vec<Vec<String>> = (0..BOXES_MAX).map(|at| vec![at.to_string()]).collect();
    let chain: Vec<_> = (1..BOXES_MAX).map(|at| (at - 1, at)).collect();
    let write = |diagram: &Diagram| {
        let mut bytes = Vec::new();
        diagram::write(diagram, PictureFormat::Png, &mut bytes).map(|()| bytes)
    };
    let small = write(&diagram(&boxes[..9], &chain[..8])).unwrap();
    assert!(small.starts_with(b"\x89PNG"));
    let refused = write(&diagram(&boxes, &chain)).unwrap_err().to_string();
    assert!(refused.contains("write it as .svg"), "{refused}");
}
