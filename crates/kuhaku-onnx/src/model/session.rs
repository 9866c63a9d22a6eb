//! One session of the runtime: what it must take and give, and one batch through it.

use std::sync::Arc;

use ort::session::{RunOptions, SessionInputValue, builder::GraphOptimizationLevel};
use ort::value::{Outlet, TensorElementType, TensorRef};

use super::folder::{ModelConfig, ModelFolder, unusable};
use super::options::Options;
use super::pooling::Head;
use super::tokenizer::Row;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::library::OnnxRuntime;

/// What every model of these families takes, by its usual name.
const IDS: &str = "input_ids";
const MASK: &str = "attention_mask";
const TYPES: &str = "token_type_ids";

/// One session. A session works on one batch at a time.
pub(crate) struct Session {
    inner: ort::session::Session,
    types: bool,
    output: String,
    head: Head,
    width: usize,
    pad: i64,
    stop: Arc<RunOptions>,
}

impl Session {
    /// Loads a model and checks what it takes and gives. Takes the time to read the file.
    ///
    /// # Errors
    /// [`ErrorKind::UnusableModel`] when the file is missing or broken, or when it takes or gives
    /// something else; [`ErrorKind::OutOfMemory`].
    pub(crate) fn open(
        runtime: &OnnxRuntime,
        folder: &ModelFolder,
        config: &ModelConfig,
        head: Head,
        device: Device,
        options: &Options,
    ) -> Result<Self> {
        let path = folder.model_file();
        if !path.is_file() {
            return Err(unusable(path, "there is no such file"));
        }
        let fail = |error: ort::Error| match is_memory(&error) {
            true => out_of_memory(error),
            false => unusable(path, "the runtime cannot load it").caused_by(error),
        };
        let load = || -> ort::Result<ort::session::Session> {
            ort::session::Session::builder(runtime.environment())?
                .with_execution_providers([device.provider()])?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_intra_threads(options.threads_per_session())?
                .with_intra_op_spinning(options.spinning)?
                .with_inter_threads(1)?
                .with_log_level(ort::logging::LogLevel::Warning)?
                .commit_from_file(path)
        };
        let inner = load().map_err(fail)?;
        let types = takes(inner.inputs()).map_err(|wrong| unusable(path, wrong))?;
        let (output, width) =
            gives(inner.outputs(), head).map_err(|wrong| unusable(path, wrong))?;
        let width = match (width, config.hidden) {
            (Some(width), Some(hidden)) if head.is_hidden() && width != hidden => {
                let wrong =
                    format!("it gives {width} numbers per token where config.json says {hidden}");
                return Err(unusable(path, wrong));
            }
            (Some(width), _) => width,
            (None, Some(hidden)) if head.is_hidden() => hidden,
            (None, _) => 0,
        };
        let stop = Arc::new(RunOptions::new().map_err(fail)?);
        let pad = config.pad.unwrap_or(0).into();
        Ok(Self { inner, types, output, head, width, pad, stop })
    }

    /// What another thread ends the batch under way with, at the next operator.
    pub(crate) fn stop(&self) -> Arc<RunOptions> {
        Arc::clone(&self.stop)
    }

