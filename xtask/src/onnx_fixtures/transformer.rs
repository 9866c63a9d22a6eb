//! Small transformers shaped as BERT and XLM-R are exported, with attention, masks and heads.
//!
//! Devlin et al. 2019, sections 3 and A.2; Conneau et al. 2020. What differs between the two: BERT has
//! token types and counts positions from 0; XLM-R has no types and counts the tokens that are not
//! padding, from the padding's id + 1.

use super::graph::{Attribute, Element, Graph, Tensor};
use super::weights::Weights;

pub(super) const HIDDEN: usize = 24;
pub(super) const HEADS: usize = 3;
pub(super) const LAYERS: usize = 2;
pub(super) const INTERMEDIATE: usize = 48;
/// The longest sequence.
pub(super) const TOKENS: usize = 64;
pub(super) const EPSILON: f64 = 1e-12;

/// A family of encoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Bert,
    XlmRoberta,
}

impl Family {
    pub(super) fn padding(self) -> usize {
        match self {
            Self::Bert => 0,
            Self::XlmRoberta => 1,
        }
    }

    /// Rows of the table of positions; XLM-R's first ones belong to the padding.
    pub(super) fn positions(self) -> usize {
        match self {
            Self::Bert => TOKENS,
            Self::XlmRoberta => TOKENS + self.padding() + 1,
        }
    }
}

/// How weights are stored and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Float,
    /// Activations are scaled over the whole batch, so that a text's vector depends on the texts
    /// beside it: the fault that D7 asks to find.
    DynamicInt8,
}

/// What to build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) family: Family,
    pub(super) precision: Precision,
    pub(super) vocabulary: usize,
    /// Logits of a head over the first token; without, the last hidden state is the output.
    pub(super) labels: Option<usize>,
}

/// The ONNX file of a shape, with the weights that belong to the name.
pub(super) fn model(name: &str, shape: Shape) -> Vec<u8> {
    let mut builder = Builder { graph: Graph::default(), weights: Weights::named(name), shape };
    let ids = builder.graph.input("input_ids");
    let mask = builder.graph.input("attention_mask");
    let mut states = builder.embeddings(&ids);
    let bias = builder.bias_of(&mask);
    for _ in 0..LAYERS {
        states = builder.layer(&states, &bias);
    }
    match shape.labels {
        None => {
            builder.graph.output(&states, "last_hidden_state", &["batch", "sequence"], HIDDEN);
        }
        Some(labels) => {
            let logits = builder.head(&states, labels);
            builder.graph.output(&logits, "logits", &["batch"], labels);
        }
    }
    builder.graph.into_model(name)
}

struct Builder {
    graph: Graph,
    weights: Weights,
    shape: Shape,
}

impl Builder {
    fn embeddings(&mut self, ids: &str) -> Tensor {
        let words = self.table(self.shape.vocabulary, 1.0);
        let words = self.graph.apply("Gather", &[&words, ids], &[]);
        let places = self.table(self.shape.family.positions(), 0.5);
        let sum = match self.shape.family {
            Family::Bert => {
                let zero = self.graph.ints(&[0]);
                let length = self.length_of(ids);
                let places = self.graph.apply("Slice", &[&places, &zero, &length], &[]);
                let types = self.graph.input("token_type_ids");
                let table = self.table(2, 0.5);
                let types = self.graph.apply("Gather", &[&table, &types], &[]);
                let sum = self.graph.apply("Add", &[&words, &types], &[]);
                self.graph.apply("Add", &[&sum, &places], &[])
            }
            Family::XlmRoberta => {
                let counted = self.counted_positions(ids);
                let places = self.graph.apply("Gather", &[&places, &counted], &[]);
                self.graph.apply("Add", &[&words, &places], &[])
            }
        };
        self.normalised(&sum)
    }

