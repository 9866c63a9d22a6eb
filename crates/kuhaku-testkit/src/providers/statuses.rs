//! Failures that the service itself reports.

use kuhaku_core::{Error, ErrorKind, Status};

use super::trial::{Checked, KEY, Trial, Verdict, ensure, offered, plain};
use crate::transcript::Reply;

/// Which kinds a status may become, and whether a retry can help.
const TABLE: &[(u16, &[ErrorKind], bool)] = &[
    (400, &[ErrorKind::InvalidInput], false),
    (401, &[ErrorKind::Unauthorized], false),
    (403, &[ErrorKind::Unauthorized], false),
    (404, &[ErrorKind::InvalidInput, ErrorKind::Unavailable], false),
    (408, &[ErrorKind::TimedOut, ErrorKind::Unavailable], true),
    (413, &[ErrorKind::ContextTooLong, ErrorKind::InvalidInput], false),
    (422, &[ErrorKind::InvalidInput], false),
    (429, &[ErrorKind::RateLimited], true),
    (500, &[ErrorKind::Unavailable], true),
    (503, &[ErrorKind::Unavailable], true),
    (529, &[ErrorKind::Unavailable, ErrorKind::RateLimited], true),
];

/// Services do quote keys.
fn message() -> String {
    format!("the credential {KEY} was used")
}

pub(super) async fn statuses(trial: Trial<'_>) -> Checked {
    for (status, kinds, temporary) in TABLE {
        let body = trial.case.error(*status, &message());
        let html = "<html><title>proxy</title></html>";
        for body in [body, html.into(), Vec::new()] {
            let reply = Reply::new(*status).header("content-type", "application/json").piece(body);
            let pair = trial.serve([reply]).await?;
            let name = pair.provider.id().split(':').next().unwrap_or_default().to_owned();
            let errors = [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1];
            for error in errors {
                ensure!(kinds.contains(error.kind()), "{status} became {error:?}");
                let retry = error.status() != Status::Permanent;
                ensure!(retry == *temporary, "{status} became {error:?}");
                let named = error.to_string().to_lowercase().contains(&name);
                ensure!(named, "the error of {status} does not name {name}: {error}");
            }
        }
    }
    Ok(Verdict::Passed)
}

pub(super) async fn too_long(trial: Trial<'_>) -> Checked {
    let (status, body) = offered!(trial.case.too_long());
    let reply = Reply::new(status).header("content-type", "application/json").piece(body);
    let pair = trial.serve([reply]).await?;
    for error in [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1] {
        ensure!(*error.kind() == ErrorKind::ContextTooLong, "it became {error:?}");
        ensure!(error.status() == Status::Permanent, "it became {error:?}");
    }
    Ok(Verdict::Passed)
}

pub(super) async fn error_in_success(trial: Trial<'_>) -> Checked {
    let body = offered!(trial.case.error_in_success(&message()));
    let pair = trial.serve([Reply::json(body)]).await?;
    for error in [pair.failure(plain()).await?, pair.broken_stream(plain()).await?.1] {
        ensure!(is_of_service(&error), "it became {error:?}");
    }
    Ok(Verdict::Passed)
}

/// Whether the error says that the service failed, rather than that its reply is odd.
pub(super) fn is_of_service(error: &Error) -> bool {
    !matches!(error.kind(), ErrorKind::EmptyResponse | ErrorKind::MalformedResponse)
}
