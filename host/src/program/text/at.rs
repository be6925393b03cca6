//! A part of a JSON text and its place.

use super::error::{TextError, TextProblem};
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub(super) struct At<'t> {
    value: &'t Value,
    place: String,
}

impl<'t> At<'t> {
    pub(super) const fn whole_text(value: &'t Value) -> Self {
        let place = String::new();
        Self { value, place }
    }

    /// A list of values outside a program's text, by its name.
    pub(super) fn value_of(name: &str, value: &'t Value) -> Self {
        let place = name.to_owned();
        Self { value, place }
    }

    /// The place, such as `waves[2]`.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn error(&self, problem: TextProblem) -> TextError {
        let place = match self.place.as_str() {
            "" => "the program".to_owned(),
            place => place.to_owned(),
        };
        TextError::At { place, problem }
    }

    fn expected(&self, what: &'static str) -> TextError {
        self.error(TextProblem::Expected { what })
    }

    pub(super) fn unknown(&self, what: &'static str, known: &str) -> TextError {
        self.error(TextProblem::Unknown {
            what,
            name: self.value.as_str().unwrap_or_default().to_owned(),
            known: known.to_owned(),
        })
    }

    fn object(&self) -> Result<&'t Map<String, Value>, TextError> {
        let object = self.value.as_object();
        object.ok_or_else(|| self.expected("an object"))
    }

    /// Refuses fields that are not among `known`.
    pub(super) fn check_fields(&self, known: &[&str]) -> Result<(), TextError> {
        let mut names = self.object()?.keys();
        let Some(name) = names.find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        Err(self.error(TextProblem::Unknown {
            what: "field",
            name: name.clone(),
            known: known.join(", "),
        }))
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some()
    }

    /// A field that may be missing.
    pub(super) fn optional(&self, name: &'static str) -> Result<Option<Self>, TextError> {
        let dot = if self.place.is_empty() { "" } else { "." };
        Ok(self.object()?.get(name).map(|value| Self {
            value,
            place: format!("{}{dot}{name}", self.place),
        }))
    }

    pub(super) fn field(&self, name: &'static str) -> Result<Self, TextError> {
        let found = self.optional(name)?;
        found.ok_or_else(|| self.error(TextProblem::Missing { what: name }))
    }

    /// The entries of a list.
    pub(super) fn items(&self) -> Result<Vec<Self>, TextError> {
        let list = self.value.as_array();
        let list = list.ok_or_else(|| self.expected("a list"))?;
        let items = list.iter().enumerate().map(|(index, value)| Self {
            value,
            place: format!("{}[{index}]", self.place),
        });
        Ok(items.collect())
    }

    pub(super) fn as_text(&self) -> Option<&'t str> {
        self.value.as_str()
    }

    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn text(&self) -> Result<&'t str, TextError> {
        self.as_text().ok_or_else(|| self.expected("a string"))
    }

    /// A whole number of 64 bits.
    pub(super) fn long(&self) -> Result<u64, TextError> {
        let number = self.value.as_u64();
        number.ok_or_else(|| self.expected("a whole number below 2^64"))
    }

    /// A whole number of 32 bits.
    pub(super) fn word(&self) -> Result<u32, TextError> {
        let number = self
            .value
            .as_u64()
            .and_then(|long| u32::try_from(long).ok());
        number.ok_or_else(|| self.expected("a whole number below 2^32"))
    }

    /// A whole number of 32 bits in code, where others have their kind beside them.
    pub(super) fn constant(&self) -> Result<u32, TextError> {
        let what = "a whole number below 2^32, or one with its kind, such as [\"f32\", 0.5]";
        self.word().map_err(|_| self.expected(what))
    }

    /// A whole number of 32 bits with a sign.
    pub(super) fn signed(&self) -> Result<i32, TextError> {
        let number = self
            .value
            .as_i64()
            .and_then(|long| i32::try_from(long).ok());
        number.ok_or_else(|| self.expected("a whole number from -2^31 to 2^31 - 1"))
    }

    pub(super) fn float(&self) -> Result<f32, TextError> {
        let number = self.value.as_f64().map(|number| number as f32);
        let number = number.filter(|number| number.is_finite());
        number.ok_or_else(|| self.expected("a number that a float of 32 bits holds"))
    }

    /// Whether it is true.
    pub(super) fn flag(&self) -> Result<bool, TextError> {
        let flag = self.value.as_bool();
        flag.ok_or_else(|| self.expected("true or false"))
    }

    /// The choice that the string names.
    pub(super) fn choice<T>(
        &self,
        what: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, TextError>
    where
        T: Copy,
    {
        let name = self.text()?;
        let found = choices.iter().find(|(known, _)| *known == name);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
            self.unknown(what, &known.join(", "))
        })
    }
}
