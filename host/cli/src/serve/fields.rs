//! The fields of a JSON object, taken by name: remaining fields are an error.
//!
//! `serde` reads an internally tagged enum leniently: fields of no variant are ignored, the last
//! of two fields of one name counts, a number names a variant, and numbers beyond 64 bits are
//! rounded. A client that misspells a field would get the answer to another question.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Characters of a value that a message shows.
const SHOWN: usize = 60;

/// The value that a client gave its query, which is returned verbatim.
#[derive(Clone, Debug, Default)]
pub(super) struct Id(Option<Box<RawValue>>);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    /// The query's value.
    pub(super) id: &'a Id,
    /// The other fields.
    #[serde(flatten)]
    pub(super) answer: &'a Value,
}

/// An object in its written order.
struct Object<'l>(Vec<(String, &'l RawValue)>);

impl<'l> Deserialize<'l> for Object<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'l> Visitor<'l> for Entries {
            type Value = Object<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Fields of an object that were not taken yet.
#[derive(Debug)]
pub(super) struct Fields<'l> {
    left: Vec<(String, &'l RawValue)>,
    /// Names of the requested fields.
    known: Vec<&'static str>,
    /// Precedes names in messages.
    path: String,
}

impl<'l> Fields<'l> {
    /// The fields of a line.
    ///
    /// # Errors
    /// `not_json` for invalid JSON, `bad_query` for other values than objects.
    pub(super) fn of_line(line: &'l [u8]) -> Result<Self, Value> {
        let object: Object<'l> = serde_json::from_slice(line).map_err(|error| {
            let kind = if error.is_data() {
                "bad_query"
            } else {
                "not_json"
            };
            let message = format!("no JSON object on this line: {error}");
            json!({"kind": kind, "message": message})
        })?;
        Ok(Self::of(object, String::new()))
    }

    /// The fields of the object `value`, which is called `path`.
    ///
    /// # Errors
    /// `bad_query` if it is not an object.
    pub(super) fn of_value(path: &str, value: &'l RawValue) -> Result<Self, Value> {
        let object = serde_json::from_str(value.get());
        let object = object.map_err(|_| wrong(path, value, "a JSON object"))?;
        Ok(Self::of(object, format!("{path}.")))
    }

    fn of(Object(left): Object<'l>, path: String) -> Self {
        let known = Vec::new();
        Self { left, known, path }
    }

    /// Refuses two fields of one name.
    ///
    /// # Errors
    /// `bad_query` with the name.
    pub(super) fn check_names(&self) -> Result<(), Value> {
        let mut names: Vec<&str> = self.left.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                let field = format!("{}{}", self.path, pair[0]);
                Err(bad(&field, &format!("{field:?} is given twice")))
            }
        }
    }

    /// The id, and whether it and the names of the fields are valid.
    pub(super) fn begin(&mut self) -> (Id, Result<(), Value>) {
        let names = self.check_names();
        match self.id() {
            Ok(id) => (id, names),
            Err(error) => (Id::default(), names.and(Err(error))),
        }
    }

    /// The value of `id`; null if there is none.
    ///
    /// # Errors
    /// `bad_query` for a text that is none: it would come back as it was written, and no strict reader
    /// of the answer takes it.
    fn id(&mut self) -> Result<Id, Value> {
        let value = self.raw("id");
        match value.filter(|value| has_half_a_pair(value.get())) {
            Some(value) => Err(wrong(
                "id",
                value,
                "a value whose texts have both halves of each surrogate pair",
            )),
            None => Ok(Id(value.map(ToOwned::to_owned))),
        }
    }

    /// A field verbatim; null counts as missing.
    fn raw(&mut self, name: &'static str) -> Option<&'l RawValue> {
        self.known.push(name);
        let at = self.left.iter().position(|(field, _)| field == name)?;
        let (_, value) = self.left.swap_remove(at);
        (value.get() != "null").then_some(value)
    }

    /// A required field; `what` describes it.
    ///
    /// # Errors
    /// `bad_query` with the field, and the value that is wrong.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        what: &str,
    ) -> Result<T, Value> {
        self.optional(name, what)?
            .ok_or_else(|| self.missing(name, what))
    }

    /// A field that may be left out.
    ///
    /// # Errors
    /// As for [`Fields::take`].
    pub(super) fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        what: &str,
    ) -> Result<Option<T>, Value> {
        let Some(value) = self.raw(name) else {
            return Ok(None);
        };
        let read = serde_json::from_str(value.get()).map(Some);
        read.map_err(|_| wrong(&format!("{}{name}", self.path), value, what))
    }

    /// The items of a list, with their names in messages.
    ///
    /// # Errors
    /// As for [`Fields::take`].
    pub(super) fn items(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<(String, &'l RawValue)>, Value> {
        let what = "a list";
        let value = self.raw(name).ok_or_else(|| self.missing(name, what))?;
        let path = format!("{}{name}", self.path);
        let items = serde_json::from_str::<Vec<&RawValue>>(value.get());
        let items = items.map_err(|_| wrong(&path, value, what))?;
        let named = (0..).zip(items);
        Ok(named
            .map(|(at, item): (usize, _)| (format!("{path}[{at}]"), item))
            .collect())
    }

    /// The fields of an object that may be left out, by their names.
    ///
    /// # Errors
    /// As for [`Fields::take`], and for two fields of one name.
    pub(super) fn named(&mut self, name: &'static str) -> Result<Vec<(String, Value)>, Value> {
        let Some(value) = self.raw(name) else {
            return Ok(Vec::new());
        };
        let path = format!("{}{name}", self.path);
        let fields = Self::of_value(&path, value)?;
        fields.check_names()?;
        let read = |(name, value): (String, &RawValue)| {
            let read = serde_json::from_str(value.get());
            let read = read.map_err(|_| wrong(&format!("{path}.{name}"), value, "a list"))?;
            Ok((name, read))
        };
        fields.given().map(read).collect()
    }

    /// Fields that were not taken, but for those that are null, which count as left out.
    fn given(self) -> impl Iterator<Item = (String, &'l RawValue)> {
        let fields = self.left.into_iter();
        fields.filter(|(_, value)| value.get() != "null")
    }

    /// Ends the fields of `what`.
    ///
    /// # Errors
    /// `bad_query` with a remaining field.
    pub(super) fn end(self, what: &str) -> Result<(), Value> {
        let known = self.known.join(", ");
        let path = self.path.clone();
        let Some((name, _)) = self.given().next() else {
            return Ok(());
        };
        let field = format!("{path}{name}");
        Err(bad(
            &field,
            &format!("{what} has no field {field:?}; it has {known}"),
        ))
    }

    fn missing(&self, name: &str, what: &str) -> Value {
        let field = format!("{}{name}", self.path);
        bad(&field, &format!("{field:?} is missing; it is {what}"))
    }
}

