//! kuhaku.
