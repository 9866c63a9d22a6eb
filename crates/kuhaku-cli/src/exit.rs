//! What the exit status says.

use std::process::ExitCode;

/// The exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done; for a question, answered; for a text, complete.
    Done,
    /// 1: an error; nothing of this command's last step took effect. Also when no model gave a reply
    /// that a text's values could be read from.
    Failed,
    /// 2: wrong usage; no command ran.
    Usage,
    /// 3: no answer, no hit, nothing of that name, a value that is missing, or something for `doctor`
    /// to name.
    Nothing,
    /// 4: the question, the text or the reply was held back for safety.
    Refused,
    /// 5: done, but some documents could not be read, or some texts are not complete.
    Partial,
    /// 6: done, but a run did not meet a condition that was set, a value breaks a rule, or the audit
    /// does not verify.
    Unmet,
    /// 130: interrupted.
    Interrupted,
    /// 143: told to end by the system.
    Terminated,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Refused => 4,
            Exit::Partial => 5,
            Exit::Unmet => 6,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        })
    }
}

/// The part of `--help` that explains them.
pub(crate) const HELP: &str = "\
Exit status:
  0    done; for a question, answered; for a text, complete
  1    error
  2    wrong usage
  3    no answer, no hit, nothing of that name, values missing, or something to fix (doctor)
  4    held back for safety
  5    done, but some documents could not be read, or some texts are not complete
  6    done, but an evaluation did not meet a condition, a value breaks a rule, the audit or the index is
       damaged, or something had to be left uncompacted
  130  interrupted
  143  ended by the system";
