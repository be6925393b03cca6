//! The known name that a wrong one was probably meant to be.

use strsim::osa_distance;

/// Longest name that is compared, in characters: the work is quadratic.
const CHARACTERS_MAX: usize = 64;

/// Returns the known name that `name` differs least from, if it is near: at most a third of its
/// letters are wrong, missing, too many or swapped with their neighbours. Capitals do not count.
///
/// ```
/// use seawall_graph::nearest;
/// assert_eq!(nearest("gird", ["rmat", "grid", "chain"]), Some("grid"));
/// assert_eq!(nearest("ring", ["rmat", "chain"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = lower(name)?;
    let distance = |known: &'a str| {
        let letters = lower(known)?;
        let most = given.chars().count().max(letters.chars().count()) / 3;
        let distance = osa_distance(&given, &letters);
        (distance <= most).then_some((distance, known))
    };
    let near = known.into_iter().filter_map(distance);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the question after `name` in an error: empty, or ` (did you mean "grid"?)`.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

/// The letters of a name that is compared, in lower case.
fn lower(name: &str) -> Option<String> {
    let count = name.chars().take(CHARACTERS_MAX + 1).count();
    (1..=CHARACTERS_MAX)
        .contains(&count)
        .then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_meant() {
        let names = ["value", "node", "name"];
        assert_eq!(nearest("vlaue", names), Some("value"));
        assert_eq!(nearest("nod", names), Some("node"));
        assert_eq!(nearest("weight", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"value".repeat(20), names), None);
        assert_eq!(did_you_mean("nmae", names), " (did you mean \"name\"?)");
        assert_eq!(did_you_mean("x", names), "");
    }
}
