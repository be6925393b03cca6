//! Sections of a module: types, imports, exports, tables' elements, names.

use super::declared;
use crate::model::{ANY_TABLE, Body, Element, Function, Image, Module, Program};
use hashbrown::HashMap;
use wasmparser::{
    CompositeInnerType, ConstExpr, ElementItems, ElementKind, Error, ExternalKind, FuncType,
    KnownCustom, Name, Operator, Payload, SubType, TypeRef,
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
    globals: u32,
    open_tables: Vec<bool>,
    elements: Vec<Element>,
    referenced: Vec<u32>,
    start: Option<u32>,
    code_bytes: u64,
}

impl Sections {
    /// Canonical type of a type of the module.
    pub(super) fn canonical(&self, type_index: u32) -> u32 {
        let known = self.canonical.get(type_index as usize);
        known.copied().unwrap_or(u32::MAX)
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
                self.open_tables
                    .resize(self.open_tables.len() + tables.count() as usize, false);
            }
            Payload::GlobalSection(globals) => {
                for global in globals {
                    self.globals += 1;
                    self.refer(&global?.init_expr)?;
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
        let arity = self.arities.get(signature as usize);
        let (parameters, results) = arity.copied().unwrap_or_default();
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
            TypeRef::Table(_) => self.open_tables.push(true),
            TypeRef::Global(_) => self.globals += 1,
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
            _ => {}
        }
    }

    /// Notes the functions that a constant expression names.
    fn refer(&mut self, expression: &ConstExpr<'_>) -> Result<(), Error> {
        for operator in expression.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.referenced.push(function_index);
            }
        }
        Ok(())
    }

    /// Adds the functions of a segment. One that instructions may copy belongs to every table.
    fn add_elements(&mut self, element: wasmparser::Element<'_>) -> Result<(), Error> {
        let table = match &element.kind {
            ElementKind::Active { table_index, .. } => Some(table_index.unwrap_or(0)),
            ElementKind::Passive => Some(ANY_TABLE),
            ElementKind::Declared => None,
        };
        let first = self.referenced.len();
        match element.items {
            ElementItems::Functions(functions) => {
                for function in functions {
                    self.referenced.push(function?);
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for expression in expressions {
                    self.refer(&expression?)?;
                }
            }
        }
        if let Some(table) = table {
            let added = self.referenced[first..].iter();
            self.elements
                .extend(added.map(|&function| Element { table, function }));
        }
        Ok(())
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
        bodies: Vec<Body>,
    ) {
        let module = program.modules.len() as u32;
        let first = program.functions.len();
        let defined = self.functions.iter_mut().skip(self.imported);
        for (function, body) in defined.zip(bodies) {
            function.body = body;
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
        program.modules.push(Module {
            path: path.to_owned(),
            bytes: image.0.len() as u64,
            code_bytes: self.code_bytes,
            functions: first..first + self.functions.len(),
            globals: self.globals,
            elements: self.elements,
            referenced: self.referenced,
            open_tables: self.open_tables,
            supertypes: self.supertypes,
            arities: self.arities,
            start: self.start,
            image,
        });
        program.functions.append(&mut self.functions);
    }
}
