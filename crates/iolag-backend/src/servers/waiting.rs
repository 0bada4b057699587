//! What is asked of a server outside of any session: by a thread, which waits.

use iolag_model::FailureCode;
use tokio::runtime::Builder;

use crate::BackendError;

/// Waits for the future. Whoever calls may hang as long as the server does: a process with a deadline.
pub(crate) fn wait_for<T>(future: impl Future<Output = Result<T, BackendError>>) -> Result<T, BackendError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        let code = FailureCode::from_errno(error.raw_os_error().unwrap_or(libc::EIO));
        BackendError::Failed { action: "make", path: "a runtime".to_owned(), class: code.class(), code }
    })?;
    runtime.block_on(future)
}
