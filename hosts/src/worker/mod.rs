//! The external worker.
