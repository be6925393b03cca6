//! Functions by their names.

use crate::error::ModuleError;
use crate::model::Program;
use hashbrown::HashMap;
use seawall::graph::did_you_mean;

/// Functions of a program by name: MODULE.FIELD or FIELD of an import, the name of an export, or
/// that of the name section.
#[derive(Clone, Debug, Default)]
pub struct Names {
    functions: HashMap<String, Vec<u32>>,
}

impl Names {
    /// The names of a program. Costs a pass over its functions.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut names = Self {
            functions: HashMap::with_capacity(program.functions.len()),
        };
        for (number, function) in (0..).zip(&program.functions) {
            if let Some((module, field)) = &function.import {
                names.add(&format!("{module}.{field}"), number);
                names.add(field, number);
                continue;
            }
            for name in function.name.iter().chain(&function.exports) {
                names.add(name, number);
            }
        }
        names
    }

    fn add(&mut self, name: &str, function: u32) {
        let functions = self.functions.entry_ref(name).or_default();
        if functions.last() != Some(&function) {
            functions.push(function);
        }
    }

    /// Functions of a name, in the order of the program.
    #[must_use]
    pub fn named(&self, name: &str) -> &[u32] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Imports of a name: MODULE.FIELD, or FIELD alone.
    ///
    /// # Errors
    /// [`ModuleError::NoSuchName`] if there is none.
    pub fn imports(&self, program: &Program, name: &str) -> Result<Vec<u32>, ModuleError> {
        let mut found = self.named(name).to_vec();
        found.retain(|number| program.functions[*number as usize].import.is_some());
        if found.is_empty() {
            let imports = program
                .functions
                .iter()
                .filter_map(|one| one.import.as_ref());
            let field = name.rsplit('.').next().unwrap_or(name);
            let meant = did_you_mean(field, imports.map(|(_, field)| field.as_str()));
            return Err(ModuleError::NoSuchName {
                role: "import",
                name: name.to_owned(),
                problem: format!(
                    "no module imports a function of this name{meant}; names are MODULE.FIELD or FIELD"
                ),
            });
        }
        Ok(found)
    }

    /// Functions of a name, for messages that call them a `role`.
    ///
    /// # Errors
    /// [`ModuleError::NoSuchName`] if there is none.
    pub fn functions(&self, role: &'static str, name: &str) -> Result<&[u32], ModuleError> {
        match self.named(name) {
            [] => Err(ModuleError::NoSuchName {
                role,
                name: name.to_owned(),
                problem: format!(
                    "no module has an import, an export or a function of this name{}",
                    did_you_mean(name, self.functions.keys().map(String::as_str))
                ),
            }),
            functions => Ok(functions),
        }
    }
}
