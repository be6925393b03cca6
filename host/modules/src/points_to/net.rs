//! The graph of inclusions.

use super::OpenTables;
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::On;
use crate::model::{ANY_INDEX, ANY_TABLE, Initial, Module, Program};
use crate::values::{NONE, Port, References, Site, Whole};
use std::borrow::Cow;

/// Values and cells of all modules, and the inclusions that hold whatever calls choose.
pub(super) struct Net<'a> {
    pub(super) program: &'a Program,
    pub(super) calls: &'a Calls,
    pub(super) open_tables: OpenTables,
    pub(super) whole: Whole<'a>,
    /// Cells of each module.
    pub(super) cells: Vec<ModuleCells>,
    /// Inclusions: (value, the value that includes it).
    pub(super) edges: Vec<(u32, u32)>,
    /// Objects that values are, or that a value is unknown.
    pub(super) made: Vec<(u32, Initial)>,
    /// Calls that a value chooses, by node of the call graph and place in its list.
    pub(super) sites: Vec<(u32, u32)>,
}

/// The cells of a module, numbered after the values of all functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleCells {
    first: u32,
    globals: u32,
    tables: u32,
}

impl ModuleCells {
    fn global(self, global: u32) -> u32 {
        self.first + global
    }

    /// References that may be at any index of a table.
    pub(super) fn written(self, table: u32) -> u32 {
        self.first + self.globals + table
    }

    /// All references of a table.
    fn content(self, table: u32) -> u32 {
        self.written(self.tables + table)
    }

    /// References of segments that instructions may copy.
    fn segments(self) -> u32 {
        self.written(2 * self.tables)
    }

    /// References that are no longer followed.
    pub(super) fn outside(self) -> u32 {
        self.segments() + 1
    }

    fn end(self) -> u32 {
        self.outside() + 1
    }
}

/// Most inclusions: their numbers are words.
const MOST: u64 = 1 << 30;

/// Bytes of an inclusion while the graph is made.
const EDGE_BYTES: u64 = 8;

/// Refuses more inclusions than a submission may have.
pub(super) fn check(inclusions: u64, on: On) -> Result<(), ModuleError> {
    let most = MOST.min(on.limits.batch_bytes / EDGE_BYTES);
    if inclusions <= most {
        return Ok(());
    }
    Err(ModuleError::TooLarge {
        path: "points-to".to_owned(),
        what: "inclusions of values".to_owned(),
        found: inclusions,
        most,
    })
}

impl<'a> Net<'a> {
    pub(super) fn of(
        program: &'a Program,
        calls: &'a Calls,
        open_tables: OpenTables,
        on: On,
    ) -> Result<Self, ModuleError> {
        let references: Vec<References<'_>> = program.modules.iter().map(References::of).collect();
        let (name, whole) = ("points-to", (Cow::Borrowed(program), Cow::Borrowed(calls)));
        let whole = Whole::of(whole.0, whole.1, name, Some(&references), on.limits)?;
        let mut next = whole.len() as u32;
        let mut cells = Vec::with_capacity(program.modules.len());
        for module in &program.modules {
            let own = ModuleCells {
                first: next,
                globals: module.globals,
                tables: module.open_tables.len() as u32,
            };
            next = own.end();
            cells.push(own);
        }
        let mut net = Self {
            program,
            calls,
            open_tables,
            whole,
            cells,
            edges: Vec::new(),
            made: Vec::new(),
            sites: Vec::new(),
        };
        check(net.inclusions(), on)?;
        for module in 0..program.modules.len() {
            net.add_cells(module);
        }
        net.add_functions();
        net.add_dispatches();
        net.add_sites();
        Ok(net)
    }

    /// Number of values and cells.
    pub(super) fn len(&self) -> usize {
        let last = self.cells.last().map(|cells| cells.end());
        last.map_or(self.whole.len(), |end| end as usize)
    }

