//! kuhaku-eval.
