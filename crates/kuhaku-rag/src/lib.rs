//! kuhaku-rag.
