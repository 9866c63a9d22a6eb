//! Where a model is: project, location and publisher.

use kuhaku_core::{Error, ErrorKind, Result};

/// A project and a location of Vertex AI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    project: String,
    location: String,
}

impl Place {
    /// A project's id, and a region, multi-region (`us`, `eu`) or `global`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when one is blank or cannot be part of an address.
    pub(crate) fn new(project: &str, location: &str) -> Result<Self> {
        let part = |value: &str, wrong: &'static str, next: &'static str| {
            let value = value.trim();
            if is_part(value) {
                return Ok(value.to_owned());
            }
            let tried = "find a model of Vertex AI";
            Err(Error::new(ErrorKind::InvalidSettings, tried, wrong).next(next))
        };
        let project = part(
            project,
            "the project is missing, or is no id of a project",
            "set `vertex_project` (or GOOGLE_CLOUD_PROJECT) to the id of the project",
        )?;
        let location = part(
            location,
            "the location is missing, or is no location",
            "set `vertex_location` (or GOOGLE_CLOUD_LOCATION), for example to us-central1 or global",
        )?;
        Ok(Self { project, location })
    }

    /// The base URL of the service there.
    pub(crate) fn base_url(&self) -> String {
        match self.location.as_str() {
            "global" => "https://aiplatform.googleapis.com".to_owned(),
            place @ ("us" | "eu") => format!("https://aiplatform.{place}.rep.googleapis.com"),
            region => format!("https://{region}-aiplatform.googleapis.com"),
        }
    }

    /// The path of a method of a model. A model's name may bring its publisher
    /// (`publishers/google/models/m`), or be a tuned one (`endpoints/123`).
    pub(crate) fn path(&self, model: &str, method: &str) -> String {
        let Self { project, location } = self;
        let model = match model.contains('/') {
            true => model.to_owned(),
            false => format!("publishers/google/models/{model}"),
        };
        format!("/v1/projects/{project}/locations/{location}/{model}:{method}")
    }
}

/// A model's name that can be part of an address.
///
/// # Errors
/// [`ErrorKind::InvalidSettings`] when it cannot.
pub(super) fn model(name: &str) -> Result<String> {
    let name = name.trim();
    if name.split('/').all(is_part) {
        return Ok(name.to_owned());
    }
    let wrong = "the model's name is missing, or cannot be part of an address";
    let error = Error::new(ErrorKind::InvalidSettings, "find a model of Vertex AI", wrong);
    Err(error.next("set `vertex_model`, for example to gemini-2.5-flash"))
}

fn is_part(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte);
    !value.is_empty() && value.bytes().all(allowed) && !value.bytes().all(|byte| byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_follows_from_the_location() {
        for (location, host) in [
            ("us-central1", "https://us-central1-aiplatform.googleapis.com"),
            ("global", "https://aiplatform.googleapis.com"),
            ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ] {
            assert_eq!(Place::new("p", location).unwrap().base_url(), host);
        }
    }

    #[test]
    fn the_path_names_project_location_and_model() {
        let place = Place::new(" example.com:p ", "global").unwrap();
        let path = "/v1/projects/example.com:p/locations/global/publishers/google/models/m:predict";
        assert_eq!(place.path("m", "predict"), path);
        let path = "/v1/projects/example.com:p/locations/global/endpoints/12:generateContent";
        assert_eq!(place.path("endpoints/12", "generateContent"), path);
    }

    /// LLM-03: the settings of Vertex.
    #[test]
    fn parts_that_are_missing_or_lead_elsewhere_are_refused_with_the_setting() {
        for bad in ["", " ", "a/b", "a?b", "a b", "..", "a#b", "a%2e"] {
            let project = Place::new(bad, "global").unwrap_err().to_string();
            assert!(project.contains("GOOGLE_CLOUD_PROJECT"), "{project}");
            let location = Place::new("p", bad).unwrap_err().to_string();
            assert!(location.contains("GOOGLE_CLOUD_LOCATION"), "{location}");
        }
        for bad in ["", "a//b", "../x", "a?b"] {
            assert!(model(bad).unwrap_err().to_string().contains("vertex_model"), "{bad}");
        }
    }
}
