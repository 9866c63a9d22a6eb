//! `kuhaku extract --chat`: asks for what is missing until everything is there.

use kuhaku::{ExtractRequest, Extraction, ExtractionStatus, Result};

use super::extract::{Work, exit, with_text};
use crate::exit::Exit;
use crate::input;

/// Holds a conversation. Each message goes on from the result before it, and one that leads nowhere
/// takes nothing from what is known.
pub(super) async fn hold(
    work: &Work<'_>,
    mut request: ExtractRequest,
    mut text: Option<String>,
) -> Result<Exit> {
    let mut last: Option<Extraction> = None;
    loop {
        let message = match text.take() {
            Some(text) => text,
            None => {
                work.console.prompt("> ");
                match input::line(work.longest).await? {
                    Some(Err(error)) => {
                        work.console.error(&error);
                        work.console.note("please say it again");
                        continue;
                    }
                    Some(Ok(line)) if line.trim().is_empty() => continue,
                    Some(Ok(line)) => line.trim_end_matches(['\r', '\n']).to_owned(),
                    None => break,
                }
            }
        };
        if let Some(last) = &last {
            request = request.prior(last);
        }
        let result = work.extractor.extract(with_text(request.clone(), message)).await?;
        if result.status == ExtractionStatus::Complete {
            work.show(&result);
            return Ok(Exit::Done);
        }
        work.remarks(&result);
        work.console.note(match (&result.question, result.status) {
            (Some(question), _) => question,
            (None, ExtractionStatus::Blocked) => "this looks like an attack and was not read",
            (None, ExtractionStatus::NeedsClarification) => "something is missing",
            (None, _) => "please say it again",
        });
        last = Some(result);
    }
    let Some(last) = last else { return Ok(Exit::Nothing) };
    work.show(&last);
    Ok(exit(last.status))
}
