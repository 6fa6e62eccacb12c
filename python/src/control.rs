//! Congestion controls that are classes of Python: subclasses of `rocelab.CongestionControl`, one object for each queue pair.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rocelab_sim::Plan;
use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::python::Parameters;
use rocelab_transport::congestion_control::{
    CongestionControl, ControlFault, ExternalAlgorithm, Feedback, Loaded, Path, Slot,
};
use rocelab_units::Bandwidth;
use rocelab_wasm::answers::FLAG_REPACE;
use rocelab_wasm::control::{Controller, Guest};
use rocelab_wasm::event::{GuestCall, GuestEvent};
use rocelab_wasm::fault::{Latch, fault};
use rocelab_wasm::input::{FLAG_ECN, FLAG_RTT, FLAG_TIMEOUT, Input, NEVER};
use rocelab_wasm::metadata::Metadata;
use rocelab_wasm::{Answers, Cause};

use crate::error::of_input;

/// A class of Python, and what it says of itself.
#[derive(Clone, Debug)]
pub(crate) struct PythonAlgorithm(Arc<Shared>);

/// What all objects of a class share in a run.
#[derive(Debug)]
struct Shared {
    class: Arc<Py<PyAny>>,
    metadata: Metadata,
    label: String,
    /// Of the text of the class; empty if Python does not know it.
    sha256: String,
    latch: Latch,
    /// The exception of the earliest fault, of all runs.
    raised: Arc<Mutex<Option<(ControlFault, PyErr)>>>,
}

impl PythonAlgorithm {
    /// A class with its metadata, in JSON.
    pub(crate) fn new(class: Py<PyAny>, metadata: &str, sha256: String) -> PyResult<Self> {
        let metadata = Metadata::parse(metadata.as_bytes())
            .map_err(|error| of_input(format!("congestion_control: {error}")))?;
        let label = format!("python:{}", metadata.name);
        let (class, raised) = (Arc::new(class), Arc::default());
        Ok(Self(Arc::new(Shared {
            class,
            metadata,
            label,
            sha256,
            latch: Latch::default(),
            raised,
        })))
    }

    /// As a scenario has it, with the name of the class.
    pub(crate) fn in_scenario(&self, class: String) -> Algorithm {
        let loaded = Slot::of(Loaded(Arc::new(self.clone())));
        Algorithm::Python(Parameters { class, loaded })
    }
}

impl PythonAlgorithm {
    /// The error of a run, with the exception that was its cause. An interruption comes alone.
    pub(crate) fn caused(&self, error: PyErr) -> PyErr {
        let first = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((_, raised)) = first else { return error };
        Python::attach(|py| {
            if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
                return raised;
            }
            error.set_cause(py, Some(raised));
            error
        })
    }
}

impl ExternalAlgorithm for PythonAlgorithm {
    fn label(&self) -> &str {
        &self.0.label
    }

    fn version(&self) -> &str {
        &self.0.metadata.version
    }

    fn identity(&self) -> &str {
        &self.0.sha256
    }

    fn values(&self) -> BTreeMap<String, i64> {
        BTreeMap::new()
    }

    fn feedback(&self, _: Bandwidth) -> Feedback {
        self.0.metadata.feedback()
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let guest = PythonGuest {
            shared: Arc::clone(&self.0),
            path: *path,
            object: None,
            raised: None,
            answers: Answers::NONE,
        };
        Box::new(Controller::open(guest, path))
    }

    fn fault(&self) -> Option<ControlFault> {
        self.0.latch.first()
    }

    fn for_run(&self) -> Loaded {
        let Shared { class, metadata, label, sha256, latch: _, raised } = &*self.0;
        Loaded(Arc::new(Self(Arc::new(Shared {
            class: Arc::clone(class),
            metadata: metadata.clone(),
            label: label.clone(),
            sha256: sha256.clone(),
            latch: Latch::default(),
            raised: Arc::clone(raised),
        }))))
    }
}

/// The object of a queue pair.
#[derive(Debug)]
struct PythonGuest {
    shared: Arc<Shared>,
    path: Path,
    object: Option<Py<PyAny>>,
    /// What the latest call raised.
    raised: Option<PyErr>,
    answers: Answers,
}

impl Guest for PythonGuest {
    fn wants(&self, event: GuestEvent) -> bool {
        event == GuestEvent::Timer || self.shared.metadata.wants(event)
    }

    fn ask(&mut self, call: GuestCall, input: &Input) -> Result<(), Cause> {
        let answered = Python::attach(|py| {
            let answers = self.called(py, call, input);
            answers.map_err(|error| {
                // Which functions it came through is kept beside it until it is raised again.
                if let Some(traceback) = error.traceback(py) {
                    _ = error.value(py).setattr(intern!(py, "__traceback__"), traceback);
                }
                let told = Cause::Raised(told(py, &error));
                self.raised = Some(error);
                told
            })
        })?;
        answered.check(&self.answers, call, input)?;
        self.answers = answered;
        Ok(())
    }

    fn answers(&self) -> &Answers {
        &self.answers
    }

