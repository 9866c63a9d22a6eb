//! kuhaku-extract.
