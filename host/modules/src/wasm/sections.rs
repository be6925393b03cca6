//! Sections of a module: types, imports, exports, tables' elements, names.

use super::body::Cut;
use super::declared;
use super::effects::{Effect, effect, index_of};
use crate::model::{
    ANY_INDEX, ANY_TABLE, Element, Entry, Function, Global, Image, Initial, Module, Program,
};
use hashbrown::HashMap;
use wasmparser::{
    CompositeInnerType, ConstExpr, ElementItems, ElementKind, Error, ExternalKind, FuncType,
    KnownCustom, Name, Operator, Payload, SubType, TableInit, TypeRef,
};

/// Contents of the sections before the code.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// Canonical type of each type of the module.
    canonical: Vec<u32>,
    /// First type of the module of each signature.
    known: HashMap<(FuncType, bool, Vec<u32>), u32>,
    /// Numbers of parameters and results of each canonical type.
    arities: Vec<(u32, u32)>,
    supertypes: Vec<Vec<u32>>,
    functions: Vec<Function>,
    imported: usize,
    globals: Vec<Global>,
    open_tables: Vec<bool>,
    written_tables: Vec<bool>,
    table_sizes: Vec<u32>,
    elements: Vec<Element>,
    entries: Vec<Entry>,
    referenced: Vec<u32>,
    boxed: Vec<u32>,
    given: Vec<u32>,
    start: Option<u32>,
    code_bytes: u64,
}

impl Sections {
    /// Canonical type of a type of the module.
    pub(super) fn canonical(&self, type_index: u32) -> u32 {
        let known = self.canonical.get(type_index as usize);
        known.copied().unwrap_or(u32::MAX)
    }

    /// Numbers of parameters and results of a canonical type.
    pub(super) fn arity(&self, signature: u32) -> (u32, u32) {
        let arity = self.arities.get(signature as usize);
        arity.copied().unwrap_or_default()
    }

    /// Number of results of a function.
    pub(super) fn results_of(&self, function: u32) -> u32 {
        let function = self.functions.get(function as usize);
        function.map_or(0, |function| function.results)
    }

