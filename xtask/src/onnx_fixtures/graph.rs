//! An ONNX graph: constants and operations by name, written as a `ModelProto`.
//!
//! Field numbers are those of `onnx.proto`.

use super::protobuf::Message;

/// What current releases of ONNX Runtime read; `LayerNormalization` came with 17.
const OPSET: i64 = 17;

/// The version of the file format that belongs to the opset.
const IR_VERSION: i64 = 8;

/// The type of a tensor's elements, by its number in `TensorProto.DataType`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    Float = 1,
    Uint8 = 2,
    Int64 = 7,
}

/// An attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute {
    Int(&'static str, i64),
    Float(&'static str, f32),
    Ints(&'static str, &'static [i64]),
}

/// The name of a tensor in a graph.
pub(super) type Tensor = String;

/// A graph in the making.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    made: usize,
}

impl Graph {
    /// An input of int64 [batch, sequence].
    pub(super) fn input(&mut self, name: &str) -> Tensor {
        self.inputs.push(value(name, Element::Int64, &["batch", "sequence"], None));
        name.to_owned()
    }

    /// Names a tensor of floats as an output; `axes` and then `width` are its shape.
    pub(super) fn output(&mut self, tensor: &str, name: &str, axes: &[&str], width: usize) {
        self.nodes.push(
            Message::default().bytes(1, tensor).bytes(2, name).bytes(3, name).bytes(4, "Identity"),
        );
        self.outputs.push(value(name, Element::Float, axes, Some(width)));
    }

    pub(super) fn floats(&mut self, dims: &[usize], values: &[f32]) -> Tensor {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(Element::Float, dims, &raw)
    }

    pub(super) fn bytes(&mut self, dims: &[usize], values: &[u8]) -> Tensor {
        self.constant(Element::Uint8, dims, values)
    }

    /// A list of integers.
    pub(super) fn ints(&mut self, values: &[i64]) -> Tensor {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(Element::Int64, &[values.len()], &raw)
    }

    /// One integer without axes.
    pub(super) fn int(&mut self, value: i64) -> Tensor {
        self.constant(Element::Int64, &[], &value.to_le_bytes())
    }

    /// One float without axes.
    pub(super) fn float(&mut self, value: f32) -> Tensor {
        self.floats(&[], &[value])
    }

    /// An operation with one result.
    pub(super) fn apply(&mut self, op: &str, of: &[&str], attributes: &[Attribute]) -> Tensor {
        let [result] = self.apply_many(op, of, attributes);
        result
    }

    /// An operation with `N` results.
    pub(super) fn apply_many<const N: usize>(
        &mut self,
        op: &str,
        of: &[&str],
        attributes: &[Attribute],
    ) -> [Tensor; N] {
        let results: [Tensor; N] = std::array::from_fn(|_| self.name());
        let mut node = Message::default();
        for input in of {
            node = node.bytes(1, input);
        }
        for result in &results {
            node = node.bytes(2, result);
        }
        node = node.bytes(4, op);
        for attribute in attributes {
            node = node.message(5, &attribute.message());
        }
        self.nodes.push(node);
        results
    }

    /// The file.
    pub(super) fn into_model(self, name: &str) -> Vec<u8> {
        let graph = Message::default()
            .messages(1, &self.nodes)
            .bytes(2, name)
            .messages(5, &self.constants)
            .messages(11, &self.inputs)
            .messages(12, &self.outputs);
        Message::default()
            .int(1, IR_VERSION)
            .bytes(2, "kuhaku xtask")
            .message(7, &graph)
            .message(8, &Message::default().bytes(1, "").int(2, OPSET))
            .into_bytes()
    }

    fn constant(&mut self, element: Element, dims: &[usize], raw: &[u8]) -> Tensor {
        let name = self.name();
        let dims: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
        let tensor =
            Message::default().ints(1, &dims).int(2, element as i64).bytes(8, &name).bytes(9, raw);
        self.constants.push(tensor);
        name
    }

    fn name(&mut self) -> Tensor {
        self.made += 1;
        format!("t{}", self.made)
    }
}

impl Attribute {
    /// An `AttributeProto`; 20 is its type.
    fn message(self) -> Message {
        match self {
            Self::Float(name, value) => {
                Message::default().bytes(1, name).float(2, value).int(20, 1)
            }
            Self::Int(name, value) => Message::default().bytes(1, name).int(3, value).int(20, 2),
            Self::Ints(name, values) => {
                Message::default().bytes(1, name).ints(8, values).int(20, 7)
            }
        }
    }
}

/// A `ValueInfoProto`: free axes by name, then one of a fixed width.
fn value(name: &str, element: Element, axes: &[&str], width: Option<usize>) -> Message {
    let mut dims: Vec<Message> =
        axes.iter().map(|axis| Message::default().bytes(2, axis)).collect();
    dims.extend(width.map(|width| Message::default().int(1, width as i64)));
    let shape = Message::default().messages(1, &dims);
    let tensor = Message::default().int(1, element as i64).message(2, &shape);
    let kind = Message::default().message(1, &tensor);
    Message::default().bytes(1, name).message(2, &kind)
}
