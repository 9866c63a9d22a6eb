//! From files to chunks.
