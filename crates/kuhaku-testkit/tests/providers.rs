//! The suite of providers finds what is wrong with one.