    /// Number of inclusions if every call may reach all functions of its type.
    fn inclusions(&self) -> u64 {
        let own = self.whole.values.iter().map(|values| {
            let sites = values.sites.iter();
            let across = sites.map(|site| u64::from(site.across()));
            values.edges.len() as u64 + values.ports.len() as u64 + across.sum::<u64>()
        });
        let dispatches = self.calls.functions..self.calls.nodes();
        let by_type = dispatches.map(|node| {
            let values = &self.whole.values[node];
            let each = u64::from(values.inputs) + u64::from(values.outputs);
            each * self.calls.callees.row(node).len() as u64
        });
        own.sum::<u64>() + by_type.sum::<u64>()
    }

    /// The module of a node of the call graph.
    pub(super) fn module_of(&self, node: u32) -> u32 {
        match self.program.functions.get(node as usize) {
            Some(function) => function.module,
            None => self.calls.dispatches[node as usize - self.calls.functions].module,
        }
    }

    /// The module of a value or a cell.
    pub(super) fn owner(&self, value: u32) -> u32 {
        if (value as usize) < self.whole.len() {
            return self.module_of(self.whole.owner(value).0);
        }
        let after = self.cells.partition_point(|cells| cells.first <= value);
        after as u32 - 1
    }

    /// Whether a value is an argument or a result of all functions of a type.
    pub(super) fn is_of_type(&self, value: u32) -> bool {
        let is_value = (value as usize) < self.whole.len();
        is_value && self.whole.owner(value).0 as usize >= self.calls.functions
    }

