//! Nothing secret and nothing raw in what people read (R7, R14).

use std::error::Error as StdError;

use kuhaku_core::Error;

use super::trial::{CONTENT, Checked, KEY, QUESTION, ensure};

/// What must not be seen, and what to call it.
const PLANTED: [(&str, &str); 3] =
    [(KEY, "the key"), (QUESTION, "the question"), (CONTENT, "content of a reply")];

/// Errors are read by people; one that is longer quotes something.
const LONGEST_MESSAGE: usize = 1_000;

/// Fails when a text holds something planted.
pub(super) fn check(place: &str, text: &str) -> Checked<()> {
    for (planted, name) in PLANTED {
        ensure!(!text.contains(planted), "{name} is in {place}");
    }
    Ok(())
}

/// Checks an error: its `Display`, its `Debug`, and those of the errors behind it.
pub(super) fn check_error(error: &Error) -> Checked<()> {
    ensure!(error.next_step().is_some(), "an error has no next step: {error}");
    let mut behind: Option<&dyn StdError> = Some(error);
    while let Some(error) = behind {
        check("an error's Display", &error.to_string())?;
        check("an error's Debug", &format!("{error:?} {error:#?}"))?;
        let length = error.to_string().len();
        ensure!(length <= LONGEST_MESSAGE, "a message of {length} bytes");
        behind = error.source();
    }
    Ok(())
}
