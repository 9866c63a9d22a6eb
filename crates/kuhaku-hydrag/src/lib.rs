//! kuhaku-hydrag.
