//! The steps that are built in.

mod extracting;
mod looking_up;
mod rules;
mod security;
mod slot_filling;
mod taking_out;

pub(crate) use extracting::Extracting;
pub(crate) use looking_up::LookingUp;
pub(crate) use rules::Rules;
pub(crate) use security::Security;
pub(crate) use slot_filling::SlotFilling;