    /// How many numbers it gives per row; 0 until the first batch when the model does not say.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// One batch: rows are filled up to the longest, and the mask hides what was filled in. What it
    /// gives per row is in the order of the rows.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], [`ErrorKind::Inference`], and [`ErrorKind::UnusableModel`] when
    /// the model gives another shape than it said.
    pub(crate) fn run(&mut self, rows: &[&Row]) -> Result<Vec<Vec<f32>>> {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        if longest == 0 {
            return Ok(vec![Vec::new(); rows.len()]);
        }
        let size = rows.len() * longest;
        let (mut ids, mut mask) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let mut types: Vec<i64> = Vec::with_capacity(if self.types { size } else { 0 });
        for (row, end) in rows.iter().zip((1..).map(|row| row * longest)) {
            ids.extend(row.ids.iter().map(|id| i64::from(*id)));
            mask.resize(ids.len(), 1i64);
            ids.resize(end, self.pad);
            mask.resize(end, 0);
            if self.types {
                types.extend(row.types.iter().map(|kind| i64::from(*kind)));
                types.resize(end, 0);
            }
        }
        let shape = [rows.len(), longest];
        let tensor = |numbers| TensorRef::from_array_view((shape, numbers)).map_err(failed);
        let mut inputs: Vec<(&str, SessionInputValue<'_>)> =
            vec![(IDS, tensor(&ids[..])?.into()), (MASK, tensor(&mask[..])?.into())];
        if self.types {
            inputs.push((TYPES, tensor(&types[..])?.into()));
        }
        let outputs = self.inner.run_with_options(inputs, &self.stop).map_err(failed)?;
        let odd = |wrong: String| {
            Error::new(ErrorKind::UnusableModel, "run the model", wrong)
                .next("use a model file that was made for this kind of task")
        };
        let output = outputs.get(&self.output).ok_or_else(|| odd("it gave no output".into()))?;
        let (shape, numbers) = output.try_extract_tensor::<f32>().map_err(failed)?;
        let fits = self.head.fits(shape, rows.len(), longest);
        let width = fits.filter(|width| self.width == 0 || self.width == *width);
        let width = width.ok_or_else(|| odd(format!("its output has the shape {shape}")))?;
        self.width = width;
        Ok(self.head.reduce(numbers, width, longest, rows.iter().map(|row| row.len())))
    }
}

/// Whether a model takes token types. The others must be there, and nothing else.
fn takes(inputs: &[Outlet]) -> Result<bool, String> {
    for needed in [IDS, MASK] {
        if !inputs.iter().any(|input| input.name() == needed) {
            return Err(format!("it takes no `{needed}`; it takes {}", names(inputs)));
        }
    }
    for input in inputs {
        if ![IDS, MASK, TYPES].contains(&input.name()) {
            return Err(format!("it also takes `{}`, which is not known here", input.name()));
        }
        if input.dtype().tensor_type() != Some(TensorElementType::Int64) {
            return Err(format!(
                "`{}` is {} where 64-bit numbers are due",
                input.name(),
                input.dtype()
            ));
        }
    }
    Ok(inputs.iter().any(|input| input.name() == TYPES))
}

/// The output that a head reads, and its width when the model says.
fn gives(outputs: &[Outlet], head: Head) -> Result<(String, Option<usize>), String> {
    let dimensions = |output: &Outlet| output.dtype().tensor_shape().map(|shape| shape.len());
    let fits = |output: &&Outlet| {
        output.dtype().tensor_type() == Some(TensorElementType::Float32)
            && dimensions(output).is_some_and(|count| count == head.dimensions() || count == 0)
    };
    let candidates: Vec<_> = outputs.iter().filter(fits).collect();
    let usual = |output: &&&Outlet| head.usual_outputs().contains(&output.name());
    let found = match (candidates.iter().find(usual), &candidates[..]) {
        (Some(found), _) => found,
        (None, [only]) => only,
        (None, _) => {
            let wanted = head.usual_outputs().join("` or `");
            return Err(format!("it gives no `{wanted}`; it gives {}", names(outputs)));
        }
    };
    let width = found.dtype().tensor_shape().and_then(|shape| shape.last().copied());
    let width = width.and_then(|width| usize::try_from(width).ok()).filter(|width| *width > 0);
    Ok((found.name().to_owned(), width))
}

fn names(outlets: &[Outlet]) -> String {
    let names: Vec<_> =
        outlets.iter().map(|one| format!("`{}` ({})", one.name(), one.dtype())).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

fn failed(error: ort::Error) -> Error {
    if is_memory(&error) {
        return out_of_memory(error);
    }
    Error::new(ErrorKind::Inference, "run the model", "the runtime failed")
        .next("check that model.onnx and tokenizer.json belong together, and pull them again")
        .caused_by(error)
}

fn out_of_memory(error: ort::Error) -> Error {
    Error::new(ErrorKind::OutOfMemory, "run the model", "there was not enough memory")
        .next("set a smaller token budget per batch, or use a smaller model")
        .caused_by(error)
}

/// The runtime has no code for it.
fn is_memory(error: &ort::Error) -> bool {
    let message = error.message().to_ascii_lowercase();
    ["bad_alloc", "failed to allocate", "out of memory", "bad allocation"]
        .iter()
        .any(|words| message.contains(words))
}
