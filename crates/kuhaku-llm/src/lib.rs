//! kuhaku-llm.