    /// The length of the sequence, as a list of one.
    fn length_of(&mut self, ids: &str) -> Tensor {
        self.graph.apply("Shape", &[ids], &[Attribute::Int("start", 1), Attribute::Int("end", 2)])
    }

    /// Padding has its own position; the other tokens are counted from the one after it.
    fn counted_positions(&mut self, ids: &str) -> Tensor {
        let padding = self.graph.int(self.shape.family.padding() as i64);
        let is_padding = self.graph.apply("Equal", &[ids, &padding], &[]);
        let is_token = self.graph.apply("Not", &[&is_padding], &[]);
        let to_int = Attribute::Int("to", Element::Int64 as i64);
        let tokens = self.graph.apply("Cast", &[&is_token], &[to_int]);
        let axis = self.graph.int(1);
        let counted = self.graph.apply("CumSum", &[&tokens, &axis], &[]);
        let counted = self.graph.apply("Mul", &[&counted, &tokens], &[]);
        self.graph.apply("Add", &[&counted, &padding], &[])
    }

    /// 0 where a token is, the lowest float where padding is: [batch, 1, 1, sequence].
    fn bias_of(&mut self, mask: &str) -> Tensor {
        let axes = self.graph.ints(&[1, 2]);
        let wide = self.graph.apply("Unsqueeze", &[mask, &axes], &[]);
        let to_float = Attribute::Int("to", Element::Float as i64);
        let wide = self.graph.apply("Cast", &[&wide], &[to_float]);
        let one = self.graph.float(1.0);
        let absent = self.graph.apply("Sub", &[&one, &wide], &[]);
        let lowest = self.graph.float(f32::MIN);
        self.graph.apply("Mul", &[&absent, &lowest], &[])
    }

    fn layer(&mut self, states: &str, bias: &str) -> Tensor {
        let attended = self.attention(states, bias);
        let attended = self.linear(&attended, HIDDEN, HIDDEN, 1.0);
        let sum = self.graph.apply("Add", &[&attended, states], &[]);
        let states = self.normalised(&sum);
        let wide = self.linear(&states, HIDDEN, INTERMEDIATE, 1.0);
        let wide = self.gelu(&wide);
        let narrow = self.linear(&wide, INTERMEDIATE, HIDDEN, 1.0);
        let sum = self.graph.apply("Add", &[&narrow, &states], &[]);
        self.normalised(&sum)
    }

    fn attention(&mut self, states: &str, bias: &str) -> Tensor {
        let query = self.linear(states, HIDDEN, HIDDEN, 1.5);
        let key = self.linear(states, HIDDEN, HIDDEN, 1.5);
        let value = self.linear(states, HIDDEN, HIDDEN, 1.0);
        let query = self.by_head(&query, &[0, 2, 1, 3]);
        let key = self.by_head(&key, &[0, 2, 3, 1]);
        let value = self.by_head(&value, &[0, 2, 1, 3]);
        let scores = self.graph.apply("MatMul", &[&query, &key], &[]);
        let scale = self.graph.float(((HIDDEN / HEADS) as f32).sqrt());
        let scores = self.graph.apply("Div", &[&scores, &scale], &[]);
        let scores = self.graph.apply("Add", &[&scores, bias], &[]);
        let shares = self.graph.apply("Softmax", &[&scores], &[Attribute::Int("axis", -1)]);
        let mixed = self.graph.apply("MatMul", &[&shares, &value], &[]);
        let back = Attribute::Ints("perm", &[0, 2, 1, 3]);
        let mixed = self.graph.apply("Transpose", &[&mixed], &[back]);
        let flat = self.graph.ints(&[0, 0, HIDDEN as i64]);
        self.graph.apply("Reshape", &[&mixed, &flat], &[])
    }

    /// [batch, sequence, hidden] by heads, with its axes in this order.
    fn by_head(&mut self, states: &str, order: &'static [i64]) -> Tensor {
        let split = self.graph.ints(&[0, 0, HEADS as i64, (HIDDEN / HEADS) as i64]);
        let split = self.graph.apply("Reshape", &[states, &split], &[]);
        self.graph.apply("Transpose", &[&split], &[Attribute::Ints("perm", order)])
    }

