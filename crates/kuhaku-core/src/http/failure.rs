//! Failures of the network as errors.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Status};

/// Before or after the head of the reply had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Head,
    Body,
}

/// What reqwest reports, without the address that it would quote.
pub(super) fn of_network(error: reqwest::Error, to: &str, phase: Phase) -> Error {
    let error = error.without_url();
    let tried = format!("call {to}");
    if error.is_builder() {
        return Error::new(ErrorKind::InvalidInput, tried, "the request cannot be built")
            .next("check the address in the settings")
            .caused_by(error);
    }
    if error.is_timeout() {
        return Error::new(ErrorKind::TimedOut, tried, "no connection came about in time")
            .next("check that the service is up and reachable from here")
            .caused_by(error);
    }
    let certificate = is_about_certificates(&error);
    let (wrong, next) = if certificate {
        let next = "check the host's name, or add the authority to the system's certificates";
        ("its certificate is not trusted", next)
    } else if error.is_dns() {
        ("its host name is not known", "check the host's name and the network")
    } else if error.is_connect() {
        ("no connection came about", "check that the service is up and reachable from here")
    } else if phase == Phase::Head {
        ("the connection ended before the reply", "try again later")
    } else {
        ("the connection ended within the reply", "try again later")
    };
    let status = if certificate { Status::Permanent } else { Status::Temporary };
    Error::new(ErrorKind::Unavailable, tried, wrong).next(next).with_status(status).caused_by(error)
}

fn is_about_certificates(error: &(dyn StdError + 'static)) -> bool {
    let mut behind = Some(error);
    while let Some(error) = behind {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return true;
        }
        // An I/O error does not name what it wraps as its source, but that one's source.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        behind = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

/// No head, or not all of the body, within the time of an attempt.
pub(super) fn of_attempt(to: &str, phase: Phase, limit: Duration) -> Error {
    let wrong = match phase {
        Phase::Head => format!("no reply began within {limit:?}"),
        Phase::Body => format!("the reply was not complete within {limit:?}"),
    };
    Error::new(ErrorKind::TimedOut, format!("call {to}"), wrong)
        .next("raise the timeout, or ask for less")
}

/// Nothing for too long within a streamed reply.
pub(super) fn of_silence(to: &str, limit: Duration) -> Error {
    let wrong = format!("the reply fell silent for {limit:?}");
    Error::new(ErrorKind::TimedOut, format!("read from {to}"), wrong)
        .next("try again later, or raise the idle timeout")
}

/// More than the caller takes.
pub(super) fn of_size(to: &str, most: usize) -> Error {
    let wrong = format!("the reply is larger than {most} bytes");
    Error::new(ErrorKind::ResponseTooLarge, format!("read from {to}"), wrong)
        .next("check that the address belongs to the service that you mean")
}