    /// Takes a valid section. Bodies are not read here.
    pub(super) fn take(&mut self, payload: Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::TypeSection(groups) => {
                for group in groups {
                    for ty in group?.into_types() {
                        self.add_type(&ty);
                    }
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.add_import(import?);
                }
            }
            Payload::FunctionSection(types) => {
                for ty in types {
                    self.add_function(ty?, None);
                }
            }
            Payload::TableSection(tables) => {
                for table in tables {
                    self.add_table(table?)?;
                }
            }
            Payload::GlobalSection(globals) => {
                for global in globals {
                    let first = self.referenced.len();
                    let initial = self.initial(&global?.init_expr)?;
                    self.given.extend(&self.referenced[first..]);
                    let is_open = false;
                    self.globals.push(Global { initial, is_open });
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    self.add_export(export?);
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(elements) => {
                for element in elements {
                    self.add_elements(element?)?;
                }
            }
            Payload::CodeSectionStart { size, .. } => self.code_bytes = u64::from(size),
            Payload::CustomSection(custom) => {
                if let KnownCustom::Name(names) = custom.as_known() {
                    self.add_names(names);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a type of the module. Equal function types have one canonical type; other types and
    /// types of a subtype hierarchy have one each.
    fn add_type(&mut self, ty: &SubType) {
        let supertypes: Vec<u32> = ty
            .supertype_idxs
            .iter()
            .filter_map(|index| index.as_module_index())
            .map(|index| self.canonical(index))
            .collect();
        let fresh = self.arities.len() as u32;
        let CompositeInnerType::Func(function) = &ty.composite_type.inner else {
            self.canonical.push(fresh);
            self.arities.push((0, 0));
            self.supertypes.push(Vec::new());
            return;
        };
        let key = (function.clone(), ty.is_final, supertypes.clone());
        let known = *self.known.entry(key).or_insert(fresh);
        self.canonical.push(known);
        if known == fresh {
            let (parameters, results) = (function.params().len(), function.results().len());
            self.arities.push((parameters as u32, results as u32));
            let mut all = supertypes.clone();
            for above in supertypes {
                all.extend(self.supertypes.get(above as usize).into_iter().flatten());
            }
            self.supertypes.push(all);
        }
    }

    fn add_function(&mut self, type_index: u32, import: Option<(String, String)>) {
        let signature = self.canonical(type_index);
        let (parameters, results) = self.arity(signature);
        let index = self.functions.len() as u32;
        self.functions.push(Function {
            import,
            signature,
            parameters,
            results,
            ..declared(0, index)
        });
    }

    fn add_import(&mut self, import: wasmparser::Import<'_>) {
        let named = (import.module.to_owned(), import.name.to_owned());
        match import.ty {
            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                self.add_function(ty, Some(named));
                self.imported += 1;
            }
            TypeRef::Table(_) => {
                self.open_tables.push(true);
                self.written_tables.push(false);
                self.table_sizes.push(0);
            }
            TypeRef::Global(_) => self.globals.push(Global {
                initial: Initial::Unknown,
                is_open: true,
            }),
            TypeRef::Memory(_) | TypeRef::Tag(_) => {}
        }
    }

    fn add_export(&mut self, export: wasmparser::Export<'_>) {
        match export.kind {
            ExternalKind::Func | ExternalKind::FuncExact => {
                self.referenced.push(export.index);
                if let Some(function) = self.functions.get_mut(export.index as usize) {
                    function.exports.push(export.name.to_owned());
                }
            }
            ExternalKind::Table => {
                if let Some(is_open) = self.open_tables.get_mut(export.index as usize) {
                    *is_open = true;
                }
            }
            ExternalKind::Global => {
                if let Some(global) = self.globals.get_mut(export.index as usize) {
                    global.is_open = true;
                }
            }
            _ => {}
        }
    }

    fn add_table(&mut self, table: wasmparser::Table<'_>) -> Result<(), Error> {
        let number = self.open_tables.len() as u32;
        self.open_tables.push(false);
        self.written_tables.push(false);
        let size = u32::try_from(table.ty.initial);
        self.table_sizes.push(size.unwrap_or(u32::MAX));
        if let TableInit::Expr(expression) = &table.init {
            let initial = self.initial(expression)?;
            self.add_entry(number, ANY_INDEX, initial);
        }
        Ok(())
    }

    /// The value of a constant expression. Notes the functions that it names.
    fn initial(&mut self, expression: &ConstExpr<'_>) -> Result<Initial, Error> {
        let mut initial = Initial::Unknown;
        let first = self.referenced.len();
        for (number, operator) in expression.get_operators_reader().into_iter().enumerate() {
            let operator = operator?;
            if let Operator::RefFunc { function_index } = operator {
                self.referenced.push(function_index);
            }
            initial = match (number, operator) {
                (0, Operator::RefFunc { function_index }) => Initial::Function(function_index),
                (0, Operator::RefNull { .. }) => Initial::Null,
                (0, Operator::GlobalGet { global_index }) => Initial::Global(global_index),
                (0, Operator::I32Const { value }) => Initial::Index(value as u32),
                (0, Operator::I64Const { value }) => index_of(value),
                (1, Operator::End) => initial,
                _ => Initial::Unknown,
            };
        }
        if initial == Initial::Unknown {
            self.boxed.extend(&self.referenced[first..]);
        }
        Ok(initial)
    }

    /// Adds an entry of a table, or of a segment that instructions may copy.
    fn add_entry(&mut self, table: u32, index: u32, initial: Initial) {
        match initial {
            Initial::Null => return,
            Initial::Function(function) => self.elements.push(Element { table, function }),
            Initial::Index(_) | Initial::Global(_) | Initial::Unknown => {
                let tables = self.written_tables.iter_mut().enumerate();
                let named = tables.filter(|(at, _)| table == ANY_TABLE || *at == table as usize);
                named.for_each(|(_, is_written)| *is_written = true);
            }
        }
        self.entries.push(Entry {
            table,
            index,
            initial,
        });
    }

    /// The index at which a segment begins, if it is known. The globals that constant expressions
    /// read never change.
    fn offset(&mut self, expression: &ConstExpr<'_>) -> Result<Option<u32>, Error> {
        let mut initial = self.initial(expression)?;
        if let Initial::Global(global) = initial {
            let global = self.globals.get(global as usize);
            initial = global.map_or(Initial::Unknown, |global| global.initial);
        }
        Ok(match initial {
            Initial::Index(index) => Some(index),
            _ => None,
        })
    }

    /// Adds the functions of a segment. One that instructions may copy belongs to every table.
    fn add_elements(&mut self, element: wasmparser::Element<'_>) -> Result<(), Error> {
        let (table, first) = match &element.kind {
            ElementKind::Active {
                table_index,
                offset_expr,
            } => (Some(table_index.unwrap_or(0)), self.offset(offset_expr)?),
            ElementKind::Passive => (Some(ANY_TABLE), None),
            ElementKind::Declared => (None, None),
        };
        let index = |number: u32| {
            let index = first.and_then(|first| first.checked_add(number));
            index.unwrap_or(ANY_INDEX)
        };
        match element.items {
            ElementItems::Functions(functions) => {
                for (number, function) in (0..).zip(functions) {
                    let function = function?;
                    self.referenced.push(function);
                    if let Some(table) = table {
                        self.add_entry(table, index(number), Initial::Function(function));
                    }
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for (number, expression) in (0..).zip(expressions) {
                    let initial = self.initial(&expression?)?;
                    if let Some(table) = table {
                        self.add_entry(table, index(number), initial);
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes the tables that instructions write to, and the references that they get, of operators
    /// at these offsets.
    fn note_references(&mut self, image: &[u8], offsets: impl Iterator<Item = u32>) {
        let mut reads = false;
        for offset in offsets {
            let effect = effect(image, offset);
            reads |= effect.reads_references();
            if let Effect::Makes(Initial::Function(function)) = effect {
                self.given.push(function);
            }
            if let Some(table) = effect.written_table()
                && let Some(is_written) = self.written_tables.get_mut(table as usize)
            {
                *is_written = true;
            }
        }
        if reads {
            let held = self.entries.iter().filter_map(|entry| match entry.initial {
                Initial::Function(function) => Some(function),
                _ => None,
            });
            self.given.extend(held);
        }
        self.given.sort_unstable();
        self.given.dedup();
    }

    /// Names of functions. Names are no part of a module's meaning, so a damaged section only ends
    /// them.
    fn add_names(&mut self, names: wasmparser::NameSectionReader<'_>) {
        for subsection in names {
            let Ok(subsection) = subsection else { return };
            let Name::Function(map) = subsection else {
                continue;
            };
            for naming in map {
                let Ok(naming) = naming else { return };
                if let Some(function) = self.functions.get_mut(naming.index as usize) {
                    function.name = Some(naming.name.to_owned());
                }
            }
        }
    }

    /// Adds the module to a program.
    pub(super) fn finish(
        mut self,
        program: &mut Program,
        path: &str,
        image: Image,
        bodies: Vec<Cut>,
    ) {
        let offsets = bodies.iter().flat_map(|cut| &cut.references);
        self.note_references(&image.0, offsets.copied());
        let module = program.modules.len() as u32;
        let first = program.functions.len();
        let defined = self.functions.iter_mut().skip(self.imported);
        for (function, cut) in defined.zip(bodies) {
            function.body = cut.body;
        }
        for function in &mut self.functions {
            function.module = module;
            if function.name.is_none() {
                function.name = function.exports.first().cloned();
            }
        }
        self.referenced.sort_unstable();
        self.referenced.dedup();
        self.elements.sort_unstable();
        self.elements.dedup();
        self.entries.sort_unstable();
        self.entries.dedup();
        program.modules.push(Module {
            path: path.to_owned(),
            bytes: image.0.len() as u64,
            code_bytes: self.code_bytes,
            functions: first..first + self.functions.len(),
            globals: self.globals.len() as u32,
            global_values: self.globals,
            elements: self.elements,
            entries: self.entries,
            referenced: self.referenced,
            boxed: self.boxed,
            given: self.given,
            open_tables: self.open_tables,
            table_sizes: self.table_sizes,
            written_tables: self.written_tables,
            supertypes: self.supertypes,
            arities: self.arities,
            start: self.start,
            image,
        });
        program.functions.append(&mut self.functions);
    }
}