    fn failed(&mut self, call: GuestCall, input: &Input, seed: u64, cause: &Cause) {
        let fault = fault(call, input, seed, cause);
        if let Some(error) = self.raised.take() {
            let mut first = self.shared.raised.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(known, _)| fault < *known) {
                *first = Some((fault.clone(), error));
            }
        }
        self.shared.latch.record(fault);
    }

    fn save(&self, _: &mut Vec<u8>) -> rocelab_state::Result {
        Err(rocelab_state::unfit("a congestion control in Python, which no checkpoint has"))
    }

    fn load(&mut self, _: u64, _: &mut &[u8]) -> rocelab_state::Result {
        Err(rocelab_state::unfit("a congestion control in Python, which no checkpoint has"))
    }
}

impl PythonGuest {
    /// Calls the object, and reads what it answers.
    fn called(&mut self, py: Python<'_>, call: GuestCall, input: &Input) -> PyResult<Answers> {
        match (call, &self.object) {
            (GuestCall::Event(event), Some(object)) => {
                let object = object.bind(py);
                tell(object, event, input)?;
                answers(object)
            }
            (GuestCall::Event(_), None) => Err(of_input("it has not started".into())),
            (GuestCall::Open, _) => {
                let object = self.opened(py)?;
                let answers = answers(&object)?;
                self.object = Some(object.unbind());
                Ok(answers)
            }
        }
    }

    /// An object that was told its path.
    fn opened<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.shared.class.bind(py).call0()?;
        let Path { line_rate, base_rtt, bdp, path_mtu, others: _, seed, start } = self.path;
        let (line_rate, base_rtt) = (line_rate.bits_per_second(), base_rtt.ps());
        let path = (line_rate, base_rtt, bdp, path_mtu, seed, start.ps());
        object.call_method1(intern!(py, "_open"), path)?;
        Ok(object)
    }
}

/// Calls the method of an event.
fn tell(object: &Bound<'_, PyAny>, event: GuestEvent, input: &Input) -> PyResult<()> {
    let py = object.py();
    let Input { now, acked, acknowledged, sent, rtt, bytes, flags, value } = *input;
    match event {
        GuestEvent::Ack => {
            let rtt = (flags & FLAG_RTT != 0).then_some(rtt);
            let ecn_echo = flags & FLAG_ECN != 0;
            let arguments = (now, acked, acknowledged, sent, rtt, ecn_echo);
            object.call_method1(intern!(py, "on_ack"), arguments)
        }
        GuestEvent::Cnp => object.call_method1(intern!(py, "on_cnp"), (now,)),
        GuestEvent::Cnm => object.call_method1(intern!(py, "on_cnm"), (now, value)),
        GuestEvent::Sent => object.call_method1(intern!(py, "on_sent"), (now, bytes)),
        GuestEvent::Loss => {
            object.call_method1(intern!(py, "on_loss"), (now, flags & FLAG_TIMEOUT != 0))
        }
        GuestEvent::Timer => object.call_method1(intern!(py, "on_timer"), (now, value)),
    }?;
    Ok(())
}

/// What an object answers.
fn answers(object: &Bound<'_, PyAny>) -> PyResult<Answers> {
    let py = object.py();
    let rate = number("rate", &object.getattr(intern!(py, "rate"))?)?;
    let window = limit("window", &object.getattr(intern!(py, "window"))?)?;
    let timers = object.getattr(intern!(py, "timers"))?;
    if timers.len()? != Answers::NONE.timers.len() {
        return Err(of_input(format!("timers = {timers}: give a list of three, of times or None")));
    }
    let mut deadlines = [NEVER; 3];
    for (timer, deadline) in deadlines.iter_mut().enumerate() {
        *deadline = limit("timers", &timers.get_item(timer)?)?;
    }
    let repaces = object.getattr(intern!(py, "repaces"))?.is_truthy()?;
    if repaces {
        object.setattr(intern!(py, "repaces"), false)?;
    }
    Ok(Answers { rate, window, timers: deadlines, flags: u32::from(repaces) * FLAG_REPACE })
}

/// A number, or nothing, which is no limit and no time.
fn limit(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if value.is_none() { Ok(NEVER) } else { number(name, value) }
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        of_input(format!(
            "{name} = {shown}: give a whole number of 0 to 2^64 - 1, such as int({name})"
        ))
    })
}

/// An exception with its traceback, as Python prints it.
fn told(py: Python<'_>, error: &PyErr) -> String {
    let printed = || -> PyResult<String> {
        let lines = py
            .import("traceback")?
            .call_method1("format_exception", PyTuple::new(py, [error.value(py)])?)?;
        Ok(lines
            .try_iter()?
            .map(|line| line?.extract::<String>())
            .collect::<PyResult<Vec<_>>>()?
            .concat())
    };
    let traceback = printed().unwrap_or_default();
    format!("{error}\n{}", traceback.trim_end())
}

/// Whether a congestion control of a plan is a class of Python.
pub(crate) fn is_in_python(plan: &Plan) -> bool {
    plan.algorithms().iter().any(|algorithm| matches!(algorithm, Algorithm::Python(_)))
}
