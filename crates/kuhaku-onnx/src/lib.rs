//! kuhaku-onnx.
