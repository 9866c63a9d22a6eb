//! The kuhaku command.

fn main() {}