    /// Functions that a node of the call graph stands for.
    pub(super) fn row(&self, callee: &'a u32) -> &'a [u32] {
        match *callee as usize >= self.calls.functions {
            true => self.calls.callees.row(*callee as usize),
            false => std::slice::from_ref(callee),
        }
    }

    /// The call with a number.
    pub(super) fn site(&self, number: usize) -> (u32, &Site) {
        let (node, place) = self.sites[number];
        let values = &self.whole.values[node as usize];
        (node, &values.sites[place as usize])
    }

    /// The value that chooses the call with a number.
    pub(super) fn chooser(&self, number: usize) -> u32 {
        let (node, site) = self.site(number);
        self.whole.value(node, site.chosen_by)
    }

    /// Includes a constant expression's value.
    fn include(&mut self, own: ModuleCells, initial: Initial, to: u32) {
        match initial {
            Initial::Null => {}
            Initial::Global(global) => self.edges.push((own.global(global), to)),
            object => self.made.push((to, object)),
        }
    }

    /// Globals and tables of a module when it has been instantiated.
    fn add_cells(&mut self, number: usize) {
        let module: &Module = &self.program.modules[number];
        let own = self.cells[number];
        let references = References::of(module);
        for (global, value) in (0..).zip(&module.global_values) {
            let cell = own.global(global);
            self.include(own, references.told_apart(value.initial), cell);
            if value.is_open {
                self.made.push((cell, Initial::Unknown));
                self.edges.push((cell, own.outside()));
            }
        }
        for (table, is_open) in (0..).zip(&module.open_tables) {
            self.edges.push((own.written(table), own.content(table)));
            if *is_open {
                let changed = match self.open_tables {
                    OpenTables::Changed => own.written(table),
                    OpenTables::Extended => own.content(table),
                };
                self.made.push((changed, Initial::Unknown));
                self.edges.push((own.content(table), own.outside()));
            }
        }
        let boxed = module.boxed.iter();
        let boxed = boxed.map(|function| (own.outside(), Initial::Function(*function)));
        self.made.extend(boxed);
        for entry in &module.entries {
            let is_function = matches!(entry.initial, Initial::Function(_));
            let to = match entry.table {
                ANY_TABLE => own.segments(),
                table if is_function && entry.index != ANY_INDEX => own.content(table),
                table => own.written(table),
            };
            self.include(own, entry.initial, to);
        }
    }

    /// Values inside of functions, and what comes from and gets outside.
    fn add_functions(&mut self) {
        let (whole, edges) = (&self.whole, &mut self.edges);
        whole.each_own(|from, to| edges.push((from, to)));
        for (node, values) in (0..).zip(&whole.values) {
            let module = match self.program.functions.get(node as usize) {
                Some(function) => function.module,
                None => break,
            };
            let own = self.cells[module as usize];
            let known = values.known.iter();
            let known = known.filter(|(_, object)| *object != Initial::Null);
            self.made
                .extend(known.map(|(value, object)| (whole.value(node, *value), *object)));
            edges.extend(values.ports.iter().map(|(value, port)| {
                let value = whole.value(node, *value);
                match *port {
                    Port::FromGlobal(global) => (own.global(global), value),
                    Port::ToGlobal(global) => (value, own.global(global)),
                    Port::FromTable(table) => (own.content(table), value),
                    Port::ToTable(table) => (value, own.written(table)),
                    Port::FromSegments => (own.segments(), value),
                    Port::Outside => (value, own.outside()),
                }
            }));
        }
        let numbered = (0..).zip(&self.program.functions);
        let imports: Vec<u32> = numbered
            .filter(|(_, function)| function.import.is_some())
            .map(|(number, _)| number)
            .collect();
        for import in imports {
            self.add_outside_callee(import);
        }
        let calls = self.calls;
        for root in &calls.roots {
            let (inputs, outputs) = self.outside_caller(*root);
            let unknown = inputs.into_iter().map(|input| (input, Initial::Unknown));
            self.made.extend(unknown);
            self.edges.extend(outputs);
        }
    }

    /// A node of the call graph that the outside runs: nothing is known of its results, and its
    /// arguments are no longer followed.
    fn add_outside_callee(&mut self, node: u32) {
        let outside = self.cells[self.module_of(node) as usize].outside();
        let values = &self.whole.values[node as usize];
        let inputs = (0..values.inputs).map(|one| (values.input(one), outside));
        let inputs = inputs.map(|(input, to)| (self.whole.value(node, input), to));
        self.edges.extend(inputs);
        let outputs = (0..values.outputs).map(|one| values.output(one));
        let outputs = outputs.map(|output| (self.whole.value(node, output), Initial::Unknown));
        self.made.extend(outputs);
    }

    /// A function that the outside calls: inputs, of which nothing is known, and inclusions of its
    /// results, which are no longer followed.
    pub(super) fn outside_caller(&self, function: u32) -> (Vec<u32>, Vec<(u32, u32)>) {
        let outside = self.cells[self.module_of(function) as usize].outside();
        let values = &self.whole.values[function as usize];
        let at = |value| self.whole.value(function, value);
        let inputs = (0..values.inputs).map(|one| at(values.input(one)));
        let outputs = (0..values.outputs).map(|one| (at(values.output(one)), outside));
        (inputs.collect(), outputs.collect())
    }

    fn add_dispatches(&mut self) {
        let (whole, edges) = (&self.whole, &mut self.edges);
        whole.each_dispatch_input(|from, to| edges.push((from, to)));
        whole.each_dispatch_output(|from, to| edges.push((from, to)));
        for (number, dispatch) in self.calls.dispatches.iter().enumerate() {
            let node = (self.calls.functions + number) as u32;
            let module = &self.program.modules[dispatch.module as usize];
            let is_written = module.written_tables.get(dispatch.key.table as usize);
            if is_written == Some(&true) || self.calls.is_open(self.program, node) {
                self.add_outside_callee(node);
            }
        }
    }

    /// Arguments and results of calls of one function, and the list of the other calls.
    fn add_sites(&mut self) {
        for node in 0..self.calls.functions as u32 {
            for place in 0..self.whole.values[node as usize].sites.len() {
                let site = &self.whole.values[node as usize].sites[place];
                if site.chosen_by == NONE {
                    let mut edges = std::mem::take(&mut self.edges);
                    self.add_call(node, site, site.callee, &mut edges);
                    self.edges = edges;
                } else {
                    self.sites.push((node, place as u32));
                }
            }
        }
    }

    /// Adds the inclusions of a call of one callee.
    pub(super) fn add_call(
        &self,
        node: u32,
        site: &Site,
        callee: u32,
        edges: &mut Vec<(u32, u32)>,
    ) {
        for (number, value) in (0..).zip(self.whole.values[node as usize].ins(site)) {
            if let Some(input) = self.whole.input(callee, number) {
                edges.push((self.whole.value(node, *value), input));
            }
        }
        for (number, value) in (0..).zip(site.outs()) {
            if let Some(output) = self.whole.output(callee, number) {
                edges.push((output, self.whole.value(node, value)));
            }
        }
    }
}
