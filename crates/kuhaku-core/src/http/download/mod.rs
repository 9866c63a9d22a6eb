//! Verified downloads: asked for, bounded, resumed, checked, and there only when they are whole.
//!
//! What has come lies in a part file beside a lock, with a note of where it came from. A part is
//! continued where it ends when the server still has the same file, and becomes the file by a rename
//! after its length and SHA-256 were checked. A process that ends, however it ends, leaves a part;
//! two processes never write one at a time.

mod consented;
mod disk;
mod fetch;
mod file_download;
mod lock;
mod part;
mod reply;

pub use consented::Consented;
pub use fetch::Downloader;
pub use file_download::{DownloadProgress, Downloaded, FileDownload};
pub use lock::DownloadLock;