    /// Dense, tanh, dense over the first token.
    fn head(&mut self, states: &str, labels: usize) -> Tensor {
        let first = self.graph.int(0);
        let first = self.graph.apply("Gather", &[states, &first], &[Attribute::Int("axis", 1)]);
        let dense = self.linear(&first, HIDDEN, HIDDEN, 1.0);
        let dense = self.graph.apply("Tanh", &[&dense], &[]);
        self.linear(&dense, HIDDEN, labels, 3.0)
    }

    /// x / 2 · (1 + erf(x / √2)).
    fn gelu(&mut self, x: &str) -> Tensor {
        let root = self.graph.float(std::f32::consts::SQRT_2);
        let one = self.graph.float(1.0);
        let half = self.graph.float(0.5);
        let inner = self.graph.apply("Div", &[x, &root], &[]);
        let inner = self.graph.apply("Erf", &[&inner], &[]);
        let inner = self.graph.apply("Add", &[&inner, &one], &[]);
        let inner = self.graph.apply("Mul", &[x, &inner], &[]);
        self.graph.apply("Mul", &[&inner, &half], &[])
    }

    fn normalised(&mut self, x: &str) -> Tensor {
        let scale = self.weights.around(1.0, 0.1, HIDDEN);
        let scale = self.graph.floats(&[HIDDEN], &scale);
        let shift = self.weights.around(0.0, 0.1, HIDDEN);
        let shift = self.graph.floats(&[HIDDEN], &shift);
        let settings = [Attribute::Int("axis", -1), Attribute::Float("epsilon", EPSILON as f32)];
        self.graph.apply("LayerNormalization", &[x, &scale, &shift], &settings)
    }

    fn linear(&mut self, x: &str, from: usize, to: usize, gain: f32) -> Tensor {
        let matrix = self.weights.matrix(from, to, gain);
        let product = match self.shape.precision {
            Precision::Float => {
                let matrix = self.graph.floats(&[from, to], &matrix);
                self.graph.apply("MatMul", &[x, &matrix], &[])
            }
            Precision::DynamicInt8 => self.int8_product(x, &matrix, [from, to]),
        };
        let bias = self.weights.around(0.0, 0.1, to);
        let bias = self.graph.floats(&[to], &bias);
        self.graph.apply("Add", &[&product, &bias], &[])
    }

    /// Weights in 7 bits around 64, which no processor's short sums overflow.
    fn int8_product(&mut self, x: &str, matrix: &[f32], dims: [usize; 2]) -> Tensor {
        let reach = matrix.iter().fold(0.0_f32, |reach, weight| reach.max(weight.abs()));
        let step = reach / 63.0;
        let codes: Vec<u8> =
            matrix.iter().map(|weight| ((weight / step).round() + 64.0) as u8).collect();
        let codes = self.graph.bytes(&dims, &codes);
        let middle = self.graph.bytes(&[], &[64]);
        let [coded, scale, zero] = self.graph.apply_many("DynamicQuantizeLinear", &[x], &[]);
        let sums = self.graph.apply("MatMulInteger", &[&coded, &codes, &zero, &middle], &[]);
        let to_float = Attribute::Int("to", Element::Float as i64);
        let sums = self.graph.apply("Cast", &[&sums], &[to_float]);
        let step = self.graph.float(step);
        let step = self.graph.apply("Mul", &[&scale, &step], &[]);
        self.graph.apply("Mul", &[&sums, &step], &[])
    }

    fn table(&mut self, rows: usize, reach: f32) -> Tensor {
        let values = self.weights.around(0.0, reach, rows * HIDDEN);
        self.graph.floats(&[rows, HIDDEN], &values)
    }
}
