//! How flows and operations ended, in the words of the results.

use rocelab_results::{FlowStatus, OperationStatus};
use rocelab_transport::CompletionStatus;

use crate::network::{FlowEnd, FlowFailure};

/// How a flow ended, as the results name it.
pub(crate) fn flow_status(end: &FlowEnd) -> FlowStatus {
    match (end.failure, end.status) {
        (Some(FlowFailure::ConnectionTimedOut), _) => FlowStatus::ConnectionTimedOut,
        (Some(FlowFailure::MessagesLost(_)), _) => FlowStatus::MessagesLost,
        (Some(FlowFailure::AddressUnresolved), _) => FlowStatus::AddressUnresolved,
        (Some(_), _) => FlowStatus::ConnectionRejected,
        (None, CompletionStatus::Success) => FlowStatus::Completed,
        (None, CompletionStatus::RetryExceeded) => FlowStatus::RetryExceeded,
        (None, CompletionStatus::RnrRetryExceeded) => FlowStatus::RnrRetryExceeded,
        (None, CompletionStatus::RemoteInvalidRequest) => FlowStatus::RemoteInvalidRequest,
        (None, CompletionStatus::RemoteAccess) => FlowStatus::RemoteAccessError,
        (None, CompletionStatus::RemoteOperational) => FlowStatus::RemoteOperationalError,
        (None, _) => FlowStatus::Failed,
    }
}

/// How an operation ended, as the results name it.
pub(crate) fn operation_status(status: CompletionStatus) -> OperationStatus {
    match status {
        CompletionStatus::Success => OperationStatus::Completed,
        CompletionStatus::RetryExceeded => OperationStatus::RetryExceeded,
        CompletionStatus::RnrRetryExceeded => OperationStatus::RnrRetryExceeded,
        CompletionStatus::RemoteInvalidRequest => OperationStatus::RemoteInvalidRequest,
        CompletionStatus::RemoteAccess => OperationStatus::RemoteAccess,
        _ => OperationStatus::Flushed,
    }
}
