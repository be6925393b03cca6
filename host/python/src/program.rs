//! Programs of users: text that `seawall.Program` records, on the thread of a graph.

use crate::error;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use seawall::backend::{BackendError, Canceller, CodeReport, ProgramSession};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::multi::DeviceChoice;
use seawall::program::{
    GraphSize, PlanRequest, PlanSummary, ProgramError as NoProgram, TextError, TextProgram,
    read_text,
};
use seawall::run::RunError;

pub(crate) struct ProgramRequest {
    pub(crate) text: String,
    pub(crate) inputs: Vec<(String, Vec<u32>)>,
    pub(crate) machine: Machine,
    /// Several devices that share the program.
    pub(crate) devices: Option<DeviceChoice>,
}

pub(crate) struct ProgramRun {
    results: Vec<(String, Vec<u32>)>,
    /// Iterations of each loop on the top level, and whether it converged.
    loops: Vec<(u32, bool)>,
    plan: PlanSummary,
    executor: Executor,
    device: String,
    run_ns: u64,
    bytes: u64,
    devices: u32,
    code: Option<CodeReport>,
}

/// A program could not be read, planned or run.
#[derive(Debug)]
pub(crate) enum ProgramError {
    Text(TextError),
    Run(RunError),
    NoInput(String, Vec<String>),
}

impl From<TextError> for ProgramError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl From<NoProgram> for ProgramError {
    fn from(error: NoProgram) -> Self {
        Self::Run(error.into())
    }
}

impl From<BackendError> for ProgramError {
    fn from(error: BackendError) -> Self {
        Self::Run(error.into())
    }
}

impl ProgramError {
    pub(crate) fn exception(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Text(problem) => error::of_text(py, problem),
            Self::Run(problem) => error::of_run(py, problem),
            Self::NoInput(name, known) => {
                let known = known.join(", ");
                let text = format!("the program has no input {name:?}; its inputs are: {known}");
                error::request(py, "NoInput", &text)
            }
        }
    }
}

pub(crate) struct Loaded<'g> {
    text: String,
    machine: Machine,
    devices: Option<DeviceChoice>,
    program: TextProgram,
    plan: PlanSummary,
    session: ProgramSession<'g>,
}

impl<'g> Loaded<'g> {
    pub(crate) fn open(graph: &'g Graph, request: &ProgramRequest) -> Result<Self, ProgramError> {
        let size = GraphSize {
            nodes: graph.nodes(),
            edges: graph.edges(),
        };
        let program = read_text(&request.text, size)?;
        let (encoded, plan) = program.program.encode(&PlanRequest {
            budget_bytes: request.machine.budget_bytes,
            ..PlanRequest::default()
        })?;
        let mut session = match &request.devices {
            Some(choice) => ProgramSession::over(choice.open_session(graph, &request.machine)?),
            None => ProgramSession::open(graph, &request.machine)?,
        };
        session.load(&encoded)?;
        Ok(Self {
            text: request.text.clone(),
            machine: request.machine,
            devices: request.devices.clone(),
            program,
            plan,
            session,
        })
    }

    /// Tells whether the request is for this program and machine.
    pub(crate) fn is_for(&self, request: &ProgramRequest) -> bool {
        self.machine == request.machine
            && self.devices == request.devices
            && self.text == request.text
    }

    /// Ends runs from another thread.
    pub(crate) fn canceller(&self) -> Canceller {
        self.session.canceller()
    }

    /// Sets all inputs, those of the text where the request has none, and runs.
    pub(crate) fn run(&mut self, request: &ProgramRequest) -> Result<ProgramRun, ProgramError> {
        let inputs = &self.program.inputs;
        for (name, _) in &request.inputs {
            if !inputs.iter().any(|input| input.name == *name) {
                let known = inputs.iter().map(|input| input.name.clone()).collect();
                return Err(ProgramError::NoInput(name.clone(), known));
            }
        }
        for input in inputs {
            let mut given = request.inputs.iter();
            let given = given.find(|(name, _)| *name == input.name);
            let words = given.map_or(&input.words, |(_, words)| words);
            self.session.set_input(input.register, words)?;
        }
        let stats = self.session.run()?;
        let control = &stats.control;
        let loops = control.loops.iter().take(control.loops_done as usize);
        Ok(ProgramRun {
            results: self.results()?,
            loops: loops
                .map(|ended| (ended.iterations, ended.converged != 0))
                .collect(),
            plan: self.plan,
            executor: match self.devices {
                Some(_) => DeviceChoice::program_executor(&self.machine),
                None => self.machine.executor.unwrap_or(Executor::Cpu),
            },
            device: self.session.device().name.clone(),
            run_ns: stats.run_ns,
            bytes: self.session.memory().allocated_bytes,
            devices: self.session.devices().map_or(1, |devices| devices.count),
            code: stats.code,
        })
    }

    fn results(&mut self) -> Result<Vec<(String, Vec<u32>)>, ProgramError> {
        let mut results = Vec::with_capacity(self.program.results.len());
        for result in &self.program.results {
            let mut words = Vec::new();
            self.session.read(result.register, &mut words)?;
            // Registers of bits are longer, for whole rounds of a warp.
            let count = result.count * u64::from(result.kind.words());
            words.truncate(usize::try_from(count).unwrap_or(usize::MAX));
            results.push((result.name.clone(), words));
        }
        Ok(results)
    }
}

impl ProgramRun {
    /// Everything as a dictionary.
    pub(crate) fn report<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, results) = (PyDict::new(py), PyDict::new(py));
        for (name, words) in self.results {
            results.set_item(name, PyArray1::from_vec(py, words))?;
        }
        dict.set_item("results", results)?;
        dict.set_item("loops", PyList::new(py, self.loops)?)?;
        dict.set_item("groups", self.plan.groups)?;
        dict.set_item("machine", self.executor.name())?;
        dict.set_item("device", self.device)?;
        dict.set_item("seconds", self.run_ns as f64 / 1e9)?;
        dict.set_item("bytes", self.bytes)?;
        dict.set_item("devices", self.devices)?;
        dict.set_item("code", code_report(py, self.code)?)?;
        Ok(dict)
    }
}

/// How waves of code ran; None on a machine that has no tiers.
fn code_report(py: Python<'_>, code: Option<CodeReport>) -> PyResult<Option<Bound<'_, PyDict>>> {
    let Some(code) = code else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("waves", code.waves)?;
    dict.set_item("compiled", code.compiled)?;
    dict.set_item("seconds", code.compile_ns as f64 / 1e9)?;
    dict.set_item("reason", code.reason)?;
    Ok(Some(dict))
}