/// Whether a text in JSON has an escape of a surrogate without the other one of its pair. A backslash
/// stands in texts alone.
fn has_half_a_pair(json: &str) -> bool {
    let mut rest = json;
    let mut is_open = false;
    while let Some(at) = rest.find('\\') {
        let follows = at == 0;
        let escape = &rest[at + 1..];
        let code = escape.strip_prefix('u').and_then(|hex| hex.get(..4));
        let code = code.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let is_low = code.is_some_and(|code| (0xDC00..0xE000).contains(&code));
        let is_whole = if is_open { follows && is_low } else { !is_low };
        if !is_whole {
            return true;
        }
        is_open = code.is_some_and(|code| (0xD800..0xDC00).contains(&code));
        // Of other escapes one byte, which is no other character's.
        rest = &escape[if code.is_some() { 5 } else { 1 }..];
    }
    is_open
}

pub(super) fn wrong(field: &str, value: &RawValue, what: &str) -> Value {
    let text = value.get();
    let shown: String = text.chars().take(SHOWN).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    bad(
        field,
        &format!("{field:?} is {shown}{rest}; it must be {what}"),
    )
}

pub(super) fn bad(field: &str, message: &str) -> Value {
    json!({"kind": "bad_query", "field": field, "message": message})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_found() {
        let whole = [
            r#""\ud83d\ude00""#,
            r#""a\\ud800""#,
            r#""\\\ud83d\ude00\ud83d\ude00""#,
            r#"["\u0041\n\"", 7, {"\ud83d\ude00": null}]"#,
            "1e400",
        ];
        for text in whole {
            assert!(!has_half_a_pair(text), "{text}");
        }
        let half = [
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud83d \ude00""#,
            r#""\ud83d\n\ude00""#,
            r#""\ud83d\ud83d\ude00""#,
            r#""\ud83d\ude00\ude00""#,
            r#"["\ud83d","\ude00"]"#,
            r#"{"\uDBFF": 1}"#,
            r#""\\\ud800""#,
        ];
        for text in half {
            assert!(has_half_a_pair(text), "{text}");
        }
    }
}
