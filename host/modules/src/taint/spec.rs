//! Sources and sinks by name.

use crate::error::ModuleError;
use crate::model::Program;
use crate::names::Names;
use std::fmt;
use std::str::FromStr;

/// The part of a function that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Port {
    /// All results of a source, all parameters of a sink.
    All,
    /// One parameter.
    Parameter(u32),
    /// Memory, after a source has run or when a sink is called.
    Memory,
}

/// A source or a sink: `NAME`, `NAME:PARAMETER` or `NAME:memory`. A source of the name `load` are
/// all reads of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Name of a function: MODULE.FIELD or FIELD of an import, the name of an export, or that of
    /// the name section.
    pub name: String,
    /// Its part.
    pub port: Port,
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':');
        let (name, port) = match parts {
            Some((name, "memory")) => (name, Port::Memory),
            Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = number.parse();
                let number = number.map_err(|_| format!("{text}: no number of a parameter"))?;
                (name, Port::Parameter(number))
            }
            _ => (text, Port::All),
        };
        if name.is_empty() {
            return Err("expected NAME, NAME:PARAMETER or NAME:memory".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            port,
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Port::All => f.write_str(&self.name),
            Port::Parameter(number) => write!(f, "{}:{number}", self.name),
            Port::Memory => write!(f, "{}:memory", self.name),
        }
    }
}

/// The name of the source that all reads of memory are.
const LOAD: &str = "load";

impl Spec {
    /// Whether it is the source that all reads of memory are.
    pub(crate) fn is_load(&self) -> bool {
        self.name == LOAD && self.port == Port::All
    }

    /// Functions of the name.
    ///
    /// # Errors
    /// [`ModuleError::NoSuchName`] if there is none, or none with that parameter.
    pub(crate) fn functions<'n>(
        &self,
        role: &'static str,
        program: &Program,
        names: &'n Names,
    ) -> Result<&'n [u32], ModuleError> {
        let named = names.functions(role, &self.name)?;
        let has_parameter = |parameter: u32| {
            let has = |node: &u32| program.functions[*node as usize].parameters > parameter;
            named.iter().all(has)
        };
        match self.port {
            Port::Parameter(parameter) if !has_parameter(parameter) => {
                Err(ModuleError::NoSuchName {
                    role,
                    name: self.to_string(),
                    problem: "the function has fewer parameters; the first one is 0".to_owned(),
                })
            }
            _ => Ok(named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_ports() {
        let read = |text: &str| {
            text.parse::<Spec>()
                .map(|spec| (spec.name.clone(), spec.port))
        };
        assert_eq!(read("env.f"), Ok(("env.f".to_owned(), Port::All)));
        assert_eq!(
            read("env.f:2"),
            Ok(("env.f".to_owned(), Port::Parameter(2)))
        );
        assert_eq!(read("a:b"), Ok(("a:b".to_owned(), Port::All)));
        assert_eq!(read("f:memory"), Ok(("f".to_owned(), Port::Memory)));
        assert!(read("f:99999999999").is_err() && read(":1").is_err());
    }
}
