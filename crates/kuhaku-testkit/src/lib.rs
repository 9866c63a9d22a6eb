//! kuhaku-testkit.
